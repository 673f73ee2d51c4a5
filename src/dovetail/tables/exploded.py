"""A table with a row for each part of a column's cells: joining it is joining by parts."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.indexes.lists.index import LISTS
from dovetail.indexes.open_segment import OpenSegment
from dovetail.normalise.parts import find_separator, split_cells
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable


class Exploded(NamedTuple):
    """A table in which each row is repeated for each part of its cell, and the row that each comes from."""

    table: InputTable
    rows: Array


def separator_of(column: InputColumn) -> str | None:
    """What separates several values in the cells of a column; None where each cell is one value."""
    return find_separator(column.tokens) if column.is_text and column.size else None


def list_separator(segment: OpenSegment, column: int) -> str | None:
    """The same of a column of the lake, as far as its index knows."""
    if LISTS.name not in segment.segment.parts or not segment.lists.set_sizes()[column]:
        return None
    return find_separator(segment.tokens.tokens(segment.tokens.set_of(column)[0]))


def explode(table: InputTable, name: str, separator: str) -> Exploded:
    """The table by the parts of a column. Rows without a part stay, and join nothing; the text stays as it is."""
    cells = table.column(name)
    parts = split_cells(cells.tokens, separator)
    numbers = np.append(np.diff(parts.starts), 0)  # the last is for null, whose code is -1
    codes = cells.codes()
    repeats = np.maximum(numbers[codes], 1)
    rows = np.repeat(np.arange(table.rows), repeats)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    has_part = numbers[codes][rows] > 0
    of_rows = np.full(len(rows), -1, np.int64)
    of_rows[has_part] = parts.codes[parts.starts[codes[rows[has_part]]] + nth[has_part]]

    def read_column(other: str) -> InputColumn:
        column = table.column(other)
        if other != name:
            return _with_codes(column, column.codes()[rows])
        return _with_codes(replace(cells, type=parts.type, tokens=parts.tokens, written=parts.tokens), of_rows)

    def read_text() -> pa.Table:
        return table.text.take(pa.array(rows))

    return Exploded(InputTable(table.name, table.names, len(rows), read_text, read_column, id=table.id), rows)


def whole(table: InputTable) -> Exploded:
    """The table as it is."""
    return Exploded(table, np.arange(table.rows))


def _with_codes(column: InputColumn, codes: Array) -> InputColumn:
    """The column with other rows."""
    counts = np.bincount(codes[codes >= 0], minlength=column.size)
    return replace(column, rows=len(codes), counts=counts, codes=functools.partial(np.asarray, codes))
