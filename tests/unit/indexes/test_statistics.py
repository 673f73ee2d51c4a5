"""Counting the lake's distinct values: exactly as long as they are few, then by the smallest hashes."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.indexes import statistics
from dovetail.indexes.statistics import DistinctValues, distinct_values


@pytest.fixture
def few(monkeypatch):
    """Hashes in the place of segments, and of these only a few are looked at."""
    monkeypatch.setattr(statistics, "EXACT_VALUES", 1_000)
    monkeypatch.setattr(statistics, "_AT_ONCE", 5_000)
    monkeypatch.setattr(statistics, "_live_hashes", lambda hashes, most: hashes[:most])


def parts(number, segments):
    """So many hashes; every segment holds half of them, and each of them is in one at least."""
    random = np.random.default_rng(number)
    hashes = np.unique(random.integers(0, 1 << 64, number, np.uint64))
    owner = random.integers(0, segments, len(hashes))
    return [hashes[(owner == n) | (random.random(len(hashes)) < 0.5)] for n in range(segments)], len(hashes)


@pytest.mark.parametrize("number", [0, 1, 999, 1_000])
@pytest.mark.parametrize("segments", [1, 30])
def test_few_values_are_counted(few, number, segments):
    hashes, distinct = parts(number, segments)
    assert distinct_values(hashes) == DistinctValues(distinct, True)


@pytest.mark.parametrize("number", [1_001, 30_000, 1_000_000])
def test_many_values_are_estimated_whatever_the_segments(few, number):
    hashes, distinct = parts(number, 30)
    found = distinct_values(hashes)
    assert not found.is_exact
    assert abs(found.number / distinct - 1) < 5 / np.sqrt(1_000)
    assert distinct_values([np.unique(np.concatenate(hashes))]) == found
