"""The arrays of the rows pack, their writer and their reader side by side.

first_columns   the first column of each table, and the end of the last one's
first_rows      how many rows come before each table, and in all
cells           for every table its rows, for every row its cells

A cell is the place of its token in the column's set, by token id, plus one; 0 is null. It takes as few bits as the
column's set needs. The cells of a row lie together in the order of the columns, the rows of a table after each other:
checking a candidate row reads one place in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.errors import IndexDamaged

NAME = "rows"
VERSION = 2


@dataclass(frozen=True)
class RowLayout:
    """Where cells are: `offsets[c]` is the place of column c in a row, `widths[c]` its bits, `strides[t]` a row's."""

    table_of: Array
    offsets: Array
    widths: Array
    strides: Array

    @classmethod
    def of(cls, first_columns: Array, set_sizes: Array) -> RowLayout:
        """From where the columns of each table begin (and the last end), and how many tokens each column has."""
        widths = np.searchsorted(1 << np.arange(33), set_sizes, side="right").astype(np.int64)
        ends = np.concatenate([[0], np.cumsum(widths)])
        table_of = np.repeat(np.arange(len(first_columns) - 1), np.diff(first_columns))
        return cls(table_of, ends[:-1] - ends[first_columns[table_of]], widths, np.diff(ends[first_columns]))


class RowPackWriter:
    """Takes cells block by block."""

    def __init__(self, pack: PackWriter, first_columns: Array, rows: Array, layout: RowLayout) -> None:
        pack.add("first_columns", first_columns)
        pack.add("first_rows", np.concatenate([[0], np.cumsum(rows)]).astype(np.int64))
        bits = int(rows @ layout.strides)
        self._cells = pack.reserve("cells", "uint64", _words(bits))
        self._written = 0  # bits
        self._last = np.uint64(0)  # the word that they end in

    def room(self, bits: int) -> tuple[Array, int]:
        """Words for so many bits that follow those already written, and at which bit of them to begin."""
        begin = self._written & 63
        words = np.zeros(_words(begin + bits), np.uint64)
        words[0] = self._last
        return words, begin

    def write(self, words: Array, bits: int) -> None:
        """What `room` gave, filled."""
        self._cells.write(words, self._written >> 6)
        self._written += bits
        self._last = words[(self._written >> 6) - ((self._written - bits) >> 6)]


def _words(bits: int) -> int:
    """Words of 64 bits, and one more, so that reading two at a time stays within."""
    return (bits >> 6) + 2


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
        """The bit at which the cells of each table begin."""
        if _words(int(self.starts[-1])) != len(self.cells):
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
