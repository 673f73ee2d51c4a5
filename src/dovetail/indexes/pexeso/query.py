"""Asking the pexeso pack of one segment: which values lie near to mine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Array, Vectors
from dovetail.indexes.pexeso.dense import Clusters
from dovetail.indexes.pexeso.format import NAME, PexesoArrays
from dovetail.indexes.pexeso.kernels import groups_of_columns
from dovetail.indexes.pexeso.sparse import Lists
from dovetail.indexes.tokens import TokenReader

_FEW = 8  # a share of one in so many texts is worth lists of its own


@dataclass(frozen=True)
class Matches:
    """Pairs of a query and a token that lie near, by query, and how far apart: as a share of the greatest distance."""

    queries: Array
    tokens: Array
    distances: Array

    @classmethod
    def joined(cls, parts: list[Matches]) -> Matches:
        """All of them, by query, then by token."""
        queries, tokens, distances = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("queries", "tokens", "distances")
        )
        order = np.lexsort((tokens, queries))
        return cls(queries[order], tokens[order], distances[order])


class PexesoReader:
    """The texts of one segment, by their vectors."""

    def __init__(self, segment: Segment) -> None:
        self.arrays = PexesoArrays(segment.pack(NAME))
        self.tokens = TokenReader(segment)
        self.space = self.arrays.space

    @property
    def texts(self) -> int:
        return self.arrays.texts

    def near(self, vectors: Vectors, tau: float, columns: Array) -> Matches:
        """Every token of some columns (a mask) that lies within `tau` of a query's vector. Exact."""
        radius = self.space.radius(tau)
        rows, places, squared = self._within(vectors, radius, self._of_columns(columns))
        distances = self.space.told(squared)
        near = distances <= tau
        return Matches(rows[near], self.arrays.text_tokens[places[near]].astype(np.int64), distances[near])

    def equal(self, tokens: pa.Array) -> Matches:
        """The tokens that are the same as the queries', where any column of the segment has them."""
        ids = self.tokens.find(tokens)
        known = np.flatnonzero(ids >= 0)
        return Matches(known, ids[known], np.zeros(len(known)))

    def _within(self, vectors: Vectors, radius: float, allowed: Array) -> tuple[Array, Array, Array]:
        # Rounding may not lose a pair at the very edge: the told distance decides.
        radius *= 1.0 + 1e-9
        if not isinstance(vectors, Sparse):
            return Clusters(self.arrays).within(vectors, radius, allowed)
        lists = self._lists
        if np.count_nonzero(allowed) * _FEW > self.texts:
            return lists.within(vectors, radius, allowed)
        few, chosen = lists.restricted(allowed)
        rows, places, squared = few.within(vectors, radius, np.ones(len(chosen), bool))
        return rows, chosen[places], squared

    @property
    def _lists(self) -> Lists:
        arrays = self.arrays
        return Lists(
            arrays.list_starts, arrays.list_places, arrays.list_weights,
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
