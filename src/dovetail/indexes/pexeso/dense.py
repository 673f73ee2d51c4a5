"""Range search over dense vectors: those of near clusters or all, by a product in float32, then in float64."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.indexes.pexeso.core import heads_of
from dovetail.indexes.pexeso.format import PexesoArrays

_QUERIES = 1_024  # multiplied with all vectors at a time: 4 KB of products for each vector
_PAIRS = 1 << 17  # compared in float64 at a time: 256 MB at 256 dimensions
_SLACK = 1e-4  # on products and distances in float32: far above their rounding errors


class Clusters:
    """Texts in clusters; only those near to a query are read from the mapped file."""

    def __init__(self, arrays: PexesoArrays) -> None:
        self._arrays = arrays
        self.texts = arrays.texts

    def within(self, queries: Array, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        """Queries, places and squared distances of all pairs at most `radius` apart; by query."""
        arrays = self._arrays
        heads = heads_of(queries, arrays.basis)
        far = np.linalg.norm(heads[:, None, :] - arrays.centres[None], axis=2) if len(queries) else np.zeros((0, 0))
        reached = far <= arrays.radii + radius + _SLACK
        found = []
        for cluster in range(len(arrays.radii)):
            rows = np.flatnonzero(reached[:, cluster])
            first, last = int(arrays.cluster_starts[cluster]), int(arrays.cluster_starts[cluster + 1])
            places = first + np.flatnonzero(allowed[first:last])
            if len(rows) and len(places):
                found.append(self._near(queries, heads, rows, places, radius))
        return _by_query(found)

    def among(self, queries: Array, radius: float, places: Array) -> tuple[Array, Array, Array]:
        """The same for the texts at some places, all of which are read."""
        heads = heads_of(queries, self._arrays.basis)
        return _by_query([self._near(queries, heads, np.arange(len(queries)), places, radius)])

    def _near(
        self, queries: Array, heads: Array, rows: Array, places: Array, radius: float
    ) -> tuple[Array, Array, Array]:
        theirs = self._arrays.heads[places]
        # Heads have length 1 as their vectors do: near means a large product.
        least = np.float32(1.0 - (radius + _SLACK) ** 2 / 2.0 - _SLACK)
        mine, other = np.nonzero(heads[rows] @ theirs.T >= least)
        return _near_pairs(queries, self._arrays.vectors, rows[mine], places[other], radius)


def _by_query(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, places, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((places, rows))
    return rows[order], places[order], squared[order]


def _near_pairs(queries: Array, vectors: Array, mine: Array, other: Array, radius: float) -> tuple[Array, Array, Array]:
    """The pairs at most `radius` apart and their squared distances, in float64."""
    squared = squared_dense(queries, vectors, mine, other)
    near = squared <= radius * radius
    return mine[near], other[near], squared[near]


def squared_dense(queries: Array, vectors: Array, mine: Array, other: Array) -> Array:
    """The squared distances of pairs, in float64."""
    squared = np.empty(len(mine))
    for start in range(0, len(mine), _PAIRS):
        part = slice(start, start + _PAIRS)
        difference = queries[mine[part]].astype(np.float64) - vectors[other[part]]
        squared[part] = np.einsum("ij,ij->i", difference, difference)
    return squared


def within_dense(queries: Array, vectors: Array, radius: float) -> tuple[Array, Array, Array]:
    """The same of vectors in memory, all of which are compared."""
    least = np.float32(1.0 - radius * radius / 2.0 - _SLACK)
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for first in range(0, len(queries), _QUERIES):
        mine, others = np.nonzero(queries[first : first + _QUERIES] @ vectors.T >= least)
        found.append(_near_pairs(queries, vectors, mine + first, others, radius))
    mine, others, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return mine, others, squared
