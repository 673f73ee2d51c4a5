"""Where the tables of a new segment come from: files that fit into memory, staged slices, or segments that exist.

Each kind can feed its columns to the builders and tell their profiles; who builds does not know the difference.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.kernels import count_codes
from dovetail.catalog.profile import RawColumn, TokenCounts, count_values, places_of, profile_column
from dovetail.catalog.records import CatalogReader, ColumnRecord, TableRecord
from dovetail.errors import UnreadableTable
from dovetail.indexes.rows import RowReader
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.listing import TableFile, fingerprint
from dovetail.lake.reader import detect_layout, parse_override, read
from dovetail.normalise import TypeEvidence

Emit = Callable[[int, TokenCounts], None]
CHANGED = "changed while it was read, three times"
_ATTEMPTS = 3
_ROWS_AT_ONCE = 1_000_000
_PORTION_BYTES = 64_000_000  # of text held as rows; what compresses well may be far larger than its file


class TableSource(Protocol):
    """A table on its way into a segment."""

    @property
    def record(self) -> TableRecord: ...

    def feed(self, emit: Emit) -> list[ColumnRecord]:
        """Give the tokens of column 0, 1, … to `emit`, in order; returns the columns' profiles."""
        ...


@dataclass
class RawTable:
    """A table read from the lake: whole, in slices, or not at all (then it has an error and no columns)."""

    record: TableRecord
    columns: list[RawColumn]

    def feed(self, emit: Emit) -> list[ColumnRecord]:
        return [profile_column(column, functools.partial(emit, n)) for n, column in enumerate(self.columns)]


@dataclass
class IndexedTable:
    """A table of an existing segment, for compaction."""

    catalog: CatalogReader
    rows: RowReader
    number: int

    @property
    def record(self) -> TableRecord:
        return self.catalog.table(self.number)

    def feed(self, emit: Emit) -> list[ColumnRecord]:
        for place, column in enumerate(self.catalog.column_range(self.number)):
            members = self.rows.tokens.tokens(self.rows.tokens.set_of(column)[0])
            for first in range(0, self.rows.rows_of(self.number), _ROWS_AT_ONCE):
                codes = self.rows.codes(column, first, min(first + _ROWS_AT_ONCE, self.rows.rows_of(self.number)))
                emit(place, _counted(members, codes))
        return self.catalog.columns_of(self.number)


def _counted(members: pa.LargeStringArray, codes: Array) -> TokenCounts:
    """Some rows of a column, without the tokens that stand in none of them."""
    counts = count_codes(codes, len(members))
    if counts.all():
        return TokenCounts(members, counts, codes)
    present = counts > 0
    return TokenCounts(members.filter(pa.array(present)), counts[present], places_of(present)[codes])


def unreadable(file: TableFile, reason: str, mark: str) -> RawTable:
    """The record of a file that is no table. With an empty mark, the next run tries it again."""
    return RawTable(TableRecord(file.table, file.path, mark, file.bytes, error=reason), [])


def current_mark(file: TableFile) -> str:
    """The file's fingerprint now; empty where it is gone."""
    try:
        return fingerprint(Path(file.path).stat(), os.access(file.path, os.R_OK), file.dialect)
    except FileNotFoundError:
        return ""


def scan(file: TableFile) -> RawTable:
    """Read a whole table. A file that changes meanwhile is read again; never is a half of each indexed."""
    if file.refused:
        return unreadable(file, file.refused, file.fingerprint)
    for _ in range(_ATTEMPTS):
        before = current_mark(file)
        if not before:
            return unreadable(file, "vanished", "")
        found = _read_whole(file, before)
        if current_mark(file) == before:
            return found
    return unreadable(file, CHANGED, "")


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """A hostile file must not stop the run: whatever goes wrong while it is read becomes the reason in its record."""
    try:
        yield
    except UnreadableTable:
        raise
    except Exception as error:
        raise UnreadableTable(f"cannot be read ({type(error).__name__}: {error})") from error


def layout_of(file: TableFile) -> Layout:
    with recorded():
        return detect_layout(Path(file.path), parse_override(file.dialect) if file.dialect else None)


def counted_portions(
    file: TableFile, layout: Layout, part: Part, counter: RowCounter, portion_bytes: int
) -> Iterator[list[RawCounts]]:
    """The columns' distinct values, one list of columns for about every `portion_bytes` that are read."""
    held: list[pa.RecordBatch] = []
    with recorded():
        for batch in read(Path(file.path), layout, part, counter):
            held.append(batch)
            if sum(batch.nbytes for batch in held) >= portion_bytes:
                yield _count(held)
                held = []
    if held:
        yield _count(held)


def _count(batches: list[pa.RecordBatch]) -> list[RawCounts]:
    return [count_values(column) for column in pa.Table.from_batches(batches).columns]


def _read_whole(file: TableFile, mark: str) -> RawTable:
    counter = RowCounter()
    try:
        layout = layout_of(file)
        portions = list(counted_portions(file, layout, Part(), counter, _PORTION_BYTES))
    except UnreadableTable as reason:
        return unreadable(file, str(reason), mark)
    columns = [
        RawColumn(name, counter.rows, total_evidence(part.evidence for part in parts), functools.partial(iter, parts))
        for name, parts in zip(layout.columns, _by_column(portions, len(layout.columns)), strict=True)
    ]
    return RawTable(record_of(file, mark, layout, counter), columns)


def _by_column(portions: list[list[RawCounts]], columns: int) -> list[list[RawCounts]]:
    return [[portion[number] for portion in portions] for number in range(columns)]


def total_evidence(parts: Iterable[TypeEvidence]) -> TypeEvidence:
    return functools.reduce(TypeEvidence.__add__, parts, TypeEvidence())


def record_of(file: TableFile, mark: str, layout: Layout, counter: RowCounter) -> TableRecord:
    return TableRecord(
        file.table,
        file.path,
        mark,
        file.bytes,
        counter.rows,
        layout=json.dumps(layout.to_json()),
        ragged_rows=counter.ragged,
        unclosed_quotes=counter.literal,
    )
