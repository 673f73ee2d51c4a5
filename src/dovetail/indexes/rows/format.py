"""The arrays of the rows pack, their writer and their reader side by side.

first_columns   the first column of each table, and the end of the last one's
first_rows      how many rows come before each table, and in all
cells           for every table its rows, for every row its cells (see core)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.rows.core import RowLayout

NAME = "rows"
VERSION = 1


class RowPackWriter:
    """Takes cells block by block."""

    def __init__(self, pack: PackWriter, first_columns: Array, rows: Array, layout: RowLayout) -> None:
        pack.add("first_columns", first_columns)
        pack.add("first_rows", np.concatenate([[0], np.cumsum(rows)]).astype(np.int64))
        self._cells = pack.reserve("cells", "uint8", int(rows @ layout.strides))
        self._written = 0

    def write(self, cells: Array) -> None:
        """The cells that follow those already written."""
        self._cells.write(cells, self._written)
        self._written += len(cells)


class RowArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack, set_sizes: Array) -> None:
        self.first_columns = pack["first_columns"]
        self.first_rows = pack["first_rows"]
        self.cells = pack["cells"]
        for problem in self._misfits(set_sizes):
            raise IndexDamaged(f"{pack.segment}/{pack.path.name} is damaged: {problem}.")
        self.layout = RowLayout.of(self.first_columns, set_sizes)
        self.starts = np.concatenate([[0], np.cumsum(np.diff(self.first_rows) * self.layout.strides)]).astype(np.int64)
        """Where the cells of each table begin."""
        if self.starts[-1] != len(self.cells):
            raise IndexDamaged(
                f"{pack.segment}/{pack.path.name} is damaged: its cells are not as many as its rows have."
            )

    def _misfits(self, set_sizes: Array) -> Iterator[str]:
        for name, end in (("first_columns", len(set_sizes)), ("first_rows", None)):
            offsets = getattr(self, name)
            if not len(offsets) or offsets[0] != 0 or np.any(np.diff(offsets) < 0) or end not in (None, offsets[-1]):
                yield f"{name} does not span its array"
        if len(self.first_columns) != len(self.first_rows):
            yield "its tables differ in number"
