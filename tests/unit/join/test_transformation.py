"""Transformations as values: saved and loaded, applied to new rows of any kind, and joined by."""

from __future__ import annotations

import json
import random

import pandas as pd
import pyarrow as pa
import pytest

import dovetail
from dovetail import Transformation
from dovetail.errors import InputError, UnknownName
from support.command import dovetail as command

NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth"]
PEOPLE = [tuple(name.split()) for name in NAMES]
LISTED = [f"{last}, {first}" for first, last in map(str.split, NAMES)]


def rows(joined) -> list[tuple[int, int]]:
    return [(row["left_row"], row["right_row"]) for row in joined.pairs.to_pylist()]


@pytest.fixture(scope="module")
def learned() -> Transformation:
    found = dovetail.join({"name": NAMES}, {"who": LISTED}, by="transform").transformation
    assert found is not None
    return found


def test_saved_and_loaded(learned, tmp_path):
    learned.save(tmp_path / "program.json")
    assert Transformation.load(tmp_path / "program.json") == learned
    assert Transformation.from_json(json.loads(json.dumps(learned.to_json()))) == learned
    assert "column “" in str(learned)


@pytest.mark.parametrize("steps", [[{"constant": "\ud800"}], [{"column": "\ud800", "splits": [], "start": 0,
                                   "stop": 3, "case": "as is"}]])  # fmt: skip
def test_half_a_character_is_refused(steps):
    """JSON can write it, UTF-8 cannot: no table has it, and a server could not answer with it."""
    document = {"version": 2, "programs": [steps], "reversed": False, "target": "a", "key": None}
    with pytest.raises(InputError, match="a text in it is not Unicode"):
        Transformation.from_json(document)


def test_applied_to_new_rows_of_any_kind(learned):
    column, expected = ("name", "Hoare, Tony") if not learned.reversed else ("who", "Tony Hoare")
    value = "Tony Hoare" if column == "name" else "Hoare, Tony"
    rows = {column: [value, None], "other": [1, 2]}
    for data in (rows, pd.DataFrame(rows), pa.table(rows)):
        assert learned.apply(data) == [expected, None]
    with pytest.raises(UnknownName, match="There is no column"):
        learned.apply({"x": ["y"]})


def test_joined_by(learned):
    left, right = {"name": [*NAMES[:2], "Tony Hoare"]}, {"who": ["Hoare, Tony", LISTED[0]], "x": [1, 2]}
    joined = dovetail.join(left, right, by=learned)
    assert rows(joined) == [(0, 1), (2, 0)]
    assert joined.transformation == learned
    with pytest.raises(UnknownName):
        dovetail.join(right, left, by=learned)


def test_composite_keys_on_both_sides(tmp_path):
    """Neither key can be made of the other: each has a part that the other lacks."""
    draw = random.Random(2)
    born, paid = ([str(draw.randrange(1000, 9999)) for _ in PEOPLE] for _ in range(2))
    left = {"name": [f"{last}, {first} ({year})" for (first, last), year in zip(PEOPLE, born, strict=True)]}
    right = {"who": [f"{first} {last} / {sum_}" for (first, last), sum_ in zip(PEOPLE, paid, strict=True)]}
    joined = dovetail.join(left, right, by="transform")
    assert rows(joined) == [(row, row) for row in range(len(PEOPLE))]
    assert joined.report["key"].startswith("the first piece")
    joined.transformation.save(tmp_path / "p.json")
    again = dovetail.join(left, right, by=Transformation.load(tmp_path / "p.json"))
    assert again.pairs == joined.pairs
    assert (again.rows, again.table.column_names) == (len(PEOPLE), ["name", "who"])
    words = [f"{first} {last}" for first, last in PEOPLE]
    assert dovetail.join({"a": [f"{w} x{i}" for i, w in enumerate(words)]}, {"b": born}, by="transform").rows == 0


