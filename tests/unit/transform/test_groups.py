"""Pairs of columns are tried in the order of what their q-grams explain, however many other columns there are."""

from __future__ import annotations

import random

import pytest

import dovetail
from dovetail.transform.examples import both_directions, groups

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty", "kiosk", "larch"]


def _words(draw: random.Random, rows: int) -> list[str]:
    return [" ".join(draw.sample(WORDS, 4)) for _ in range(rows)]


def _tables(rows: int = 60, texts: int = 3) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """A code that is written in two ways, a quantity, and texts of the same words."""
    draw = random.Random(5)
    numbers = draw.sample(range(100, 1000), rows)
    beside = [
        {"qty": [str(draw.randint(1, 99)) for _ in range(rows)]}
        | {f"note {place}": _words(draw, rows) for place in range(texts)}
        for _ in range(2)
    ]
    left = {**beside[0], "code": [f"A{number}/x" for number in numbers]}
    return left, {**beside[1], "key": [f"A{number}x" for number in sorted(numbers)]}


@pytest.mark.parametrize("by", ["transform", None])
def test_a_code_of_digits_is_joined_beside_columns_of_text(by):
    joined = dovetail.join(*_tables(), by=by)
    assert (joined.rows, joined.columns) == (60, (("code",), ("key",)))


def test_groups_come_in_the_order_of_their_average_weight():
    found = list(groups(both_directions(*_tables())))
    assert {found[0][1].source, found[0][1].target} == {"code", "key"}
    weights = [
        group.weight / min(len(d.source.values(group.source).texts), len(d.target.values(group.target).texts))
        for d, group in found
    ]
    assert weights == sorted(weights, reverse=True)
