"""Builds the rows pack of a segment in bounded memory.

Chunks wait, in memory or on disk, until the dictionary is written: only then has a token its place in a set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._storage.spill import Records, write_records
from dovetail._types import Array
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.rows import format as rows_format
from dovetail.indexes.rows.format import RowLayout, RowPackWriter
from dovetail.indexes.rows.kernels import write_cells
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.query import TokenReader

_TYPES = {"tokens": pa.large_string(), "codes": pa.int32()}
_AT_ONCE = 1 << 24  # bytes of chunks that are processed together: many small ones, or one


@dataclass(frozen=True)
class _Held:
    """A chunk in memory, or the number of one in a file."""

    rows: int
    nbytes: int
    chunk: ColumnChunk | None = None
    file: Records | None = None
    number: int = 0

    def content(self) -> tuple[pa.Array, Array]:
        """Tokens and codes."""
        if self.chunk is not None:
            return self.chunk.tokens, self.chunk.codes
        assert self.file is not None
        tokens, codes = self.file[self.number]
        return tokens, codes.to_numpy()


@dataclass(frozen=True)
class Spill:
    """A file of chunks, and the column of each."""

    path: Path
    columns: list[int]


class RowsBuilder:
    """Keeps the chunks of every column, codes in as few bytes as can be; on disk where they outgrow the memory."""

    def __init__(self, scratch: Path, memory_bytes: int) -> None:
        self._scratch = scratch
        self._memory_bytes = memory_bytes
        self._columns: dict[int, list[_Held]] = {}
        self._in_memory: list[tuple[int, int]] = []
        self._bytes = 0
        self._spills: list[Spill] = []

    def add(self, chunk: ColumnChunk) -> None:
        chunk = replace(chunk, codes=chunk.codes.astype(np.min_scalar_type(-max(1, len(chunk.tokens)))))
        size = chunk.tokens.nbytes + chunk.codes.nbytes
        column = self._columns.setdefault(chunk.column, [])
        self._in_memory.append((chunk.column, len(column)))
        column.append(_Held(len(chunk.codes), size, chunk))
        self._bytes += size
        if self._bytes > self._memory_bytes:
            self._spill()

    def spilled(self) -> list[Spill]:
        """Files with all chunks in order."""
        if self._in_memory:
            self._spill()
        return self._spills

    def add_spilled(self, spill: Spill) -> None:
        """Chunks that another builder has spilled."""
        file = Records(spill.path)
        for number, column in enumerate(spill.columns):
            tokens, codes = file[number]
            held = _Held(len(codes), tokens.nbytes + codes.nbytes, file=file, number=number)
            self._columns.setdefault(column, []).append(held)

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        first_columns = running_sum(np.array(widths, np.int64))
        tables = [
            _Table(first, [self._columns.get(column, []) for column in range(first, last)])
            for first, last in itertools.pairwise(first_columns.tolist())
        ]
        tokens = TokenReader(writer)
        writer.write_part(
            rows_format.NAME, rows_format.VERSION, lambda pack: _write(pack, tokens, first_columns, tables)
        )
        cells = sum(table.rows * len(table.columns) for table in tables)
        return {"cells": cells}

    def _spill(self) -> None:
        path = self._scratch / f"rows-{len(self._spills)}.arrow"
        write_records(path, _TYPES, (self._columns[column][number].content() for column, number in self._in_memory))
        self._spills.append(Spill(path, [column for column, _ in self._in_memory]))
        file = Records(path)
        for place, (column, number) in enumerate(self._in_memory):
            held = self._columns[column][number]
            self._columns[column][number] = _Held(held.rows, held.nbytes, file=file, number=place)
        self._in_memory, self._bytes = [], 0


@dataclass(frozen=True)
class _Table:
    """The chunks of a table, by column. All columns are cut at the same rows."""

    first_column: int
    columns: list[list[_Held]]

    @property
    def rows(self) -> int:
        return sum(held.rows for held in self.columns[0]) if self.columns else 0

    def blocks(self) -> Iterator[list[tuple[int, _Held]]]:
        """Some rows of all columns at a time."""
        for chunks in zip(*self.columns, strict=True):
            if len({held.rows for held in chunks}) > 1:
                raise ValueError(f"the columns from {self.first_column} on are not cut at the same rows")
            yield list(enumerate(chunks, self.first_column))


def _write(pack: PackWriter, tokens: TokenReader, first_columns: Array, tables: list[_Table]) -> None:
    layout = RowLayout.of(first_columns, tokens.set_sizes())
    out = RowPackWriter(pack, first_columns, np.array([table.rows for table in tables], np.int64), layout)
    place_of = np.empty(tokens.arrays.tokens, np.uint32)
    held: list[list[tuple[int, _Held]]] = []
    size = 0
    for block in itertools.chain.from_iterable(table.blocks() for table in tables):
        held.append(block)
        size += sum(chunk.nbytes for _, chunk in block)
        if size >= _AT_ONCE:
            _write_cells(out, held, tokens, layout, place_of)
            held, size = [], 0
    if held:
        _write_cells(out, held, tokens, layout, place_of)


def _write_cells(
    out: RowPackWriter,
    blocks: list[list[tuple[int, _Held]]],
    tokens: TokenReader,
    layout: RowLayout,
    place_of: Array,
) -> None:
    """Write the cells of consecutive blocks of rows."""
    strides = [int(layout.strides[layout.table_of[block[0][0]]]) for block in blocks]
    bits = sum(stride * block[0][1].rows for stride, block in zip(strides, blocks, strict=True))
    cells, at = out.room(bits)
    places = []
    for stride, block in zip(strides, blocks, strict=True):
        places += [(column, at + layout.offsets[column], stride) for column, _ in block]
        at += stride * block[0][1].rows
    contents = [chunk.content() for block in blocks for _, chunk in block]
    found = tokens.find(pa.concat_arrays([strings for strings, _ in contents]))
    write_cells(
        cells,
        np.array(places, np.int64),
        running_sum(np.array([len(strings) for strings, _ in contents], np.int64)),
        found,
        running_sum(np.array([len(codes) for _, codes in contents], np.int64)),
        np.concatenate([codes for _, codes in contents]).astype(np.int32, copy=False),
        tokens.arrays.set_group_offsets,
        tokens.arrays.set_groups,
        tokens.arrays.group_tokens,
        place_of,
    )
    out.write(cells, bits)
