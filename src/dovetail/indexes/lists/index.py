"""The registry's entry for lists, with their check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.segment import Segment
from dovetail.indexes.lists import format as lists_format
from dovetail.indexes.lists.build import ListsBuilder, list_columns
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens.index import broken_references
from dovetail.indexes.tokens.query import TokenReader


class ListsIndex(Index):
    name = lists_format.NAME
    version = lists_format.VERSION
    question = "which columns hold my values in cells of several?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> ListsBuilder:
        return ListsBuilder(scratch, memory_bytes)

    def open(self, segment: Segment) -> TokenReader:
        return TokenReader(segment, (self.name, self.version))

    def problems(self, segment: Segment) -> Iterator[str]:
        reader = self.open(segment)
        for problem in broken_references(reader.arrays):
            yield problem
            return
        sizes = np.zeros(reader.arrays.columns, np.int64)
        for column, parts, _ in list_columns(TokenReader(segment)):
            sizes[column] = len(parts.tokens)
            if column < len(sizes) and (reader.find(parts.tokens) < 0).any():
                yield "a part of a cell is missing"
                return
        if not np.array_equal(sizes, reader.set_sizes()):
            yield "its sets are not the parts of the cells"


LISTS = ListsIndex()
