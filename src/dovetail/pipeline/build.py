"""Builds one segment from tables: feeds the builders of the registry, and writes the catalog after the tokens.

Tables are files that fit into memory, staged slices, or come from segments that exist. Each kind can feed its columns
to the builders and tell their profiles; who builds does not know the difference.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import SegmentRef, SegmentWriter
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.kernels import count_codes
from dovetail.catalog.profile import RawColumn, TokenCounts, places_of, profile_column
from dovetail.catalog.records import CatalogReader, CatalogWriter, ColumnRecord, TableRecord
from dovetail.indexes.frozen import left_out
from dovetail.indexes.protocol import ColumnChunk, Frozen
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.rows.query import RowReader
from dovetail.indexes.tokens.index import TOKENS
from dovetail.lake.declared import NO_KEYS
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.lake.source import sibling
from dovetail.normalise import TypeEvidence

Emit = Callable[[int, TokenCounts], None]
_ROWS_AT_ONCE = 1_000_000  # of a column that is copied from segment to segment: 4 MB of codes


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
    """Some rows of a column, without the tokens that occur in none of them."""
    counts = count_codes(codes, len(members))
    if counts.all():
        return TokenCounts(members, counts, codes)
    present = counts > 0
    return TokenCounts(members.filter(pa.array(present)), counts[present], places_of(present)[codes])


def unreadable(file: TableFile, reason: str, fingerprint: str) -> RawTable:
    """The record of a file that is no table. With an empty fingerprint, the next run tries it again."""
    return RawTable(TableRecord(file.table, file.path, fingerprint, file.bytes, error=reason), [])


def total_evidence(parts: Iterable[TypeEvidence]) -> TypeEvidence:
    return functools.reduce(TypeEvidence.__add__, parts, TypeEvidence())


def record_of(file: TableFile, fingerprint: str, layout: Layout, counter: RowCounter) -> TableRecord:
    return TableRecord(
        file.table,
        file.path,
        fingerprint,
        file.bytes,
        counter.rows,
        layout=json.dumps(replace(layout, declared=NO_KEYS).to_json()),
        ragged_rows=counter.ragged,
        unclosed_quotes=counter.literal,
        declared=layout.declared.with_tables(functools.partial(sibling, file)),
    )


def build_segment(
    segments: Path,
    scratch: Path,
    tables: Iterable[TableSource],
    memory_bytes: int,
    frozen: Mapping[str, Frozen],
    tick: Callable[[], object],
) -> SegmentRef:
    """Write a segment of `tables` under `segments`; `tick` is called after each table."""
    without = left_out(frozen)
    writer = SegmentWriter(segments, without=without)
    catalog = CatalogWriter()
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as spilled:
        builders = [
            index.builder(Path(spilled), memory_bytes, frozen.get(index.name, {}))
            for index in INDEXES
            if index.name not in without
        ]
        for table in tables:
            first = catalog.columns

            def emit(column: int, found: TokenCounts, first: int = first) -> None:
                chunk = ColumnChunk(first + column, found.tokens, found.counts, found.codes)
                for builder in builders:
                    builder.add(chunk)

            catalog.add_table(table.record, table.feed(emit))
            tick()
        tokens, *others = builders
        counts = tokens.finish(writer, catalog.widths)
        distinct = np.diff(writer.pack(TOKENS.name).unpacked("set_offsets"))
        writer.write_part(records.NAME, records.VERSION, lambda pack: catalog.write(pack, distinct))
        for builder in others:
            counts |= builder.finish(writer, catalog.widths)
    return writer.finish(counts | catalog.counts())
