"""What a user searches with: a file, a frame, some values or a table of the lake, as columns of tokens."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import count_values
from dovetail.errors import InputError, UnknownName, UnreadableTable, unknown
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.lake.layout import Layout, distinct_names
from dovetail.lake.reader import detect_layout, read
from dovetail.lake.strings import flat_names, string_batch
from dovetail.normalise import ColumnType, decide, tokens
from dovetail.tables.frames import to_arrow


@dataclass(frozen=True)
class QueryColumn:
    """The distinct tokens of a column of mine, in how many rows each stands, and how I wrote it first."""

    name: str
    type: ColumnType
    rows: int
    tokens: pa.LargeStringArray
    counts: Array
    written: pa.LargeStringArray
    codes: Callable[[], Array]  # for every row the place of its token, -1 for null

    @property
    def size(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class QueryTable:
    """A table of mine. `path` is where its file is, so that it is not found as a hit of itself."""

    name: str
    path: str
    rows: int
    columns: tuple[QueryColumn, ...]

    def column(self, name: str) -> QueryColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName(unknown(f"{self.name} has no column", name, [column.name for column in self.columns]))


def query_table(data: Any, segments: Sequence[OpenSegment]) -> QueryTable:
    """The query of a path, the id of a table of the lake, a frame (pandas, polars, Arrow), a dict or some values."""
    if isinstance(data, str | Path):
        return _of_path(Path(data)) if Path(data).is_file() else _of_lake(str(data), segments)
    return of_batches("query", "", as_batches(data))


def as_batches(data: Any) -> list[pa.RecordBatch]:
    """A frame or some values as batches of raw strings."""
    table = to_arrow(data)
    columns = distinct_names(flat_names(table.schema))
    batches = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return [string_batch(batch, tuple(columns)) for batch in batches]


def of_batches(name: str, path: str, batches: list[pa.RecordBatch]) -> QueryTable:
    table = pa.Table.from_batches(batches)
    columns = (query_column(title, table.column(number)) for number, title in enumerate(table.column_names))
    return QueryTable(name, path, table.num_rows, tuple(columns))


def read_file(path: Path, layout: Layout | None = None) -> list[pa.RecordBatch]:
    """A file's rows as batches of raw strings; the reason as a sentence where it is no table."""
    try:
        layout = layout or detect_layout(path)
        empty = pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in layout.columns], list(layout.columns))
        return list(read(path, layout)) or [empty]
    except UnreadableTable as reason:
        raise InputError(f"{path} cannot be read: {reason}.") from reason


def _of_path(path: Path) -> QueryTable:
    return of_batches(path.name, str(path.resolve()), read_file(path))


def _of_lake(name: str, segments: Sequence[OpenSegment]) -> QueryTable:
    segment, number = find_table(segments, name, "There is no file, and the index has no table")
    record = segment.catalog.table(number)
    columns = []
    for column, place in zip(segment.catalog.columns_of(number), segment.catalog.column_range(number), strict=True):
        ids, counts = segment.tokens.set_of(place)
        found = segment.tokens.tokens(ids)
        rows = functools.partial(segment.rows.codes, place)
        columns.append(
            QueryColumn(column.column, column.type, record.rows, found, counts.astype(np.int64), found, rows)
        )
    return QueryTable(name, record.path, record.rows, tuple(columns))


def query_column(name: str, values: pa.ChunkedArray) -> QueryColumn:
    counted: RawCounts = count_values(values)
    column_type = decide(counted.evidence)
    found = tokens(counted.folded, column_type)
    encoded = found.cast(pa.large_string()).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy()
    valid = np.flatnonzero(codes >= 0)
    totals = np.bincount(codes[valid], weights=counted.counts[valid], minlength=len(encoded.dictionary))
    _, first = np.unique(codes[valid], return_index=True)
    written = counted.values.take(pa.array(valid[first]))
    rows = functools.partial(_rows, codes, counted.codes)
    return QueryColumn(name, column_type, len(values), encoded.dictionary, totals.astype(np.int64), written, rows)


def _rows(token_of: Array, raw: Array) -> Array:
    """Tokens of rows from tokens of raw values and raw values of rows."""
    found: Array = np.append(token_of, -1)[raw]
    return found
