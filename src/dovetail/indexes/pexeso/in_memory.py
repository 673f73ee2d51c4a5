"""Similar texts of two tables, for their join: vectors in memory, no index."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Space, TextVectors, Vectors, radius_of
from dovetail.indexes.pexeso.dense import squared_dense, within_dense
from dovetail.indexes.pexeso.kernels import squared_distances
from dovetail.indexes.pexeso.sparse import lists_of


class RangeSearcher:
    """Range search over texts in memory, for the join of two tables. Exact."""

    def __init__(self, texts: TextVectors, space: Space) -> None:
        self._texts = texts
        self._vectors = texts.vectors
        self._space = space

    def within(self, queries: TextVectors, matching: Matching) -> tuple[Array, Array, Array]:
        """Places of queries and of texts that match, by query, and how similar they are."""
        mine, places, squared = self.near(queries.vectors, matching.least_cosine)
        similarities, near = matching.similarities(squared, queries.words.relations(mine, self._texts.words, places))
        return mine[near], places[near], similarities[near]

    def near(self, queries: Vectors, least_cosine: float) -> tuple[Array, Array, Array]:
        """Places of queries and of texts whose vectors have this cosine or more, and their squared distances."""
        radius = radius_of(least_cosine)
        if isinstance(queries, Sparse) and isinstance(self._vectors, Sparse):
            lists = lists_of(self._vectors, self._space.embedder.dimension, self._vectors.take)
            return lists.within(queries, radius, np.ones(len(self._vectors), bool))
        return within_dense(np.asarray(queries), np.asarray(self._vectors), radius)


def similarities_of(one: TextVectors, other: TextVectors, mine: Array, theirs: Array, matching: Matching) -> Array:
    """The similarities of the pairs of texts at these places."""
    a, b = one.vectors, other.vectors
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        squared = squared_distances(
            a.starts, a.dimensions, a.weights, mine, b.starts, b.dimensions, b.weights, theirs
        )  # fmt: skip
    else:
        squared = squared_dense(np.asarray(a), np.asarray(b), mine, theirs)
    return matching.similarities(squared, one.words.relations(mine, other.words, theirs))[0]


def weigh_by_idf(one: TextVectors, other: TextVectors, dimension: int) -> tuple[TextVectors, TextVectors]:
    """Sparse vectors of two sides weighted by inverse document frequency (rare dimensions weigh more), normalised."""
    mine, theirs = one.vectors, other.vectors
    if not (isinstance(mine, Sparse) and isinstance(theirs, Sparse)):
        return one, other
    # Of the side that has a dimension more often: what occurs once on each side is as rare as can be.
    counts = np.maximum(*(np.bincount(side.dimensions, minlength=dimension) for side in (mine, theirs)))
    factors = np.log1p(max(len(mine), len(theirs)) / np.maximum(counts, 1))
    return TextVectors(mine.weighted(factors), one.words), TextVectors(theirs.weighted(factors), other.words)
