"""The columns of all live tables, numbered over the whole lake, with what the filters and the ranking ask of them.

Numbers follow the segments; `rank` is the order by table and place, which does not depend on how the lake was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.indexes.tokens.format import running_sum
from dovetail.search.lake import OpenSegment

Array = npt.NDArray[Any]

_FIELDS = (
    "table", "column", "kind", "rows", "nulls", "distinct", "minimum", "maximum", "mean_length", "max_length",
)  # fmt: skip


class LakeColumns:
    """Arrays by column number. Dead columns have numbers too, so that a number is an offset plus a segment's own."""

    def __init__(self, segments: Sequence[OpenSegment]) -> None:
        self.segments = segments
        parts = [segment.catalog.columns.select(_FIELDS) for segment in segments]
        self.offsets = running_sum(np.array([part.num_rows for part in parts], np.int64))
        self._catalog = pa.concat_tables(parts) if parts else None
        first_tables = running_sum(np.array([len(segment.names) for segment in segments], np.int64))
        self.table_of = _joined([s.table_of + first for s, first in zip(segments, first_tables[:-1], strict=True)])
        self.table_names = pa.array([name for segment in segments for name in segment.names], pa.string())
        self.alive = _joined([segment.alive for segment in segments]).astype(bool)[self.table_of]
        self.kinds = self._field("kind").to_numpy(zero_copy_only=False)
        self.rows, self.nulls, self.distinct = (self._number(name) for name in ("rows", "nulls", "distinct"))

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def _field(self, name: str) -> pa.Array:
        if self._catalog is None:
            return pa.array([], pa.string())
        return self._catalog[name].combine_chunks()

    def _number(self, name: str) -> Array:
        numbers: Array = self._field(name).cast(pa.float64() if name == "mean_length" else pa.int64()).to_numpy()
        return numbers

    @cached_property
    def names(self) -> pa.Array:
        return self._field("column")

    @cached_property
    def minimum(self) -> pa.Array:
        return self._field("minimum")

    @cached_property
    def maximum(self) -> pa.Array:
        return self._field("maximum")

    @cached_property
    def mean_length(self) -> Array:
        return self._number("mean_length")

    @cached_property
    def places(self) -> Array:
        """The place of each column in its table."""
        first = np.full(len(self.table_names), len(self), np.int64)
        np.minimum.at(first, self.table_of, np.arange(len(self)))
        return np.arange(len(self)) - first[self.table_of]

    @cached_property
    def rank(self) -> Array:
        """The place of each column where all are ordered by table and place in it."""
        order = pc.sort_indices(self.table_names).to_numpy()
        table_rank = np.empty(len(order), np.int64)
        table_rank[order] = np.arange(len(order))
        ranks = np.empty(len(self), np.int64)
        ranks[np.lexsort((np.arange(len(self)), table_rank[self.table_of]))] = np.arange(len(self))
        return ranks

    @property
    def unique(self) -> Array:
        """Whether no two rows have the same value; nulls aside."""
        return (self.distinct > 0) & (self.distinct == self.rows - self.nulls)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
