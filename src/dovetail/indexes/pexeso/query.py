"""Range search over vectors: the texts of one segment, and vectors in memory for the join of two tables.

Sparse vectors: candidates from posting lists, then distances in float64 of vectors that are computed again. Dense ones:
the clusters near enough, heads by a matrix product, then float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid, dense_rows
from dovetail.indexes.pexeso.core import Space, TextVectors, Vectors, heads_of, radius_of
from dovetail.indexes.pexeso.format import NAME, PexesoArrays, blocks_of, list_starts
from dovetail.indexes.pexeso.kernels import (
    candidates,
    coded_scales,
    count_lists,
    fill_lists,
    groups_of_columns,
    largest_weights,
    squared_distances,
)
from dovetail.indexes.pexeso.partitions import Partitions
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.query import TokenReader
from dovetail.ways import AUTO, ChosenWay

_QUERIES = 1_024  # multiplied with all vectors at a time: 4 KB of products for each vector
_PAIRS = 1 << 17  # compared in float64 at a time: 256 MB at 256 dimensions
_ROOM = 1 << 20  # candidates held at a time: 16 MB
_FEW = 8  # below one allowed text in so many, these alone are searched; arbitrary, the answer does not depend on it
# Of `auto`, scored on lakes that they were not fitted to (benchmarks/semantic/constants.py).
_VALUES_A_GRID = 6_700  # values that cost as much to compare with all texts as it costs to make a grid, about
_LEFT = 0.008  # share of pairs that pivots leave, below which blocking is the cheaper way
_SLACK = 1e-4  # on products and distances in float32: far above their rounding errors


@dataclass(frozen=True)
class VectorMatches:
    """Pairs of a query and a token that match, by query, and how similar they are."""

    queries: Array
    tokens: Array
    similarities: Array

    @classmethod
    def joined(cls, parts: list[VectorMatches]) -> VectorMatches:
        """All of them, by query, then by token."""
        queries, tokens, similarities = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("queries", "tokens", "similarities")
        )
        order = np.lexsort((tokens, queries))
        return cls(queries[order], tokens[order], similarities[order])


class PexesoReader:
    """The texts of one segment, by their vectors."""

    def __init__(self, segment: Segment) -> None:
        self.arrays = PexesoArrays(segment.pack(NAME))
        self.tokens = TokenReader(segment)
        self.space = self.arrays.space
        self.columns = self.tokens.arrays.columns
        self.dimension = self.arrays.dimension
        self.address = f"{segment.ref.id}-{segment.ref.checksum}"
        self._asked = 0  # values so far
        self._grids: dict[tuple[int, int], ColumnGrid] = {}

    @property
    def texts(self) -> int:
        return self.arrays.texts

    def near(self, texts: TextVectors, matching: Matching, columns: Array) -> VectorMatches:
        """Every token of some columns (a mask) that matches a query. Exact."""
        radius = radius_of(matching.least_cosine)
        rows, places, squared = self._within(texts.vectors, radius, self._of_columns(columns))
        distinct, which = np.unique(places, return_inverse=True)
        words = self.space.words(self.tokens.tokens(self.arrays.text_tokens[distinct]))
        similarities, near = matching.similarities(squared, texts.words.relations(rows, words, which))
        tokens = self.arrays.text_tokens[places[near]].astype(np.int64)
        return VectorMatches(rows[near], tokens, similarities[near])

    def joinable(
        self,
        texts: TextVectors,
        weights: Array,
        matching: Matching,
        least: int,
        matched: Array,
        columns: Array,
        way: ChosenWay,
    ) -> Array:
        """Which of some columns (a mask) may have `least` rows with a match, by PEXESO as published; never too few.

        All of them where the way is `auto` and blocking costs more than it saves.
        A query counts as often as its weight says; `matched` are rows of each column that match already.
        """
        if not self.texts or not len(weights):
            return columns
        radius = radius_of(matching.least_cosine)
        vectors = texts.vectors
        dense = dense_rows(vectors, self.dimension) if isinstance(vectors, Sparse) else vectors
        if way.name == AUTO and not self._pays(dense, radius):
            return columns
        given = way.parameters
        if given.get("partitions"):
            parts = Partitions(self, given["partitions"], given["clustering"], given["pivots"], given["levels"])
            return parts.joinable(dense, weights, radius, least, matched, columns)[0]
        grid = self._grid(radius, given.get("pivots", 0), given.get("levels", 0))
        return grid.joinable(dense, weights, radius, least, matched, columns)[0]

    def _pays(self, queries: Array, radius: float) -> bool:
        """Whether blocking costs less than it saves, and the grid is there or has become worth making."""
        self._asked += len(queries)
        if self.arrays.is_sparse or self._asked < _VALUES_A_GRID:
            return False
        return self._grid(radius, 0, 0).share_left(queries, radius) < _LEFT

    def _grid(self, radius: float, pivots: int, levels: int) -> ColumnGrid:
        """Made when it is first asked for, and kept."""
        if (pivots, levels) not in self._grids:
            self._grids[pivots, levels] = ColumnGrid.of(
                self.vectors_of(slice(None)), self.dimension, self.columns_of(slice(None)), radius, pivots, levels
            )
        return self._grids[pivots, levels]

    def vectors_of(self, places: Array | slice) -> Vectors:
        """The vectors of the texts at some places."""
        if self.arrays.is_sparse:
            return self.space.sparse(self.tokens.tokens(self.arrays.text_tokens[places]))
        return self.arrays.vectors[places]

    def columns_of(self, places: Array | slice) -> tuple[Array, Array]:
        """The columns that hold each of these texts: offsets, and columns."""
        arrays = self.tokens.arrays
        groups = self._group_of[places]
        lengths = np.diff(arrays.posting_offsets)[groups]
        offsets = running_sum(lengths)
        inside = np.arange(offsets[-1]) + np.repeat(arrays.posting_offsets[groups] - offsets[:-1], lengths)
        return offsets, arrays.posting_columns[inside]

    def equal(self, tokens: pa.Array) -> VectorMatches:
        """The tokens that are the same as the queries', where any column of the segment has them."""
        ids = self.tokens.find(tokens)
        known = np.flatnonzero(ids >= 0)
        return VectorMatches(known, ids[known], np.ones(len(known)))

    def _within(self, vectors: Vectors, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        if not isinstance(vectors, Sparse):
            return Clusters(self.arrays).within(vectors, radius, allowed)
        lists = self._lists
        if np.count_nonzero(allowed) * _FEW > self.texts:
            return lists.within(vectors, radius, allowed)
        few, chosen = lists.restricted(allowed)
        rows, places, squared = few.within(vectors, radius, np.ones(len(chosen), bool))
        return rows, chosen[places], squared

    @property
    def _lists(self) -> DimensionLists:
        arrays = self.arrays
        return DimensionLists(
            arrays.list_starts, arrays.postings, arrays.scales,
            lambda places: self.space.sparse(self.tokens.tokens(arrays.text_tokens[places])),
        )  # fmt: skip

    def _of_columns(self, columns: Array) -> Array:
        """Which texts any of the columns holds."""
        if columns.all():
            return np.ones(self.texts, bool)
        arrays = self.tokens.arrays
        groups = groups_of_columns(columns, arrays.set_group_offsets, arrays.set_groups, arrays.groups)
        allowed: Array = groups[self._group_of]
        return allowed

    @cached_property
    def _group_of(self) -> Array:
        """The group of tokens that each text is in."""
        return np.searchsorted(self.tokens.arrays.group_tokens, self.arrays.text_tokens, side="right") - 1


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


class Clusters:
    """Texts in clusters; only those near to a query are read from the mapped file."""

    def __init__(self, arrays: PexesoArrays) -> None:
        self._arrays = arrays
        self.texts = arrays.texts

    def within(self, queries: Array, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        """Queries, places and squared distances of all pairs at most `radius` apart; by query."""
        arrays = self._arrays
        heads = heads_of(queries, arrays.basis)
        if np.count_nonzero(allowed) * _FEW <= self.texts:
            found = [self._near(queries, heads, np.arange(len(queries)), np.flatnonzero(allowed), radius)]
            return _by_query(found)
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

    def _near(
        self, queries: Array, heads: Array, rows: Array, places: Array, radius: float
    ) -> tuple[Array, Array, Array]:
        theirs = self._arrays.heads[places]
        # Heads have length 1 as their vectors do: near means a large product.
        least = np.float32(1.0 - (radius + _SLACK) ** 2 / 2.0 - _SLACK)
        mine, other = np.nonzero(heads[rows] @ theirs.T >= least)
        return near_pairs(queries, self._arrays.vectors, rows[mine], places[other], radius)


def _by_query(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, places, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((places, rows))
    return rows[order], places[order], squared[order]


def near_pairs(queries: Array, vectors: Array, mine: Array, other: Array, radius: float) -> tuple[Array, Array, Array]:
    """The pairs at most `radius` apart and their squared distances, in float64."""
    squared = _squared_dense(queries, vectors, mine, other)
    near = squared <= radius * radius
    return mine[near], other[near], squared[near]


def _squared_dense(queries: Array, vectors: Array, mine: Array, other: Array) -> Array:
    squared = np.empty(len(mine))
    for start in range(0, len(mine), _PAIRS):
        part = slice(start, start + _PAIRS)
        difference = queries[mine[part]].astype(np.float64) - vectors[other[part]]
        squared[part] = np.einsum("ij,ij->i", difference, difference)
    return squared


def similarities_of(one: TextVectors, other: TextVectors, mine: Array, theirs: Array, matching: Matching) -> Array:
    """The similarities of the pairs of texts at these places."""
    a, b = one.vectors, other.vectors
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        squared = squared_distances(
            a.starts, a.dimensions, a.weights, mine, b.starts, b.dimensions, b.weights, theirs
        )  # fmt: skip
    else:
        squared = _squared_dense(np.asarray(a), np.asarray(b), mine, theirs)
    return matching.similarities(squared, one.words.relations(mine, other.words, theirs))[0]


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
        return self._within_dense(np.asarray(queries), np.asarray(self._vectors), radius)

    def _within_dense(self, queries: Array, vectors: Array, radius: float) -> tuple[Array, Array, Array]:
        least = np.float32(1.0 - radius * radius / 2.0 - _SLACK)
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for first in range(0, len(queries), _QUERIES):
            mine, others = np.nonzero(queries[first : first + _QUERIES] @ vectors.T >= least)
            found.append(near_pairs(queries, vectors, mine + first, others, radius))
        mine, others, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return mine, others, squared


def weigh_by_idf(one: TextVectors, other: TextVectors, dimension: int) -> tuple[TextVectors, TextVectors]:
    """Sparse vectors of two sides weighted by inverse document frequency (rare dimensions weigh more), normalised."""
    mine, theirs = one.vectors, other.vectors
    if not (isinstance(mine, Sparse) and isinstance(theirs, Sparse)):
        return one, other
    # Of the side that has a dimension more often: what occurs once on each side is as rare as can be.
    counts = np.maximum(*(np.bincount(side.dimensions, minlength=dimension) for side in (mine, theirs)))
    factors = np.log1p(max(len(mine), len(theirs)) / np.maximum(counts, 1))
    return TextVectors(mine.weighted(factors), one.words), TextVectors(theirs.weighted(factors), other.words)
