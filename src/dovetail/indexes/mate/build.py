"""Builds the mate pack of a segment from its tokens and rows: super keys and row postings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.mate import format as mate_format
from dovetail.indexes.mate.core import ColumnGroups, Hashing, RowStore, SuperKeyParameters
from dovetail.indexes.mate.format import ENTRIES_A_SUM, MatePackWriter
from dovetail.indexes.mate.kernels import count_rows, fill_keys, fill_postings, sum_items
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.rows.query import RowReader
from dovetail.indexes.tokens.format import TokenArrays, running_sum

_MOST_ROWS = 1 << 20  # whose super keys are made at once: 16 MB at 128 bits
_LEAST_ROOM = 1 << 13  # tokens hashed at once, however little memory there is


class MateBuilder:
    """All that it needs is in the packs of tokens and rows, so it skips the chunks."""

    def __init__(self, memory_bytes: int, parameters: SuperKeyParameters) -> None:
        self._memory_bytes = memory_bytes
        self._parameters = parameters

    def add(self, chunk: ColumnChunk) -> None:
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        rows = RowReader(writer)
        writer.write_part(mate_format.NAME, mate_format.VERSION, lambda pack: self._write(pack, rows))
        return {}

    def _write(self, pack: PackWriter, rows: RowReader) -> None:
        tokens, store = rows.tokens.arrays, RowStore.of(rows.arrays)
        filled = rows.tokens.rows()
        ones = self._parameters.ones_of(mean_filled(filled, store))
        out = MatePackWriter(pack, self._parameters, ones, int(store.first_rows[-1]))
        out.write_counts(
            count_rows(ColumnGroups.of(tokens), tokens.set_offsets, tokens.set_counts, tokens.tokens),
            sum_items(tokens.set_counts, ENTRIES_A_SUM),
        )
        self._write_keys(out, tokens, store, ones)
        self._write_postings(out, tokens, store, running_sum(filled))

    def _write_keys(self, out: MatePackWriter, tokens: TokenArrays, store: RowStore, ones: Array) -> None:
        words = self._parameters.words
        if not words:
            return
        room = max(_LEAST_ROOM, self._memory_bytes // (16 * words))
        most = min(int(np.diff(tokens.set_offsets).max(initial=0)), room)
        ids, hashed = np.empty(most, np.uint32), np.empty((most, words), np.uint64)
        hashing = hashing_of(self._parameters, tokens)
        for tables, rows in _runs_of_rows(store.first_rows):
            first, last = store.first_rows[tables[0]] + rows[0], store.first_rows[tables[1] - 1] + rows[1]
            keys = np.empty((int(min(last, store.first_rows[tables[1]]) - first), words), np.uint64)
            fill_keys(keys, tables, rows, ones, store, ColumnGroups.of(tokens), hashing, ids, hashed)
            out.write_keys(int(first), keys)

    def _write_postings(self, out: MatePackWriter, tokens: TokenArrays, store: RowStore, starts: Array) -> None:
        """Some columns at a time."""
        first = 0
        while first < tokens.columns:
            last = int(np.searchsorted(starts, starts[first] + self._memory_bytes // 32, side="right")) - 1
            last = min(max(last, first + 1), tokens.columns)
            postings = np.empty(int(starts[last] - starts[first]), np.uint32)
            fill_postings(postings, (first, last), store, tokens.set_offsets, tokens.set_counts)
            out.write_postings(postings)
            first = last
        out.finish_postings()


def mean_filled(filled: Array, store: RowStore) -> Array:
    """For every table how many cells of a row hold a value, on average."""
    cells = np.diff(running_sum(filled)[store.first_columns])
    return cells / np.maximum(np.diff(store.first_rows), 1)


def hashing_of(parameters: SuperKeyParameters, tokens: TokenArrays) -> Hashing:
    if parameters.family == "fitted":  # by the hashes alone
        return Hashing.of(parameters, tokens.hashes(), np.empty(0, np.uint8), np.zeros(1, np.int64))
    return Hashing.of(parameters, np.empty(0, np.uint64), *tokens.strings(np.arange(tokens.tokens)))


def _runs_of_rows(first_rows: Array) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Tables that follow each other and have not too many rows together, with all rows; or a part of a big table."""
    tables = len(first_rows) - 1
    table = 0
    while table < tables:
        last = int(np.searchsorted(first_rows, first_rows[table] + _MOST_ROWS, side="right")) - 1
        if last > table:
            yield (table, last), (0, _MOST_ROWS)
            table = last
            continue
        rows = int(first_rows[table + 1] - first_rows[table])
        for first in range(0, rows, _MOST_ROWS):
            yield (table, table + 1), (first, min(first + _MOST_ROWS, rows))
        table += 1
