"""The registry's entry for the row store, with the check of its cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.segment import Segment
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.rows import format as rows_format
from dovetail.indexes.rows.build import RowsBuilder
from dovetail.indexes.rows.query import RowReader


class RowsIndex(Index):
    name = rows_format.NAME
    version = rows_format.VERSION
    question = "which values occur together in a row?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> RowsBuilder:
        return RowsBuilder(scratch, memory_bytes)

    def open(self, segment: Segment) -> RowReader:
        return RowReader(segment)

    def problems(self, segment: Segment) -> Iterator[str]:
        yield from _broken_references(RowReader(segment))


def _broken_references(reader: RowReader) -> Iterator[str]:
    tokens = reader.tokens.arrays
    for column in range(tokens.columns):
        counts = reader.tokens.counts_of(column)
        codes = reader.codes(column)
        if len(codes) and int(codes.max()) >= len(counts):
            yield f"a cell of column {column} names a token that the column does not have"
        elif not np.array_equal(np.bincount(codes[codes >= 0], minlength=len(counts)), counts):
            yield f"the rows of column {column} are not those that its set counts"


ROWS = RowsIndex()
