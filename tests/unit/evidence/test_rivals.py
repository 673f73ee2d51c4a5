"""What other references say about one, beside plain definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.evidence.rivals import RIVAL_FEATURES, Contest, rival_features, share_among_targets

Row = tuple[int, int, float, float]  # who refers, to what, log-odds, how far it is named after it
reference = st.tuples(st.integers(0, 5), st.integers(6, 11), st.floats(-6, 6), st.floats(0, 1))


def contest_of(rows: list[Row]) -> Contest:
    """Three columns are a table."""
    ones, others, odds, called = (np.array(values) for values in zip(*rows, strict=True))
    return Contest(ones, others, odds, called, ones % 3, others // 3, np.zeros(len(rows)))


def unique(rows: list[Row]) -> list[Row]:
    return list({row[:2]: row for row in rows}.values())


def likely(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


@settings(max_examples=100, deadline=None)
@given(st.lists(reference, min_size=1, max_size=15).map(unique))
def test_rivals(rows):
    found = [dict(zip(RIVAL_FEATURES, row, strict=True)) for row in rival_features(contest_of(rows)).tolist()]
    best = {one: max(odds for other_one, _, odds, _ in rows if other_one == one) for one, *_ in rows}
    expected = [likely(odds) if odds == best[one] else 0.0 for one, _, odds, _ in rows]
    for place, (one, other, odds, called) in enumerate(rows):
        mine = [row for row in rows if row[0] == one]
        rivals = [row for row in mine if row[1] != other]
        ahead = max((row[2] for row in rivals), default=odds)
        named = max((row[3] for row in rivals), default=called)
        others = [(row, mass) for n, (row, mass) in enumerate(zip(rows, expected, strict=True)) if n != place]
        to_table = sum(mass for row, mass in others if row[1] // 3 == other // 3)
        to_other = sum(mass for row, mass in others if row[1] == other)

        assert found[place] == pytest.approx(
            found[place]
            | {
                "beaten": min(8, max(0, ahead - odds)),
                "ahead": min(8, max(0, odds - ahead)),
                "called_beaten": max(0, named - called),
                "called_ahead": max(0, called - named),
                "key_of_table": to_other / to_table if to_table > 0.01 else 0,
                "share_of_targets": max(-8, math.log(math.exp(odds) / sum(math.exp(row[2]) for row in mine))),
            }
        )


def test_a_column_refers_to_one_thing():
    shares = share_among_targets(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.7]))
    assert shares == pytest.approx([0.6, 0.4, 0.7])
