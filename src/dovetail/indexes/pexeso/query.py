"""Range search over the vectors of one segment's texts, sparse or dense."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid
from dovetail.indexes.pexeso.core import TextVectors, Vectors, radius_of
from dovetail.indexes.pexeso.dense import Clusters
from dovetail.indexes.pexeso.format import NAME, PexesoArrays
from dovetail.indexes.pexeso.kernels import groups_of_columns
from dovetail.indexes.pexeso.sparse import DimensionLists
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.query import TokenReader

_FEW = 8  # below one allowed text in so many, these alone are searched; arbitrary, the answer does not depend on it
# Scored on lakes that they were not fitted to (benchmarks/semantic/constants.py).
_VALUES_A_GRID = 6_700  # values that cost as much to compare with all texts as it costs to make a grid, about
_LEFT = 0.008  # share of pairs that pivots leave, below which blocking costs less


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
        self, texts: TextVectors, weights: Array, matching: Matching, least: int, matched: Array, columns: Array
    ) -> Array:
        """Which of some columns (a mask) may have `least` rows with a match, by block and verify; never too few.

        All of them where blocking costs more than it saves, as it always does with sparse vectors. A query counts as
        often as its weight says; `matched` are rows of each column that match already.
        """
        vectors, radius = texts.vectors, radius_of(matching.least_cosine)
        if isinstance(vectors, Sparse) or not self.texts or not len(weights) or not self._pays(vectors, radius):
            return columns
        return self.grid(radius).joinable(vectors, weights, radius, least, matched, columns)[0]

    def _pays(self, queries: Array, radius: float) -> bool:
        """Whether blocking costs less than it saves, and the grid is there or has become worth making."""
        self._asked += len(queries)
        return self._asked >= _VALUES_A_GRID and self.grid(radius).share_left(queries, radius) < _LEFT

    def grid(self, radius: float, pivots: int = 0, levels: int = 0) -> ColumnGrid:
        """Made when it is first asked for, and kept. Without |P| and m, the cost model chooses them."""
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
        few = np.count_nonzero(allowed) * _FEW <= self.texts
        if not isinstance(vectors, Sparse):
            clusters = Clusters(self.arrays)
            if few:
                return clusters.among(vectors, radius, np.flatnonzero(allowed))
            return clusters.within(vectors, radius, allowed)
        if not few:
            return self._lists.within(vectors, radius, allowed)
        lists, chosen = self._lists.restricted(allowed)
        rows, places, squared = lists.within(vectors, radius, np.ones(len(chosen), bool))
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
