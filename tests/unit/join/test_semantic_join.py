"""Two tables joined by near vectors."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.errors import InputError, UnknownName
from dovetail.join.semantic import confirmed

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
    with pytest.raises(InputError, match="above 0 and at most 1"):
        dovetail.join(LEFT, RIGHT, by="semantic", min_similarity=1.5)


@pytest.mark.parametrize("options", [{}, {"min_similarity": 0.5}])
def test_a_typing_error_joins_and_a_first_name_does_not(options):
    left = {"a": ["Chicgo", "George Bush", "Oslo", "Lagos"]}
    right = {"b": ["george", "Oslo", "Lagos", "Chicago"]}
    assert rows(dovetail.join(left, right, by="semantic", **options)) == [(0, 3), (2, 1), (3, 2)]
    assert rows(dovetail.join({"a": ["Chicgo"]}, {"b": ["Chicago"]}, by="semantic", **options)) == [(0, 0)]


def test_the_similarity_is_that_of_the_two_values_however_they_were_joined():
    joins = [
        dovetail.join({"a": left}, {"b": ["Chicago", "Oslo"]}, by="semantic", min_similarity=least)
        for left in (["Chicgo"], ["Chicgo", "Oslo"])
        for least in (None, 0.5, 0.2)
    ]
    assert len({joined.pairs["similarity"][0].as_py() for joined in joins}) == 1


def test_pairs_that_follow_one_rule_confirm_each_other():
    provinces = ["Hebei", "Hunan", "Gansu", "Fujian", "Yunnan", "Sichuan", "Shaanxi", "Anhui", "Hainan", "Jilin"]
    full = {"b": [f"{name} Province" for name in provinces]}
    assert dovetail.join({"a": provinces}, full, by="semantic", on=("a", "b")).rows == len(provinces)
    assert dovetail.join({"a": provinces[:1]}, full, by="semantic", on=("a", "b")).rows == 0


def test_a_pair_alone_is_as_likely_as_it_is_similar():
    similarities = np.array([0.45, 0.6, 0.3, 0.3])
    relations = np.array([2, 0, 1, 1])
    found = confirmed(similarities, relations, 0.2)
    assert found[:2] == pytest.approx([0.45, 0.6])
    assert found[2] == found[3] > 0.3
    assert (confirmed(np.full(2, 0.05), np.zeros(2), 0.2) < 0.05).all()
    assert confirmed(np.empty(0), np.empty(0), 0.2).tolist() == []


def test_columns_that_tell_rows_apart_are_chosen_before_columns_where_all_is_near():
    names = ["Granita", "Virgils Barbecue", "Hotel Bel Air", "Fenix at the Argyle", "La Grotta", "Matsuhisa"]
    others = ["granita.", "Virgil's Barbecue", "Bel Air Hotel", "Fenix at Argyle", "La Grota", "Spago"]
    left = {"name": names, "kind": [f"restaurant of the city, class {mark}" for mark in "abcdef"]}
    right = {"kind": [f"restaurants of the city: class {mark}" for mark in "uvwxyz"], "name": others}
    found = dovetail.join(left, right, by="semantic")
    assert found.on == (("name", "name"),)
    assert rows(found) == [(row, row) for row in range(5)]
