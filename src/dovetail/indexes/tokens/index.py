"""The registry's entry for tokens, sets and postings, with the check of their cross-references."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.packing_kernels import unpack
from dovetail._storage.segment import Segment
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.build import TokenBuilder
from dovetail.indexes.tokens.format import TokenArrays, running_sum
from dovetail.indexes.tokens.kernels import transpose
from dovetail.indexes.tokens.query import TokenReader
from dovetail.indexes.tokens.query_kernels import count_leading, tags_of


class TokensIndex(Index):
    name = tokens_format.NAME
    version = tokens_format.VERSION
    question = "which columns hold this value?"
    needs = ()

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> TokenBuilder:
        return TokenBuilder(scratch, memory_bytes)

    def open(self, segment: Segment) -> TokenReader:
        return TokenReader(segment)

    def problems(self, segment: Segment) -> Iterator[str]:
        arrays = TokenArrays(segment.pack(self.name))
        yield from broken_references(arrays)


def broken_references(arrays: TokenArrays) -> Iterator[str]:
    for name in ("group_tokens", "hash_starts", "posting_offsets", "set_group_offsets", "set_offsets"):
        if np.any(np.diff(getattr(arrays, name)) < 0):
            yield f"{name} goes backwards"
            return
    if np.any(np.diff(unpack(arrays.token_starts, 0, arrays.tokens + 1)) < 0):
        yield "token_starts goes backwards"
        return
    if arrays.tokens and int(arrays.set_groups.max()) >= arrays.groups:
        yield "a set names a group that does not exist"
        return
    if arrays.tokens and int(arrays.posting_columns.max()) >= arrays.columns:
        yield "a posting names a column that does not exist"
        return
    offsets, columns, _ = transpose(arrays.set_group_offsets, arrays.set_groups, arrays.set_groups, arrays.groups)
    if not (np.array_equal(offsets, arrays.posting_offsets) and np.array_equal(columns, arrays.posting_columns)):
        yield "sets and postings disagree"
        return
    if np.any(np.diff(np.diff(arrays.posting_offsets)) < 0):
        yield "groups are not in the order of their frequency"
    sizes = running_sum(np.diff(arrays.group_tokens)[arrays.set_groups])
    if not np.array_equal(np.diff(arrays.set_offsets), np.diff(sizes[arrays.set_group_offsets])):
        yield "a set has more or fewer counts than tokens"
    if np.any(unpack(arrays.set_counts, 0, arrays.set_counts.length) == 0):
        yield "a set holds a token that occurs in no row"
    if not np.array_equal(np.sort(arrays.ids_by_hash()), np.arange(arrays.tokens)):
        yield "the hash table does not name every token once"
        return
    if not _hashes_match(arrays):
        yield "the hash table does not match the tokens"


def _hashes_match(arrays: TokenArrays) -> bool:
    hashes, ids = arrays.hashes(), arrays.ids_by_hash()
    by_hash, bits = hashes[ids], arrays.hash_table.id_bits
    ascending = bool(np.all(by_hash[1:] >= by_hash[:-1]))
    counts = np.zeros(len(arrays.hash_starts), np.int64)
    count_leading(by_hash, counts)
    starts_fit = np.array_equal(np.cumsum(counts), arrays.hash_starts)
    tags = tags_of(by_hash, len(arrays.hash_starts) - 1, bits)
    return ascending and starts_fit and np.array_equal(arrays.hash_entries >> np.uint32(bits), tags)


TOKENS = TokensIndex()
