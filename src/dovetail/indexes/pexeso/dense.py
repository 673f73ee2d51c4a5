"""Range search over dense vectors: clusters that are near enough, heads by a matrix product, then float64."""

from __future__ import annotations

import numpy as np

from dovetail.indexes.pexeso.clusters import heads_of
from dovetail.indexes.pexeso.core import Array
from dovetail.indexes.pexeso.format import PexesoArrays

_SLACK = 1e-4  # of distances of heads, for float32
_PAIRS = 1 << 17  # whose vectors are compared at a time


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
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        rows, places, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((places, rows))
        return rows[order], places[order], squared[order]

    def _near(
        self, queries: Array, heads: Array, rows: Array, places: Array, radius: float
    ) -> tuple[Array, Array, Array]:
        theirs = self._arrays.heads[places]
        # Heads have length 1 as their vectors do: near means a large product.
        least = np.float32(1.0 - (radius + _SLACK) ** 2 / 2.0 - _SLACK)
        mine, other = np.nonzero(heads[rows] @ theirs.T >= least)
        return near_pairs(queries, self._arrays.vectors, rows[mine], places[other], radius)


def near_pairs(queries: Array, vectors: Array, mine: Array, other: Array, radius: float) -> tuple[Array, Array, Array]:
    """The pairs at most `radius` apart and their squared distances, in float64."""
    squared = np.empty(len(mine))
    for start in range(0, len(mine), _PAIRS):
        part = slice(start, start + _PAIRS)
        difference = queries[mine[part]].astype(np.float64) - vectors[other[part]]
        squared[part] = np.einsum("ij,ij->i", difference, difference)
    near = squared <= radius * radius
    return mine[near], other[near], squared[near]
