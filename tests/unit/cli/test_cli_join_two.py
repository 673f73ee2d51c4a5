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
    first, why, program, heading, *rows = said.out.splitlines()
    assert first.startswith("5 rows: inner join on name = who (after a transformation), 1:1. 5 of 5 rows on the left")
    assert "Likely right: " in why
    assert "table: the " in program
    assert heading.split() == ["name", "who", "born"]
    assert rows[0].split() == ["Ada", "Lovelace", "Lovelace", "Ada", "x12"]


def test_explain(files):
    said = dovetail("join", *files, "--explain").out
    assert all(f"  {name}: " in said for name in ("Python", "DuckDB", "Spark"))


def test_pairs_and_output(files, tmp_path):
    said = dovetail("join", *files, "--pairs", tmp_path / "pairs.csv", "-o", tmp_path / "joined.csv", "--json").json
    pairs = [f"{row},{4 - row},1,transformed" for row in range(5)]
    assert (tmp_path / "pairs.csv").read_text().splitlines() == ["left_row,right_row,similarity,origin", *pairs]
    assert len((tmp_path / "joined.csv").read_text().splitlines()) == 6
    assert (said["by"], said["pairs"]) == ("transform", 5)


def test_one_way_only(files):
    assert dovetail("join", *files, "--by", "equal").out.startswith("Nothing joins")


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_join_that_is_not_made_writes_nothing_and_says_why(files, tmp_path, how):
    for option in ("--csv", "--nl"):
        said = dovetail("join", *files, "--by", "equal", "--how", how, option)
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("Nothing joins. No columns have a value in common")
    written = tmp_path / "out.parquet"
    said = dovetail("join", *files, "--by", "equal", "--how", how, "-o", written, "--json")
    assert said.code == 1 and said.json["output"] is None
    assert said.err.startswith("Nothing joins. No columns have a value in common")
    assert not written.exists()
    assert f"Not written: {written}" in dovetail("join", *files, "--by", "equal", "--how", how, "-o", written).out
    assert not written.exists()


def test_named_columns_without_a_match_join_as_in_sql_with_a_word(files, tmp_path):
    said = dovetail("join", *files, "--on", "name=who", "--how", "left", "--csv")
    assert said.code == 1
    assert said.out.splitlines() == ["name,who,born", *(f"{name},," for name in NAMES)]
    assert said.err.startswith("Nothing joins: no row matches on name = who (equal values).")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--on", "name=who", "--prefer", "groups"],
            "`on` already names the columns; drop `prefer`.",
        ),
        (
            ["--prefer", "groups", "--by", "similar"],
            "`prefer` ranks joins on equal values; drop it or `by=similar`.",
        ),
        (["-o", "x.doc"], "Cannot write .doc; use .csv, .parquet, .arrow, .feather or -."),
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
    kept = dovetail("join", left, right, "--on", "id", "--save", tmp_path / "p.json", "-o", tmp_path / "out.csv")
    assert (kept.code, "no transformation was learned" in kept.err) == (0, True)
    assert (tmp_path / "out.csv").exists() and not (tmp_path / "p.json").exists()


def test_nothing_joins(tmp_path):
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("a\nqqq\nwww\neee\n")
    right.write_text("b\n111\n222\n333\n")
    assert dovetail("join", left, right).code == 1
