"""Top-k overlap search in one segment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.indexes.josie import kernels
from dovetail.indexes.josie.core import ColumnSets, OverlapMatches, OverlapWork, PostingLists, Scratch
from dovetail.indexes.josie.format import NAME, JosieArrays
from dovetail.indexes.tokens.query import TokenReader

_NO_MASK = np.empty(0, np.bool_)


class JosieReader:
    """Exact top-k overlap search over the columns of one segment. Column numbers are the segment's own."""

    def __init__(self, segment: Segment) -> None:
        arrays = JosieArrays(segment.pack(NAME))
        self.tokens = TokenReader(segment)
        self.costs = arrays.costs
        tokens = self.tokens.arrays
        arrays.require_items(len(tokens.posting_columns))
        self._postings = PostingLists(tokens.posting_offsets, tokens.posting_columns, arrays.positions)
        self._sets = ColumnSets(tokens.set_group_offsets, tokens.set_groups, tokens.set_offsets, tokens.group_tokens)
        self._free: list[Scratch] = []  # as many as there were searches at once; list.pop and append are atomic

    def query_groups(self, tokens: pa.Array) -> tuple[Array, Array, Array]:
        """The distinct groups of the tokens, ascending, how many tokens lie in each, and the ids of all, ascending."""
        return self.tokens.grouped(tokens)

    def overlap_with(self, tokens: pa.Array, column: int) -> int:
        """How many distinct tokens the column shares with these."""
        groups, weights, _ = self.query_groups(tokens)
        return int(kernels.overlap(self._sets, groups, weights, column))

    def search(
        self,
        tokens: pa.Array,
        k: int,
        floor: int = 1,
        allowed: npt.NDArray[np.bool_] | None = None,
        kernel: Callable[..., int] = kernels.search,
    ) -> OverlapMatches:
        """All allowed columns whose overlap is at least `floor` and at least the k-th largest; ties are all there.

        `kernel` is one with the arguments of `kernels.search`.
        """
        return self.search_groups(*self.query_groups(tokens)[:2], k, floor, allowed, kernel)

    def search_groups(
        self,
        groups: Array,
        weights: Array,
        k: int,
        floor: int = 1,
        allowed: npt.NDArray[np.bool_] | None = None,
        kernel: Callable[..., int] = kernels.search,
    ) -> OverlapMatches:
        """The same for a query whose groups are known."""
        columns = self.tokens.arrays.columns
        if k < 1 or floor < 1:
            raise ValueError(f"k and floor must be at least 1, not {k} and {floor}")
        if allowed is not None and len(allowed) != columns:
            raise ValueError(f"the mask has {len(allowed)} places for {columns} columns")
        mask = _NO_MASK if allowed is None else np.ascontiguousarray(allowed, np.bool_)
        work = np.zeros(4, np.int64)
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = Scratch.of(columns)
        most = max(1, min(k, columns))
        found = kernel(self._postings, self._sets, groups, weights, most, floor, mask, self.costs, scratch, work)
        overlaps, numbers = scratch.overlaps[:found].copy(), scratch.columns[:found].copy()
        self._free.append(scratch)
        order = np.lexsort((numbers, -overlaps))
        return OverlapMatches(numbers[order], overlaps[order], OverlapWork(*work.tolist()))
