"""PEXESO's own way over columns of vectors, and PEXESO-H, its variant without an inverted index, as a baseline."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from dovetail.indexes.pexeso.block_and_verify import ColumnGrid, distances
from dovetail.indexes.pexeso.grid import HierarchicalGrid
from dovetail.indexes.pexeso.grid_kernels import block

Array = npt.NDArray[Any]


class Grid(ColumnGrid):
    """Vectors that each belong to one column."""

    def __init__(self, vectors: Array, columns: Array, radius: float, pivots: int = 0, levels: int = 0) -> None:
        every = np.arange(len(vectors) + 1), columns
        super().__init__(np.ascontiguousarray(vectors), vectors.shape[1], every, radius, pivots, levels)
        self._column_of = columns[self._grid.order]

    def search(self, queries: Array, columns: int, radius: float, least: int) -> tuple[Array, int]:
        """Algorithm 3: the joinable columns, and how many distances were computed."""
        ones, none, every = np.ones(len(queries), np.int64), np.zeros(columns, np.int64), np.ones(columns, bool)
        found, computed = self.joinable(queries, ones, radius, least, none, every)
        return np.flatnonzero(found), computed

    def search_without_index(self, queries: Array, columns: int, radius: float, least: int) -> tuple[Array, int]:
        """PEXESO-H: every vector of a candidate cell is compared."""
        mine = HierarchicalGrid(distances(queries, self.pivots), self.levels)
        leaves, browsed = len(self._grid.leaf_keys), np.full(len(mine.leaf_keys), -1)
        pairs = block(mine.cells, mine.places, self._grid.cells, leaves, radius, browsed)
        met = np.zeros((len(queries), columns), np.bool_)
        for place, leaf in zip(*np.divmod(pairs[0], leaves), strict=True):
            met[place, self._column_of[self._grid.leaf_starts[leaf] : self._grid.leaf_starts[leaf + 1]]] = True
        computed = _compare(
            pairs[1], leaves, self._grid.leaf_starts, queries[mine.order], self._vectors, self._grid.order,
            self._column_of, radius, met,
        )  # fmt: skip
        return np.flatnonzero(met.sum(axis=0) >= least), computed


@numba.njit(cache=True, fastmath={"reassoc", "contract"})  # a baseline is to be quick
def _compare(
    pairs: Array, leaves: int, starts: Array, queries: Array, vectors: Array, order: Array, columns: Array,
    radius: float, met: Array,
) -> int:  # fmt: skip
    computed = 0
    for pair in pairs:
        place, leaf = pair // leaves, pair % leaves
        for at in range(starts[leaf], starts[leaf + 1]):
            total, other = 0.0, vectors[order[at]]
            for k in range(len(other)):
                total += (queries[place, k] - other[k]) ** 2
            computed += 1
            if total <= radius * radius:
                met[place, columns[at]] = True
    return computed
