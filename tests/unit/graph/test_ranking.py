"""Ranking: best first, ties by column, the same whether all fits into one run or hundreds wait on disk."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.graph import ranking
from dovetail.graph.ranking import Ranking


@pytest.mark.parametrize("run", [1 << 20, 50], ids=["one run", "many runs"])
def test_order(monkeypatch, run):
    monkeypatch.setattr(ranking, "_RUN", run)
    random = np.random.default_rng(1)
    scores = random.integers(0, 20, 3000) / 20
    one, other = random.permutation(3000), random.integers(0, 1 << 25, 3000)
    overlap = random.integers(0, 1 << 32, 3000)
    ranked = Ranking()
    for start in range(0, 3000, 70):
        place = slice(start, start + 70)
        ranked.add(scores[place], one[place], other[place], overlap[place])
    order = np.lexsort((other, one, -scores))
    for _ in range(2):
        found = [np.concatenate(parts) for parts in zip(*ranked, strict=True)]
        assert len(ranked) == 3000
        for got, given in zip(found, (scores, one, other, overlap), strict=True):
            np.testing.assert_allclose(got, given[order])


def test_nothing():
    assert [len(part[0]) for part in Ranking()] == [0]
