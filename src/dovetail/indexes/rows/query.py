"""Reading rows back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._types import Array
from dovetail.indexes.rows.format import NAME, VERSION, RowArrays
from dovetail.indexes.rows.kernels import read_codes
from dovetail.indexes.tokens.query import TokenReader


class RowReader:
    """The rows of one segment's tables. Column and table numbers are the segment's own."""

    def __init__(self, segment: Segment | SegmentWriter) -> None:
        pack = segment.pack(NAME)
        pack.require(NAME, VERSION)
        self.tokens = TokenReader(segment)
        self.arrays = RowArrays(pack, self.tokens.set_sizes())

    def rows_of(self, table: int) -> int:
        return int(self.arrays.first_rows[table + 1] - self.arrays.first_rows[table])

    def codes(self, column: int, first: int = 0, last: int | None = None) -> npt.NDArray[np.int32]:
        """For some rows of a column the places of their tokens in `set_of(column)`; -1 for null."""
        arrays, layout = self.arrays, self.arrays.layout
        table = int(layout.table_of[column])
        stride = int(layout.strides[table])
        start = int(arrays.starts[table] + layout.offsets[column]) + first * stride
        rows = (self.rows_of(table) if last is None else last) - first
        found: Array = read_codes(arrays.cells, start, stride, int(layout.widths[column]), rows)
        return found
