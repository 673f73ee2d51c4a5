"""Queries to the tokens pack of one segment: from values to columns and back.

Values of hashed columns alone are kept as hashes only, and have no spelling.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._storage.packing_kernels import sum_packed, unpack
from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.tokens.format import NAME, TokenArrays
from dovetail.indexes.tokens.query_kernels import ascending, find_tokens, spread, weigh_groups
from dovetail.normalise.hash_kernels import hash_strings
from dovetail.normalise.hashing import as_buffers, as_strings
from dovetail.normalise.keyed import HASHED

_WORTH_A_THREAD = 20_000  # tokens


class TokenReader:
    """The dictionary, sets and postings of one segment. Ids and column numbers are the segment's own."""

    def __init__(self, segment: Segment | SegmentWriter, part: tuple[str, int] | None = None) -> None:
        """`part` is another one of the same arrays, by name and version."""
        self.arrays = TokenArrays(segment.pack(part[0] if part else NAME), part)

    def find(self, tokens: pa.Array) -> Array:
        """The id of each token, or -1 where no column of this segment holds it. Many are looked up on all cores."""
        parts = min(len(tokens) // _WORTH_A_THREAD, os.cpu_count() or 1)
        if parts < 2:
            return self._find(tokens)
        cuts = [len(tokens) * part // parts for part in range(parts + 1)]
        with ThreadPoolExecutor(parts) as pool:
            found = pool.map(lambda cut: self._find(tokens.slice(cut[0], cut[1] - cut[0])), itertools.pairwise(cuts))
            return np.concatenate(list(found))

    def _find(self, tokens: pa.Array) -> Array:
        arrays = self.arrays
        content, offsets = as_buffers(tokens)
        return find_tokens(
            arrays.hash_table, arrays.token_codes, arrays.token_starts, arrays.symbols,
            hash_strings(content, offsets), content, offsets,
        )  # fmt: skip

    def grouped(self, tokens: pa.Array) -> tuple[Array, Array, Array]:
        """The distinct groups of the tokens, ascending, how many tokens lie in each, and the ids of all, ascending."""
        ids = ascending(self.find(tokens), self.arrays.tokens)
        return *weigh_groups(ids, self.arrays.group_tokens), ids

    def tokens(self, ids: Array) -> pa.LargeStringArray:
        return as_strings(*self.arrays.strings(ids))

    def columns_with(self, token: int) -> Array:
        """The columns that hold the token, ascending."""
        offsets = self.arrays.posting_offsets
        group = self.group_of(token)
        return self.arrays.posting_columns[offsets[group] : offsets[group + 1]]

    def postings(self, tokens: pa.Array) -> int:
        """The length of the posting lists of distinct tokens; tokens that the same columns hold share one."""
        groups, offsets = self.grouped(tokens)[0], self.arrays.posting_offsets
        return int((offsets[groups + 1] - offsets[groups]).sum())

    def group_of(self, token: int) -> int:
        """The group of tokens that exactly the same columns hold."""
        return int(np.searchsorted(self.arrays.group_tokens, token, side="right")) - 1

    def groups_of(self, column: int) -> Array:
        """The groups whose tokens the column holds, ascending."""
        offsets = self.arrays.set_group_offsets
        return self.arrays.set_groups[offsets[column] : offsets[column + 1]]

    def set_of(self, column: int) -> tuple[Array, Array]:
        """The ids of the column's tokens, ascending, and in how many rows each occurs."""
        return spread(self.groups_of(column), self.arrays.group_tokens), self.counts_of(column)

    def counts_of(self, column: int) -> Array:
        """In how many rows each of the column's tokens occurs, by token id."""
        offsets = self.arrays.set_offsets
        return unpack(self.arrays.set_counts, int(offsets[column]), int(offsets[column + 1]))

    def rows_with(self, token: int, column: int) -> int:
        """In how many rows of the column the token occurs."""
        members, counts = self.set_of(column)
        place = int(np.searchsorted(members, token))
        return int(counts[place]) if place < len(members) and members[place] == token else 0

    def set_sizes(self) -> Array:
        return np.diff(self.arrays.set_offsets)

    def rows(self) -> Array:
        """In how many rows each column has a token."""
        return sum_packed(self.arrays.set_counts, self.arrays.set_offsets)


def hidden_groups(segment: Segment | SegmentWriter, tokens: TokenArrays) -> Array:
    """Which groups of tokens only columns of hashes hold, by the types that the segment's catalog has."""
    kinds = CatalogReader(segment.pack(records.NAME)).columns["kind"]
    hashed = pc.equal(kinds, HASHED.kind).to_numpy()
    if not hashed.any():
        return np.zeros(tokens.groups, bool)
    found: Array = np.logical_and.reduceat(hashed[tokens.posting_columns], tokens.posting_offsets[:-1])
    return found
