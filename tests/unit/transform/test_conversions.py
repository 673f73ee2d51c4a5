"""Keys that no cutting makes: other units, initials, names of months; and numbers that are equal by chance alone."""

from __future__ import annotations

import random

import duckdb
import pytest

import dovetail
from dovetail.transform.conversions import proposals
from dovetail.transform.examples import both_directions
from dovetail.transform.forms import DatePart, Initials, Number

DRAW = random.Random(3)
LENGTHS = sorted({round(DRAW.uniform(1, 900), 1) for _ in range(40)})
DAYS = ["2011-09-21", "2011-01-12", "2009-07-01", "2015-05-13", "2014-08-03", "2014-12-24"]
SOCIETIES = ["Association for Computing Machinery", "Very Large Data Bases", "Special Interest Group on Data",
             "International Conference on Data Engineering", "Principles of Database Systems"]  # fmt: skip


def _learned(left, right):
    found = dovetail.join(left, right, by="transform")
    assert found.transformation is not None
    return found, [step for step in found.transformation.programs[0].steps if hasattr(step, "form")]


@pytest.mark.parametrize(
    ("units", "made"),
    [
        ("cm to in", [f"{length / 2.54:.3f}" for length in LENGTHS]),
        ("°C to °F", [f"{length * 1.8 + 32:.2f}" for length in LENGTHS]),
        ("kg to lb", [f"{length / 0.45359237:.6g}" for length in LENGTHS]),
    ],
)
def test_numbers_in_other_units(units, made):
    order = random.Random(1).sample(range(len(made)), len(made))
    left, right = {"size": list(map(str, LENGTHS))}, {"value": [made[place] for place in order]}
    found, (step,) = _learned(left, right)
    assert isinstance(step.form, Number)
    there, back = step.form.units, " to ".join(reversed(units.split(" to ")))
    assert there == (back if found.transformation.reversed else units)
    pairs = {(pair["left_row"], order[pair["right_row"]]) for pair in found.pairs.to_pylist()}
    assert len(pairs & {(row, row) for row in range(len(made))}) >= 0.8 * len(made)
    assert all(a == b for a, b in pairs)


def test_dates_by_the_names_of_months():
    wanted = ["September 21", "January 12", "July 1", "May 13", "August 3", "December 24"]
    found, steps = _learned({"day": DAYS}, {"when": wanted})
    assert [step.form for step in steps] == [DatePart("month name"), DatePart("day")]
    assert len(found.pairs) == len(DAYS)


def test_initials():
    found, (step,) = _learned({"society": SOCIETIES}, {"short": ["AFCM", "VLDB", "SIGOD", "ICODE", "PODS"]})
    assert step.form == Initials()
    assert len(found.pairs) == len(SOCIETIES)


def test_the_first_digits_of_dates_are_no_initials():
    days = [f"1950-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    ids = [str(number) for number in range(100, 200)]
    assert not any(True for _ in proposals(both_directions({"day": days}, {"id": ids})))


def test_zeros_in_front():
    found, (step,) = _learned({"id": ["2", "144", "12345", "77", "901"]},
                              {"code": ["00002", "00144", "12345", "00077", "00901"]})  # fmt: skip
    assert step.form == Number(width=5)
    assert len(found.pairs) == 5


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (range(1, 200), range(10, 2000, 10)),  # row numbers, and ten times as many
        (range(1, 500), [round(place * 0.3937) for place in range(1, 500)]),  # every row number is near one
        ([3, 8, 12, 41], [30, 80, 120, 410]),  # so few may be chance
    ],
)
def test_numbers_that_chance_explains_are_left_alone(left, right):
    found = dovetail.join({"a": list(map(str, left))}, {"b": list(map(str, right))}, by="transform")
    steps = [step for program in found.programs for step in program.steps]
    assert not any(isinstance(step.form, Number) and step.form.factor != 1 for step in steps if hasattr(step, "form"))


def test_the_printed_query_gives_the_same_rows(tmp_path):
    (tmp_path / "a.csv").write_text("day,n\n" + "".join(f"{day},{n}\n" for n, day in enumerate(DAYS)))
    names = ["September 21", "January 12", "July 1", "May 13", "August 3", "December 24"]
    (tmp_path / "b.csv").write_text("when,m\n" + "".join(f"{name},{n}\n" for n, name in enumerate(names)))
    joined = dovetail.join(str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), by="transform")
    with duckdb.connect() as connection:
        rows = connection.execute(joined.sql).fetchall()
        (query,) = [program["duckdb"] for program in joined.report["programs"]]
        made = connection.execute(f"SELECT {query} FROM read_csv('{tmp_path / 'a.csv'}', all_varchar=true)").fetchall()
    assert rows == [tuple(row.values()) for row in joined.table.to_pylist()]
    assert [text for (text,) in made] == names


@pytest.mark.parametrize("prefix", ["", "K"])
def test_digits_beside_a_number_make_row_numbers_by_chance(prefix):
    """`1`, then 100 to 206, then `0` are all among 10,001 to 15,000."""
    left = {"employee": [str(number) for number in range(100, 207)]}
    right = {"row": [f"{prefix}{number}" for number in range(10_001, 15_001)]}
    found = dovetail.join(left, right, by="transform").transformation
    assert found is None or not any(getattr(step, "text", "").isdigit() for step in found.programs[0].steps)
