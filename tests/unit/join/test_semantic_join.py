"""Two tables joined by near vectors."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.errors import InputError, UnknownName

LEFT = {
    "code": ["1", "2", "3", "4", "5"],
    "city": ["New York City", "Los Angeles", "Chicgo", "Houston", "Houston"],
    "note": ["big", "big", "big", "big", "big"],
}
RIGHT = {
    "place": ["Chicago", "Houston", "Phoenix", "Los Angeles (CA)", "New York"],
    "code": ["7", "8", "9", "1", "2"],
}


def rows(joined) -> list[tuple[int, int]]:
    return [(row["left_row"], row["right_row"]) for row in joined.pairs.to_pylist()]


def test_each_row_goes_to_its_best_match_and_the_columns_are_found():
    found = dovetail.join(LEFT, RIGHT, by="semantic")
    assert found.on == (("city", "place"),)
    assert rows(found) == [(0, 4), (1, 3), (2, 0), (3, 1), (4, 1)]
    origins = [row["origin"] for row in found.pairs.to_pylist()]
    assert origins == ["similar", "similar", "similar", "equal", "equal"]


def test_named_columns_are_taken():
    joined = dovetail.join(LEFT, RIGHT, by="semantic", on=("city", "place"))
    assert joined.by == "semantic"
    assert joined.pairs.num_rows == 5
    assert joined.table.column_names[-2:] == ["place", "code_right"]


def test_nothing_to_join():
    assert dovetail.join({"a": ["1", "2"]}, RIGHT, by="semantic").pairs.num_rows == 0


def test_what_is_refused():
    with pytest.raises(UnknownName, match="place"):
        dovetail.join(LEFT, RIGHT, by="semantic", on=("city", "plac"))
    with pytest.raises(InputError, match=r"at least 0\.9"):
        dovetail.join(LEFT, RIGHT, by="semantic", min_similarity=0.5)


def test_columns_that_tell_rows_apart_are_chosen_before_columns_where_all_is_near():
    names = ["Granita", "Virgils Barbecue", "Hotel Bel Air", "Fenix at the Argyle", "La Grotta", "Matsuhisa"]
    others = ["granita.", "Virgil's Barbecue", "Bel Air Hotel", "Fenix at Argyle", "La Grota", "Spago"]
    left = {"name": names, "kind": [f"restaurant of the city, class {mark}" for mark in "abcdef"]}
    right = {"kind": [f"restaurants of the city: class {mark}" for mark in "uvwxyz"], "name": others}
    found = dovetail.join(left, right, by="semantic")
    assert found.on == (("name", "name"),)
    assert rows(found) == [(row, row) for row in range(5)]
