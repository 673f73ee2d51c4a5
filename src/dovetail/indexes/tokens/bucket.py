"""A bucket: the tokens whose hashes begin with the same bits, with their groups, posting lists and sets."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.spill import Records, write_records
from dovetail._storage.symbol_kernels import Symbols, encode
from dovetail._types import Array
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.kernels import (
    gather_lists,
    gather_strings,
    group_lists,
    merge_repeats,
    stable_order,
    transpose,
)
from dovetail.normalise.hashing import as_buffers, hash_tokens

# Of a bucket on disk, in two files: mapped files count as memory, and the tokens are let go first.
_TOKEN_TYPES = {"content": pa.uint8(), "offsets": pa.int64(), "hashes": pa.uint64(), "by_hash": pa.int64()}
_LIST_TYPES = {
    "group_tokens": pa.int64(), "group_hashes": pa.uint64(),
    "posting_offsets": pa.int64(), "posting_columns": pa.uint32(),
    "set_offsets": pa.int64(), "set_tokens": pa.uint32(), "set_counts": pa.uint32(),
}  # fmt: skip


@dataclass
class Bucket:
    """The distinct tokens of one bucket in the order of their ids, by group. All ids are the bucket's own."""

    content: Array
    offsets: Array
    hashes: Array
    by_hash: Array
    group_tokens: Array
    group_hashes: Array
    posting_offsets: Array
    posting_columns: Array
    set_offsets: Array
    set_tokens: Array
    set_counts: Array

    @property
    def tokens(self) -> int:
        return len(self.hashes)

    @property
    def entries(self) -> int:
        return len(self.set_counts)

    @classmethod
    def work_through(cls, entries: pa.Table, columns: int) -> Bucket:
        """Distinct tokens, postings, groups, order and sets. Only hashes and groups are sorted by comparison."""
        encoded = entries["token"].combine_chunks().dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        owners, counts, codes = (
            np.array(part, copy=True)
            for part in (entries["column"].to_numpy(), entries["count"].to_numpy(), encoded.indices.to_numpy())
        )
        tokens = len(encoded.dictionary)
        kept = merge_repeats(codes, owners, counts, tokens)
        set_offsets = running_sum(np.bincount(owners[:kept], minlength=columns))
        lists = transpose(set_offsets, codes[:kept], counts[:kept], tokens)
        group_of, example, group_hashes = group_lists(lists[0], lists[1], columns)
        # By frequency, then by the first column, so that the groups of one column lie near each other.
        rank = np.lexsort((group_hashes, lists[1][lists[0][example]], np.diff(lists[0])[example]))
        place = np.empty(len(rank), np.int64)
        place[rank] = np.arange(len(rank))
        hashes = hash_tokens(encoded.dictionary)
        order = stable_order(np.argsort(hashes), place[group_of], len(rank))
        content, offsets = gather_strings(*as_buffers(encoded.dictionary), order)
        postings = gather_lists(*lists, example[rank])
        sets = transpose(*gather_lists(*lists, order), columns)
        group_tokens = running_sum(np.bincount(place[group_of], minlength=len(rank)))
        return cls(
            content, offsets, hashes[order], np.argsort(hashes[order]), group_tokens, group_hashes[rank],
            postings[0], postings[1], *sets,
        )  # fmt: skip

    def save(self, folder: Path) -> list[Path]:
        """Write the bucket into new files."""
        paths = []
        for types in (_TOKEN_TYPES, _LIST_TYPES):
            paths.append(folder / f"bucket-{secrets.token_hex(8)}.arrow")
            write_records(paths[-1], types, [[getattr(self, name) for name in types]])
        return paths

    @classmethod
    def open(cls, paths: Iterable[Path]) -> Bucket:
        """A bucket that was saved, memory-mapped."""
        return cls(*(array.to_numpy() for path in paths for array in Records(path)[0]))

    def encode(self, symbols: Symbols, folder: Path | None) -> None:
        """Code the tokens; into a new file where there is a folder, since all buckets may not fit into memory."""
        self.content, self.offsets = encode(self.content, self.offsets, symbols)
        if folder is not None:
            types = {name: _TOKEN_TYPES[name] for name in ("content", "offsets")}
            path = folder / f"codes-{secrets.token_hex(8)}.arrow"
            write_records(path, types, [[self.content, self.offsets]])
            self.content, self.offsets = (array.to_numpy() for array in Records(path)[0])

    def forget_tokens(self) -> None:
        """Let go of what is written: mapped files count as memory for as long as they are held."""
        self.content = self.offsets = self.hashes = self.by_hash = np.empty(0, np.uint8)