def test_what_is_no_transformation(tmp_path):
    path = tmp_path / "p.json"
    for text in ("[]", "{}", "no", '{"version": 9, "programs": [], "reversed": false, "target": "x"}'):
        path.write_text(text)
        with pytest.raises(InputError):
            Transformation.load(path)
    with pytest.raises(InputError, match="Cannot read"):
        Transformation.load(tmp_path / "none.json")


def test_the_command_saves_and_uses_it(tmp_path):
    for name, values in (("left", NAMES), ("right", LISTED), ("new", ["Hoare, Tony"]), ("more", ["Tony Hoare"])):
        column = "name" if name in ("left", "more") else "who"
        quoted = [f'"{value}",{row}' for row, value in enumerate(values)]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"{column},row", *quoted]))
    files = [tmp_path / f"{name}.csv" for name in ("left", "right", "more", "new")]
    assert command("join", *files[:2], "--by", "transform", "--save", tmp_path / "p.json").code == 0
    again = command("join", *files[2:], "--program", tmp_path / "p.json", "--json")
    assert (again.code, again.json["pairs"], again.json["by"]) == (0, 1, "transform")
    refused = command("join", *files[2:], "--program", tmp_path / "p.json", "--by", "equal")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    kept = command("join", files[0], files[0], "--save", tmp_path / "q.json", "-o", tmp_path / "out.csv")
    assert kept.code == 0
    assert "q.json was not written: no transformation was learned." in kept.err
    assert (tmp_path / "out.csv").exists() and not (tmp_path / "q.json").exists()


def test_made_values_are_compared_as_the_key_column_reads_them():
    """101 and 101.0 are one number, whoever executes the join."""
    from dovetail.transform import Extract, Program, Split

    way = Transformation((Program((Extract("ref", (Split("-", 1, 1),)),)),), False, "id")
    joined = dovetail.join({"ref": ["a-101", "b-102", "c-7"]}, {"id": ["101.0", "102.0", "103.5"]}, by=way)
    assert rows(joined) == [(0, 0), (1, 1)]


WHOLE = {"name": LISTED}
PARTS = {"first": [first for first, _ in PEOPLE], "last": [last for _, last in PEOPLE], "age": list("123456")}


@pytest.mark.parametrize("by", [None, "transform"])
def test_one_column_joins_with_two_by_a_transformation(by):
    joined = dovetail.join(WHOLE, PARTS, left_on="name", right_on=["first", "last"], by=by)
    assert (joined.by, rows(joined)) == ("transform", [(row, row) for row in range(6)])
    assert joined.columns == (("name",), ("last", "first"))
    turned = dovetail.join(PARTS, WHOLE, left_on=["first", "last"], right_on="name", by=by)
    assert (turned.transformed, rows(turned)) == ("left", [(row, row) for row in range(6)])


def test_one_column_joins_with_two_on_the_command_line(tmp_path):
    for name, table in (("whole", WHOLE), ("parts", PARTS)):
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    answer = command(
        "join", tmp_path / "whole.csv", tmp_path / "parts.csv", "--left-on", "name", "--right-on", "first,last"
    )
    assert answer.out.startswith("6 rows: inner join on name = last and first (after a transformation)"), answer


def test_several_columns_of_both_tables_are_refused():
    """A program makes one column: the other pairs would be ignored."""
    tables = {"day": ["2024-01-05"], "state": ["Ohio"]}, {"month": ["2024-01"], "region": ["Ohio"]}
    with pytest.raises(InputError, match="`on` names several of both tables"):
        dovetail.join(*tables, by="transform", on="day=month,state=region")


def test_a_list_names_pairs_and_common_columns():
    left = {"a": ["1", "2", "3"], "d": ["x", "y", "z"], "e=f": ["u", "v", "w"]}
    right = {"b": ["1", "2", "3"], "d": ["x", "y", "q"], "e=f": ["u", "v", "w"]}
    assert dovetail.join(left, right, on=["a=b", "d"]).columns == (("a", "d"), ("b", "d"))
    assert dovetail.join(left, right, on=["a = b", "e=f"]).rows == 3
