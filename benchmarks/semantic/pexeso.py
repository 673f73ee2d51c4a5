"""PEXESO's Algorithm 3 over columns of vectors, and PEXESO-H, its variant without an inverted index, as a baseline."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from dovetail.indexes.pexeso.block_and_verify import ColumnGrid, distances
from dovetail.indexes.pexeso.grid import HierarchicalGrid
from dovetail.indexes.pexeso.grid_kernels import block

Array = npt.NDArray[Any]


class Grid:
    """Vectors that each belong to one column."""

    def __init__(self, vectors: Array, columns: Array, radius: float, pivots: int = 0, levels: int = 0) -> None:
        every = np.arange(len(vectors) + 1), columns
        self._vectors = np.ascontiguousarray(vectors)
        self.grid = ColumnGrid.of(self._vectors, vectors.shape[1], every, radius, pivots, levels)
        self.pivots, self.levels = self.grid.pivots, self.grid.levels
        self._column_of = columns[self.grid.grid.order]

    def search(self, queries: Array, columns: int, radius: float, least: int) -> tuple[Array, int]:
        """Algorithm 3: the joinable columns, and how many distances were computed."""
        ones, none, every = np.ones(len(queries), np.int64), np.zeros(columns, np.int64), np.ones(columns, bool)
        found, computed = self.grid.joinable(queries, ones, radius, least, none, every)
        return np.flatnonzero(found), computed

    def block(self, queries: Array, radius: float) -> tuple[HierarchicalGrid, Array, Array]:
        """Algorithm 1 without quick browsing: the grid of the queries, matching and candidate pairs."""
        mine, target = HierarchicalGrid.of(distances(queries, self.pivots), self.levels), self.grid.grid
        browsed = np.full(len(mine.leaf_keys), -1)
        return mine, *block(mine.cells, mine.places, target.cells, len(target.leaf_keys), radius, browsed)

    def search_without_index(self, queries: Array, columns: int, radius: float, least: int) -> tuple[Array, int]:
        """PEXESO-H: every vector of a candidate cell is compared."""
        mine, matching, candidate = self.block(queries, radius)
        starts, leaves = self.grid.grid.leaf_starts, len(self.grid.grid.leaf_keys)
        met = np.zeros((len(queries), columns), np.bool_)
        for place, leaf in zip(*np.divmod(matching, leaves), strict=True):
            met[place, self._column_of[starts[leaf] : starts[leaf + 1]]] = True
        computed = _compare(
            candidate, leaves, starts, queries[mine.order], self._vectors, self.grid.grid.order, self._column_of,
            radius, met,
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
