"""Ranking: best first, ties by column, the same whether all fits into one run or hundreds wait on disk."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dovetail.graph import inclusion_dependencies as ranking
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.inclusion_dependencies import Ranking
from dovetail.graph.ranking_kernels import sort_keys

COLUMNS = 300


class Columns(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.rank)


@pytest.mark.parametrize("run", [1 << 20, 50], ids=["one run", "many runs"])
def test_order(monkeypatch, run):
    monkeypatch.setattr(ranking, "_RUN", run)
    monkeypatch.setattr(ranking, "_AT_ONCE", 200)
    monkeypatch.setattr(ranking, "_SAMPLE", 7)
    random = np.random.default_rng(1)
    columns = Columns(
        rank=random.permutation(COLUMNS), table_of=random.integers(0, 40, COLUMNS), name_of=np.arange(COLUMNS)
    )
    sizes = random.integers(0, 1 << 32, COLUMNS)
    sizes[:9] = 0
    scores = random.integers(0, 20, 3000) / 20
    places = random.choice(COLUMNS**2, 3000, replace=False)
    pairs = ColumnPairs(places // COLUMNS, places % COLUMNS, random.integers(0, 1 << 32, 3000, np.uint32))
    ranked = Ranking(columns, sizes)
    for start in range(0, 3000, 70):
        place = slice(start, start + 70)
        part = ColumnPairs(pairs.dependent[place], pairs.referenced[place], pairs.overlap[place])
        ranked.add(part, scores[place])
    order = np.lexsort((columns.rank[pairs.referenced], columns.rank[pairs.dependent], -scores))
    one, other, overlap = pairs.dependent[order], pairs.referenced[order], pairs.overlap[order]
    expected = {
        "score": scores[order],
        "containment": np.where(sizes[one] == 0, 1.0, overlap / np.maximum(sizes[one], 1)),
        "coverage": overlap / np.maximum(sizes[other], 1),
    }
    for _ in range(2):
        parts = list(ranked)
        assert len(ranked) == sum(len(part.score) for part in parts) == 3000
        assert len(parts) > 5, "it comes in parts"
        for name, values in expected.items():
            np.testing.assert_allclose(np.concatenate([getattr(part, name) for part in parts]), values)
        for side, numbers in (("dependent", one), ("referenced", other)):
            tables, names = zip(*(getattr(part, side) for part in parts), strict=True)
            np.testing.assert_array_equal(np.concatenate(tables), columns.table_of[numbers])
            np.testing.assert_array_equal(np.concatenate(names), numbers)


def test_nothing():
    nothing = Columns(rank=np.empty(0, np.int64), table_of=np.empty(0, np.int64), name_of=np.empty(0, np.int32))
    assert [len(part.score) for part in Ranking(nothing, np.empty(0, np.int64))] == [0]


@pytest.mark.parametrize("bits", [0, 1, 30, 64])
def test_keys_are_sorted_with_what_they_carry(bits):
    random = np.random.default_rng(bits)
    keys = random.integers(0, 1 << bits, 5000, np.uint64) if bits else np.full(5000, 7, np.uint64)
    overlaps = np.arange(5000, dtype=np.uint32)
    order = np.argsort(keys, kind="stable")
    found = sort_keys(keys.copy(), overlaps.copy())
    np.testing.assert_array_equal(found[0], keys[order])
    np.testing.assert_array_equal(found[1], overlaps[order])
