"""What is taken for a join when nobody says how, and what is not."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.transform import Constant, Extract, Program, Split
from dovetail.transform.program import cuts_numbers


def test_a_part_of_numbers_of_different_lengths_is_none():
    ids = {"id": [f"ref_{number}" for number in (1, 22, 149, 5)]}
    piece = Split("_", 1, 1)
    assert cuts_numbers(Program((Constant("x"), Extract("id", (piece,), 0, -1))), ids)
    assert cuts_numbers(Program((Extract("id", (piece,), -2, None),)), ids)
    assert not cuts_numbers(Program((Constant("x"), Extract("id", (piece,)))), ids)
    assert not cuts_numbers(Program((Extract("id", (), 0, 3),)), ids)
    assert not cuts_numbers(Program((Extract("day", (), 0, 4),)), {"day": ["20210305", None, "19991231"]})


def test_equal_codes_convince_though_most_have_no_partner():
    left = {"plane_id": [f"K{number:04}" for number in range(200)]}
    right = {
        "no": [str(5000 + number) for number in range(90)],
        "plane_id": [f"K{4 * number + number % 3:04}" for number in range(90)],
    }
    joined = dovetail.join(left, right)
    shared = set(left["plane_id"]) & set(right["plane_id"])
    assert joined.by == "equal"
    assert joined.on == (("plane_id", "plane_id"),)
    assert joined.matched_left == len(shared)


def test_one_number_is_no_key_by_chance():
    """The only 2 of `arrives` is among the engines of all planes."""
    left = {"arrives": [str(number) for number in range(2, 302)], "tail": [f"N{number % 120}" for number in range(300)]}
    right = {"engines": ["2"] * 190 + ["1"] * 10, "tail": [f"N{number}" for number in range(10, 210)]}
    assert dovetail.join(left, right).on == (("tail", "tail"),)


@pytest.mark.parametrize("on", ["", []])
def test_no_column_is_no_way(on):
    with pytest.raises(InputError, match="`on` is empty"):
        dovetail.join({"a": ["x"]}, {"a": ["x"]}, on=on)


def test_columns_of_different_lengths():
    with pytest.raises(InputError, match="must have the same length"):
        dovetail.join({"a": ["x", "y"], "b": ["z"]}, {"a": ["x"]})


def test_no_sql_for_a_file_that_duckdb_cannot_read(tmp_path):
    plain, ragged = tmp_path / "plain.csv", tmp_path / "ragged.csv"
    plain.write_text("id,town\n1,Bern\n2,Rome\n3,Oslo\n")
    ragged.write_text("id,a,b\n1,x,y\n2,z\n3,u,v\n")
    assert dovetail.join(plain, plain, on="id").sql
    assert dovetail.join(plain, ragged, on="id").sql is None
