"""Range search over sparse vectors: candidates from lists, then distances in float64 of vectors made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Array
from dovetail.indexes.pexeso.sparse_kernels import candidates, fill_lists, squared_distances
from dovetail.indexes.tokens.format import running_sum

_ROOM = 1 << 20  # candidates that are held at a time


@dataclass(frozen=True)
class Lists:
    """Texts by the dimensions of their vectors. `vectors` makes those of some places."""

    starts: Array
    places: Array
    weights: Array
    vectors: Callable[[Array], Sparse]

    def within(self, queries: Sparse, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        """Queries, places and squared distances of all pairs at most `radius` apart; by query."""
        least = 1.0 - radius * radius / 2.0
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        first = 0
        while first < len(queries):
            rest = queries.starts[first:]
            rows, places, done = candidates(
                rest, queries.dimensions, queries.weights, self.starts, self.places, self.weights, allowed, least, _ROOM
            )
            found.append(self._verified(queries, rows + first, places, radius))
            first += done
        mine, places, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return mine, places, squared

    def restricted(self, allowed: Array) -> tuple[Lists, Array]:
        """Lists of the allowed texts alone, and their places here."""
        chosen = np.flatnonzero(allowed)
        return lists_of(self.vectors(chosen), len(self.starts) - 1, lambda some: self.vectors(chosen[some])), chosen

    def _verified(self, queries: Sparse, rows: Array, places: Array, radius: float) -> tuple[Array, Array, Array]:
        distinct, which = np.unique(places, return_inverse=True)
        theirs = self.vectors(distinct)
        squared = squared_distances(
            queries.starts, queries.dimensions, queries.weights, rows,
            theirs.starts, theirs.dimensions, theirs.weights, which,
        )  # fmt: skip
        near = squared <= radius * radius
        return rows[near], places[near], squared[near]


def lists_of(vectors: Sparse, dimension: int, made: Callable[[Array], Sparse]) -> Lists:
    """The lists of some vectors, in memory."""
    starts = running_sum(np.bincount(vectors.dimensions, minlength=dimension))
    places, weights = np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.uint8)
    fill_lists(vectors.starts, vectors.dimensions, vectors.weights, 0, 0, starts[:-1].copy(), places, weights)
    return Lists(starts, places, weights, made)
