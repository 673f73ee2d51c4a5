"""The registry's entry for MATE, with the check of its keys and postings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.packing_kernels import unpack
from dovetail._storage.segment import Segment
from dovetail.errors import FormatMismatch
from dovetail.indexes.mate import format as mate_format
from dovetail.indexes.mate.build import MateBuilder, hashing_of, mean_filled
from dovetail.indexes.mate.core import ColumnGroups, SuperKeyParameters
from dovetail.indexes.mate.format import ENTRIES_A_SUM, MateArrays
from dovetail.indexes.mate.kernels import count_rows, fill_keys, fill_postings, sum_items
from dovetail.indexes.mate.query import MateReader
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.query import TokenReader

_CHECKED_ROWS = 100_000


class MateIndex(Index):
    name = mate_format.NAME
    version = mate_format.VERSION
    question = "which tables join on several of my columns together?"
    needs = ("tokens", "rows")

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> MateBuilder:
        return MateBuilder(memory_bytes, SuperKeyParameters.of(frozen))

    def open(self, segment: Segment) -> MateReader:
        return MateReader(segment)

    def problems(self, segment: Segment) -> Iterator[str | FormatMismatch]:
        try:
            reader = MateReader(segment)
        except FormatMismatch as mismatch:
            yield mismatch
            return
        yield from _broken_references(reader)


def _broken_references(reader: MateReader) -> Iterator[str]:
    arrays, store = reader.arrays, reader.store
    tokens = reader.tokens.arrays
    filled = TokenReader.rows(reader.tokens)
    if not np.array_equal(arrays.ones, arrays.parameters.ones_of(mean_filled(filled, store))):
        yield "the bits that values set are not those for the width of their tables"
        return
    rows_of_tokens = count_rows(ColumnGroups.of(tokens), tokens.set_offsets, tokens.set_counts, tokens.tokens)
    if not np.array_equal(unpack(arrays.token_rows, 0, tokens.tokens), rows_of_tokens):
        yield "the rows of a token are not those that the sets count"
    sums = unpack(arrays.items_before, 0, arrays.items_before.length)
    if not np.array_equal(sums, sum_items(tokens.set_counts, ENTRIES_A_SUM)):
        yield "the sums of postings are not those of the sets"
    starts = running_sum(filled).tolist()
    for column in range(tokens.columns):
        expected = np.empty(int(filled[column]), np.uint32)
        fill_postings(expected, (column, column + 1), store, tokens.set_offsets, tokens.set_counts)
        if not np.array_equal(unpack(arrays.posting_rows, starts[column], starts[column + 1]), expected):
            yield f"the postings of column {column} are not its rows"
    yield from _wrong_keys(arrays, reader)


def _wrong_keys(arrays: MateArrays, reader: MateReader) -> Iterator[str]:
    store, tokens = reader.store, reader.tokens.arrays
    words = arrays.parameters.words
    if not words:
        return
    hashing = hashing_of(arrays.parameters, tokens)
    size = max(1, int(np.diff(tokens.set_offsets).max(initial=0)))
    ids, hashed = np.empty(size, np.uint32), np.empty((size, words), np.uint64)
    for table in range(len(store.first_rows) - 1):
        first, last = int(store.first_rows[table]), int(store.first_rows[table + 1])
        for start in range(first, last, _CHECKED_ROWS):
            rows = (start - first, min(start - first + _CHECKED_ROWS, last - first))
            keys = np.empty((rows[1] - rows[0], words), np.uint64)
            fill_keys(keys, (table, table + 1), rows, arrays.ones, store, ColumnGroups.of(tokens), hashing, ids, hashed)
            if not np.array_equal(arrays.super_keys[start : start + len(keys)], keys):
                yield f"a super key of table {table} is not that of its row"
                break


MATE = MateIndex()
