"""Names that are not there get those that are nearest, by edits of the whole or of the last part, or none."""

from __future__ import annotations

import pytest

from dovetail._names import edit_distances, nearest_names, unknown_table

TABLES = [f"reports/{year}/sales.csv" for year in range(2000, 2020)] + [
    "geo/us-states.csv",
    "geo/cities.csv",
    "transport/Airports.parquet",
    "transport/routes.csv",
]


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("geo/us-statse.csv", ["geo/us-states.csv"]),
        ("us-states.csv", ["geo/us-states.csv"]),
        ("/home/me/lake/us-states.csv", ["geo/us-states.csv"]),
        ("us-states", ["geo/us-states.csv"]),
        ("airport", ["transport/Airports.parquet"]),
        ("reports/2004/sales.cvs", ["reports/2004/sales.csv"]),
        ("old/2007/sales.csv", ["reports/2007/sales.csv", "reports/2000/sales.csv", "reports/2001/sales.csv"]),
        ("missing.csv", []),
        ("", []),
    ],
)
def test_the_nearest_names(asked, nearest):
    assert nearest_names(asked, TABLES) == nearest


def test_no_names_at_all():
    assert nearest_names("a", []) == []


def test_many_tables_that_are_not_similar_are_not_listed():
    assert unknown_table("The index has no table", "missing.csv", TABLES) == (
        'The index has no table "missing.csv"; none of its 24 tables has a similar name.'
    )


@pytest.mark.parametrize("name", ["", "a", "kitten", "saturday"])
def test_edit_distances(name):
    others = ["", "a", "sitting", "sunday", "kitten", "ab"]
    assert edit_distances(name, others).tolist() == [_distance(name, other) for other in others]


def _distance(one: str, other: str) -> int:
    """As it is defined."""
    if not one or not other:
        return len(one) + len(other)
    same = _distance(one[1:], other[1:]) + (one[0] != other[0])
    return min(same, 1 + min(_distance(one[1:], other), _distance(one, other[1:])))
