"""Builds the lists pack of a segment from its tokens pack, whatever tables and slices the columns came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.lists import format as lists_format
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.build import TokenBuilder
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.tokens.query import TokenReader
from dovetail.normalise.hashing import as_strings
from dovetail.normalise.parts import LEAST_CELLS, SAMPLE, Parts, find_separator, has_mark, split_cells


class ListsBuilder:
    """Skips the chunks of columns: the tokens pack, which is finished first, holds every cell once."""

    def __init__(self, scratch: Path, memory_bytes: int) -> None:
        self._scratch, self._memory_bytes = scratch, memory_bytes

    def add(self, chunk: ColumnChunk) -> None:
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        folder = self._scratch / lists_format.NAME
        folder.mkdir(exist_ok=True)
        inner = TokenBuilder(folder, self._memory_bytes, (lists_format.NAME, lists_format.VERSION))
        for column, parts, counts in list_columns(TokenReader(writer)):
            inner.add(ColumnChunk(column, parts.tokens, counts))
        inner.finish(writer, widths)
        return {}


def list_columns(tokens: TokenReader) -> Iterator[tuple[int, Parts, Array]]:
    """The columns whose cells hold several values, in order, with their parts and in how many rows each part occurs."""
    marked = _marked(tokens.arrays)
    if not marked.any():
        return
    rank = np.empty(tokens.arrays.tokens, np.uint32)
    rank[tokens.arrays.ids_by_hash()] = np.arange(tokens.arrays.tokens, dtype=np.uint32)
    for column in range(tokens.arrays.columns):
        cells, rows = tokens.set_of(column)
        if np.count_nonzero(marked[cells]) < LEAST_CELLS:
            continue
        sample = cells if len(cells) <= SAMPLE else cells[np.argpartition(rank[cells], SAMPLE)[:SAMPLE]]
        separator = find_separator(tokens.tokens(np.sort(sample)))
        if separator is None:
            continue
        parts = split_cells(tokens.tokens(cells), separator)
        counts = np.bincount(parts.codes, np.repeat(rows, np.diff(parts.starts)), len(parts.tokens))
        yield column, parts, counts.astype(np.int64)


def _marked(arrays: TokenArrays) -> Array:
    """Which tokens have something that may separate values."""
    found = [
        has_mark(as_strings(content, offsets)).to_numpy(zero_copy_only=False)
        for _, content, offsets in arrays.portions()
    ]
    return np.concatenate([np.empty(0, bool), *found])
