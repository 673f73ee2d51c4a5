"""Range search over sparse vectors: candidates from posting lists, then distances in float64.

The index has no sparse vectors, only the lists: the vectors of candidates are computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.format import blocks_of, list_starts
from dovetail.indexes.pexeso.kernels import (
    candidates,
    coded_scales,
    count_lists,
    fill_lists,
    largest_weights,
    squared_distances,
)

_ROOM = 1 << 20  # candidates held at a time: 16 MB


@dataclass(frozen=True)
class DimensionLists:
    """Texts by the dimensions of their vectors. `vectors` makes those of some places."""

    starts: Array  # by dimension and block, and the end
    postings: Array
    scales: Array
    vectors: Callable[[Array], Sparse]

    def within(self, queries: Sparse, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        """Queries, places and squared distances of all pairs at most `radius` apart; by query."""
        least = 1.0 - radius * radius / 2.0
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        first = 0
        while first < len(queries):
            rest = queries.starts[first:]
            rows, places, done = candidates(
                rest,
                queries.dimensions,
                queries.weights,
                self.starts,
                self.postings,
                self.scales,
                allowed,
                least,
                _ROOM,
            )
            found.append(self._verified(queries, rows + first, places, radius))
            first += done
        mine, places, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return mine, places, squared

    def restricted(self, allowed: Array) -> tuple[DimensionLists, Array]:
        """Lists of the allowed texts alone, and their places here."""
        chosen = np.flatnonzero(allowed)
        return lists_of(self.vectors(chosen), len(self.starts), lambda some: self.vectors(chosen[some])), chosen

    def _verified(self, queries: Sparse, rows: Array, places: Array, radius: float) -> tuple[Array, Array, Array]:
        distinct, which = np.unique(places, return_inverse=True)
        theirs = self.vectors(distinct)
        squared = squared_distances(
            queries.starts, queries.dimensions, queries.weights, rows,
            theirs.starts, theirs.dimensions, theirs.weights, which,
        )  # fmt: skip
        near = squared <= radius * radius
        return rows[near], places[near], squared[near]


def lists_of(vectors: Sparse, dimension: int, made: Callable[[Array], Sparse]) -> DimensionLists:
    """The lists of some vectors, in memory."""
    lengths = np.zeros((dimension, blocks_of(len(vectors))), np.int64)
    count_lists(vectors.starts, vectors.dimensions, 0, lengths)
    starts = list_starts(lengths)
    postings = np.empty(starts[-1, -1], np.uint16)
    fill_lists(vectors.starts, vectors.dimensions, vectors.weights, 0, starts[:, 0].copy(), postings)
    return DimensionLists(starts, postings, coded_scales(largest_weights(vectors.starts, vectors.weights)), made)
