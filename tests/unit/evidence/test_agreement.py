"""Agreement of other columns: rows about the same thing agree, rows that share a street do not."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail._deadline import Deadline
from dovetail.evidence.agreement import Partners, is_row_number, sampled_rows, word_bits
from dovetail.evidence.two_tables import JOIN_FEATURES
from dovetail.join.candidates import Candidates
from dovetail.tables.input_table import open_table

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "lagoon"]


def tables(size: int = 60) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Two lists of the same restaurants in another order; a street has several of them."""
    draw = random.Random(5)
    rows = [
        {
            "name": " ".join(draw.sample(WORDS, 3)),
            "street": f"{draw.choice(WORDS[:4])} road",
            "phone": f"{draw.randrange(900) + 100}-{draw.randrange(9000) + 1000}",
        }
        for _ in range(size)
    ]
    other = draw.sample(rows, size)
    left, right = ({name: [row[name] for row in side] for name in rows[0]} for side in (rows, other))
    return {"id": [str(place) for place in range(size)]} | left, {"id": [str(place) for place in range(size)]} | right


def agreement(left: dict[str, list[str]], right: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """Of joins on the same name, by the name."""
    found = Candidates(open_table(left, "left"), open_table(right, "right"), Deadline(10)).equal()
    return {
        each.columns[0][0]: dict(zip(JOIN_FEATURES, each.features.tolist(), strict=True))
        for each in found
        if each.columns[0] == each.columns[1] and len(each.columns[0]) == 1
    }


def test_rows_about_the_same_thing_agree_in_other_columns():
    found = agreement(*tables())
    assert found["name"]["agreement"] > 0.8
    assert found["street"]["agreement"] < 0.3
    assert found["id"]["agreement"] < 0.2


def test_without_other_columns_nothing_is_said():
    left, right = ({"name": side["name"]} for side in tables())
    assert agreement(left, right)["name"]["agreement"] == 0


def test_row_numbers_are_not_compared():
    """Otherwise every join in the order of the rows would be confirmed by them."""
    left = {name: tables()[0][name] for name in ("id", "name")}
    assert agreement(left, left)["name"]["agreement"] == 0


def test_row_numbers_are_dense_from_zero_or_one():
    def is_number(*values: object) -> bool:
        return is_row_number(open_table({"x": list(values)}).column("x"))

    assert is_number(1, 2, 3)
    assert is_number(2, 0, 1)
    assert not is_number(1, 2, 4)
    assert not is_number(1, 2, 2)
    assert not is_number(7, 8, 9)
    assert not is_number("a", "b")
    assert not is_number(None, None)


def test_the_same_words_set_the_same_bits():
    one, other, none = word_bits(pa.array(["Amber  birch!", "birch AMBER", "--"]))
    assert one == other
    assert 1 <= int(one).bit_count() <= 2
    assert none == 0


keys = st.lists(st.integers(-1, 5), max_size=20).map(lambda codes: np.array(codes, np.int64))


@given(left=keys, right=keys)
def test_sampled_rows_have_the_same_key(left, right):
    """Of few rows, every one with a partner is there."""
    rows = sampled_rows(Partners(left), Partners(right))
    pairs = set(zip(rows.left.tolist(), rows.right.tolist(), strict=True))
    joined = {(a, b) for a in range(len(left)) for b in range(len(right)) if left[a] == right[b] >= 0}
    assert pairs <= joined
    assert {a for a, _ in pairs} == {a for a, _ in joined}
    assert {b for _, b in pairs} == {b for _, b in joined}
