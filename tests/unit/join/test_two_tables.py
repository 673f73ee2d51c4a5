"""Two tables, no hint: the columns, the direction and the transformation are found."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.transform.coverage import rates, sample

PEOPLE = [
    ("Barack", "Obama", "1961-"), ("George W.", "Bush", "1946-"), ("Bill", "Clinton", "1946-"),
    ("Ronald", "Reagan", "1911-2004"), ("Jimmy", "Carter", "1924-"), ("Gerald", "Ford", "1913-2006"),
    ("Richard", "Nixon", "1913-1994"), ("Harry", "Truman", "1884-1972"), ("Calvin", "Coolidge", "1872-1933"),
]  # fmt: skip
LISTED = [f"{last}, {first}({years})" for first, last, years in PEOPLE]
SPOKEN = [f"{first} {last}" for first, last, _ in PEOPLE]


def pairs(joined) -> list[tuple[int, int]]:
    return [(row["left_row"], row["right_row"]) for row in joined.pairs.to_pylist()]


def diagonal(size: int) -> list[tuple[int, int]]:
    return [(row, row) for row in range(size)]


@pytest.mark.parametrize("swapped", [False, True])
def test_either_table_may_be_transformed(swapped):
    tables = [{"name": LISTED, "party": ["D", "R", "D"] * 3}, {"president": SPOKEN, "approval": ["47.0"] * 9}]
    joined = dovetail.join(*(tables[::-1] if swapped else tables), by="transform")
    assert joined.by == "transform"
    assert joined.transformed == ("right" if swapped else "left")
    assert pairs(joined) == diagonal(9)
    assert joined.program.apply({"name": ["Adams, John(1735-1826)"]}) == ["John Adams"]
    assert joined.table.num_rows == joined.matched_left == joined.matched_right == 9


def test_several_programs_together():
    spoken = [*SPOKEN[:6], *(f"{last} ({years[:4]})" for _, last, years in PEOPLE[6:])]
    joined = dovetail.join({"name": LISTED}, {"president": spoken}, by="transform")
    assert len(joined.programs) == 2
    assert pairs(joined) == diagonal(9)


def test_columns_that_identify_a_row_only_together():
    moments = [(hour, minute, second) for hour in range(0, 24, 3) for minute in (5, 12, 37) for second in (9, 41)]
    parts = {
        name: [f"{moment[place]:02}" for moment in moments] for place, name in enumerate(("hour", "minute", "second"))
    }
    joined = dovetail.join(parts, {"time": [":".join(f"{part:02}" for part in moment) for moment in moments]})
    assert pairs(joined) == diagonal(len(moments))
    assert joined.left_columns == ("hour", "minute", "second")


def test_keys_that_differ_in_their_prefix():
    numbers = [42, 7, 113, 590, 12, 88, 431]
    joined = dovetail.join(
        {"id": [f"businessid_{n}" for n in numbers]}, {"ref": [f"businessref_{n}" for n in numbers]}, by="transform"
    )
    assert pairs(joined) == diagonal(len(numbers))


def test_case_and_accents_do_not_hide_a_match():
    left = ["Zoë Müller", "André Citroën", "Søren Østergaard", "José Núñez", "Anna Schmidt"]
    right = ["MUELLER", "citroen, andre", "østergaard, søren", "NUNEZ, JOSE", "Schmidt, Anna"]
    joined = dovetail.join({"name": left}, {"who": right})
    assert {(1, 1), (2, 2), (3, 3), (4, 4)} <= set(pairs(joined))


def test_equal_values_need_no_program():
    joined = dovetail.join({"a": SPOKEN}, {"b": SPOKEN[::-1]})
    assert (joined.by, joined.program, joined.transformed) == ("equal", None, None)
    assert pairs(joined) == [(row, 8 - row) for row in range(9)]


def test_equal_only_does_not_transform():
    assert pairs(dovetail.join({"name": LISTED}, {"president": SPOKEN}, by="equal")) == []


def test_similarity_joins_what_the_program_leaves():
    spoken = [*SPOKEN[:8], "Calvin J. Coolidge"]
    strict = dovetail.join({"name": LISTED}, {"president": spoken}, by="transform")
    assert pairs(strict) == diagonal(8)
    joined = dovetail.join({"name": LISTED}, {"president": spoken})
    assert pairs(joined) == diagonal(9)
    assert (joined.by, joined.report["similar_pairs"]) == ("transform", 1)
    origins = [row["origin"] for row in joined.pairs.to_pylist()]
    assert origins == ["transformed"] * 8 + ["similar"]


def test_nothing_joins():
    joined = dovetail.join({"a": ["apple", "pear", "plum"]}, {"b": ["1st", "2nd", "3rd"]})
    assert pairs(joined) == []
    assert (joined.left_columns, joined.right_columns, joined.table.num_rows) == ((), (), 0)


@pytest.mark.parametrize("empty", [{"a": []}, {"a": [None, None]}, {"a": ["", "x"]}])
def test_tables_with_little_in_them(empty):
    assert dovetail.join(empty, {"b": SPOKEN}).pairs.num_rows == 0
    assert dovetail.join({"b": SPOKEN}, empty).pairs.num_rows == 0


def test_ways_and_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="`by` is 'magic'"):
        dovetail.join({"a": ["x"]}, {"a": ["x"]}, by="magic")
    with pytest.raises(InputError, match="There is no file"):
        dovetail.join(tmp_path / "a.csv", {"a": ["x"]})


@pytest.mark.parametrize("sizes", [(10**6, 10**6), (10**6, 10**4), (10**4, 10**6), (50, 10**6)])
def test_samples_hold_enough_pairs_that_join(sizes):
    of_source, of_target = rates(*sizes)
    assert 0 < of_source <= 1
    assert 0 < of_target <= 1
    if of_source < 1 or of_target < 1:
        assert sizes[1] * of_target * of_source * 0.1 == pytest.approx(20)
    assert len(sample(10**5, 0.05)) == 5000
    assert sample(10**5, 0.05) == sample(10**5, 0.05)
