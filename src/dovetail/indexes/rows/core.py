"""Shared by building and querying: how a row is laid out.

A cell is the place of its token in the column's set, by token id, plus one; 0 is null. It takes as few bits as the
column's set needs. The cells of a row lie together in the order of the columns, the rows of a table after each other:
checking a candidate row reads one place in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail._types import Array


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
