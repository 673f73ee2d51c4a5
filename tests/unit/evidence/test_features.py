"""Features of candidate joins: what they say of tables that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._deadline import Deadline
from dovetail.evidence.two_tables import JOIN_FEATURES
from dovetail.join.candidates import Candidate, Candidates
from dovetail.tables.input_table import open_table


def equal(left: dict[str, list[object]], right: dict[str, list[object]], *columns: str) -> dict[str, float]:
    """The features of the join of the left table to the right one on columns of these names."""
    found: list[Candidate] = Candidates(open_table(left, "left"), open_table(right, "right"), Deadline(10)).equal()
    chosen = [each for each in found if each.columns == (columns[:1], columns[1:])]
    return dict(zip(JOIN_FEATURES, chosen[0].features.tolist(), strict=True))


def test_counts_become_shares():
    left = {"code": ["a1", "a2", "a2", "zz", None]}
    right = {"key": ["a1", "a2", "a3", "a4"]}
    found = equal(left, right, "code", "key")
    assert found["contained"] == pytest.approx(2 / 3)
    assert found["matched"] == pytest.approx(3 / 4)
    assert found["covered"] == pytest.approx(1 / 2)
    assert found["unique_there"] == 1
    assert found["filled_here"] == pytest.approx(4 / 5)
    assert found["partners_there"] == 0


def test_numbers_in_a_full_range_are_there_by_chance():
    left = {"year": [1990, 1991, 1992]}
    dense = equal(left, {"row": list(range(1, 3000))}, "year", "row")
    sparse = equal(left, {"row": [17, 1990, 1991, 1992, 250_000]}, "year", "row")
    assert dense["chance"] == 1
    assert dense["bits"] == 0
    assert sparse["chance"] < 0.001
    assert sparse["bits"] > 0


def test_days_in_a_full_calendar_are_there_by_chance():
    days = [f"2020-01-{day:02}" for day in range(1, 31)]
    assert equal({"added": days[:3]}, {"day": days}, "added", "day")["chance"] == 1


def test_names_of_keys_say_little_and_names_of_things_much():
    values = list(range(10))
    assert (
        equal({"customer_id": values}, {"customer_id": values}, "customer_id", "customer_id")["reference_called"] > 0.9
    )
    assert equal({"id": values}, {"id": values}, "id", "id")["reference_called"] < 0.2


def test_every_feature_is_finite_for_odd_tables():
    left = {"empty": [None, None], "one": ["x", "x"], "flag": [True, False], "real": [0.5, 1.5]}
    right = {"one": ["x"], "flag": [False], "real": [0.5], "day": ["2020-01-01"]}
    for each in Candidates(open_table(left, "a"), open_table(right, "b"), Deadline(10)).equal():
        assert np.isfinite(each.features).all()
