"""Texts that are in no index, by their vectors: for the join of two tables."""

from __future__ import annotations

import numpy as np

from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Array, Space, Vectors
from dovetail.indexes.pexeso.dense import near_pairs
from dovetail.indexes.pexeso.sparse import lists_of

_QUERIES = 1_024  # whose products with all vectors are held at a time
_SLACK = 1e-4  # of products, for float32


class Near:
    """Some vectors, to be asked which of them lie near to others. Exact."""

    def __init__(self, vectors: Vectors, space: Space) -> None:
        self._vectors = vectors
        self._space = space

    def within(self, queries: Vectors, tau: float) -> tuple[Array, Array, Array]:
        """Places of queries and of vectors at most `tau` apart, by query, and their distances."""
        radius = self._space.radius(tau) * (1.0 + 1e-9)
        mine, places, squared = self._within(queries, radius)
        distances = self._space.told(squared)
        near = distances <= tau
        return mine[near], places[near], distances[near]

    def _within(self, queries: Vectors, radius: float) -> tuple[Array, Array, Array]:
        if isinstance(queries, Sparse) and isinstance(self._vectors, Sparse):
            lists = lists_of(self._vectors, self._space.embedder.dimension, self._vectors.take)
            return lists.within(queries, radius, np.ones(len(self._vectors), bool))
        return self._within_dense(np.asarray(queries), np.asarray(self._vectors), radius)

    def _within_dense(self, queries: Array, vectors: Array, radius: float) -> tuple[Array, Array, Array]:
        least = np.float32(1.0 - radius * radius / 2.0 - _SLACK)
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for first in range(0, len(queries), _QUERIES):
            mine, others = np.nonzero(queries[first : first + _QUERIES] @ vectors.T >= least)
            found.append(near_pairs(queries, vectors, mine + first, others, radius))
        mine, others, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return mine, others, squared


def by_rarity(one: Vectors, other: Vectors, dimension: int) -> tuple[Vectors, Vectors]:
    """Sparse vectors of two sides with rare dimensions weighing more: what most values have tells few of them apart."""
    if not (isinstance(one, Sparse) and isinstance(other, Sparse)):
        return one, other
    both = np.concatenate([one.dimensions, other.dimensions])
    factors = np.log1p((len(one) + len(other)) / np.maximum(np.bincount(both, minlength=dimension), 1))
    return one.weighted(factors), other.weighted(factors)
