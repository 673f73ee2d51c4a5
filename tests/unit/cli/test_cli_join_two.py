"""`dovetail join LEFT RIGHT` without an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import dovetail

NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov"]


@pytest.fixture
def files(tmp_path) -> list[Path]:
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("name\n" + "".join(f"{name}\n" for name in NAMES))
    right.write_text("who,born\n" + "".join(f"{' '.join(reversed(n.split()))},x{len(n)}\n" for n in reversed(NAMES)))
    return [left, right]


def test_what_it_says(files):
    said = dovetail("join", *files)
    assert said.code == 0
    first, kind, program, heading, *rows = said.out.splitlines()
    assert kind.startswith("Inner join, 1:1: 5 rows. Equal values join too few rows; a transformation")
    assert first.startswith("5 pairs of rows: name = who, after a transformation. 5 of 5 rows on the left match 5 of 5")
    assert "table: the " in program
    assert heading.split() == ["name", "who", "born"]
    assert rows[0].split() == ["Ada", "Lovelace", "Lovelace", "Ada", "x12"]


def test_explain(files):
    said = dovetail("join", *files, "--explain").out
    assert all(f"  {name}: " in said for name in ("Python", "DuckDB", "Spark"))


def test_pairs_and_output(files, tmp_path):
    said = dovetail("join", *files, "--pairs", tmp_path / "pairs.csv", "-o", tmp_path / "joined.csv", "--json").json
    assert (tmp_path / "pairs.csv").read_text() == "left_row,right_row\n0,4\n1,3\n2,2\n3,1\n4,0\n"
    assert len((tmp_path / "joined.csv").read_text().splitlines()) == 6
    assert (said["by"], said["pairs"]) == ("transform", 5)


def test_one_way_only(files):
    assert dovetail("join", *files, "--by", "equal").out.startswith("Nothing joins")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--explain", "--index", "idx"], "--explain is for files, without --index."),
        (
            ["--on", "name=who", "--prefer", "groups"],
            "The columns are given: there is nothing to prefer, and no way to choose but semantic.",
        ),
        (
            ["--prefer", "groups", "--by", "similar"],
            "A preference is for joins on equal values, not for the way fuzzy.",
        ),
        (["-o", "x.doc"], "Cannot write .doc: use .csv, .parquet, .arrow, .feather."),
    ],
)
def test_options_that_do_not_fit(files, options, sentence):
    said = dovetail("join", *files, *options)
    assert (said.code, said.err.strip()) == (2, sentence)


def test_a_file_that_is_not_there(files, tmp_path):
    said = dovetail("join", files[0], tmp_path / "nowhere.csv")
    assert (said.code, said.err.strip()) == (2, f"There is no file {tmp_path}/nowhere.csv.")


def test_where_to_write_is_looked_at_first(tmp_path):
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("id,a\n1,x\n2,y\n3,z\n")
    right.write_text("id,b\n1,u\n2,v\n3,w\n")
    for output, sentence in (
        (tmp_path / "none" / "x.csv", "there is no folder"),
        (left, "is one of the files to join"),
    ):
        answer = dovetail("join", left, right, "-o", output)
        assert answer.code == 2
        assert sentence in answer.err
    assert left.read_text() == "id,a\n1,x\n2,y\n3,z\n"
    assert dovetail("join", left, right, "--save", tmp_path / "p.json", "-o", tmp_path / "out.csv").code == 2
    assert not (tmp_path / "out.csv").exists()


def test_nothing_joins(tmp_path):
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("a\nqqq\nwww\neee\n")
    right.write_text("b\n111\n222\n333\n")
    assert dovetail("join", left, right).code == 1
