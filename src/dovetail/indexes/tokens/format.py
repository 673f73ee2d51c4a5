"""The arrays of the tokens pack, their writer and their reader side by side.

token_bytes, token_offsets        the tokens' UTF-8 bytes by id; ids rise with frequency, then with hash
hashes, hash_ids                  XXH64 of every token, ascending, and the id that each belongs to
posting_offsets, posting_columns  for every token the columns that hold it, ascending
set_offsets, set_tokens           for every column the ids of its tokens, ascending
set_counts                        in how many rows of the column each of them stands
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._storage.pack import Pack, PackWriter
from dovetail.errors import IndexDamaged

NAME = "tokens"
VERSION = 1

Array = npt.NDArray[Any]


class TokenPackWriter:
    """Room for all arrays, filled run by run in any order: a big segment is written from several buckets."""

    def __init__(self, pack: PackWriter, lengths: Array, frequencies: Array, set_sizes: Array) -> None:
        self.token_offsets = running_sum(lengths)
        self.posting_offsets = running_sum(frequencies)
        self.set_offsets = running_sum(set_sizes)
        entries = int(self.set_offsets[-1])
        pack.add("token_offsets", self.token_offsets)
        pack.add("posting_offsets", self.posting_offsets)
        pack.add("set_offsets", self.set_offsets)
        self._token_bytes = pack.reserve("token_bytes", "uint8", int(self.token_offsets[-1]))
        self._hashes = pack.reserve("hashes", "uint64", len(lengths))
        self._hash_ids = pack.reserve("hash_ids", "uint32", len(lengths))
        self._posting_columns = pack.reserve("posting_columns", "uint32", entries)
        self._set_tokens = pack.reserve("set_tokens", "uint32", entries)
        self._set_counts = pack.reserve("set_counts", "uint32", entries)

    def write_tokens(self, first_id: int, content: Array, columns: Array) -> None:
        """The bytes and postings of consecutive tokens from `first_id` on."""
        self._token_bytes.write(content, int(self.token_offsets[first_id]))
        self._posting_columns.write(columns, int(self.posting_offsets[first_id]))

    def write_hashes(self, at: int, hashes: Array, ids: Array) -> None:
        self._hashes.write(hashes, at)
        self._hash_ids.write(ids, at)

    def write_sets(self, first_column: int, ids: Array, counts: Array) -> None:
        """The sets of consecutive columns from `first_column` on."""
        at = int(self.set_offsets[first_column])
        self._set_tokens.write(ids, at)
        self._set_counts.write(counts, at)


class TokenArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        self.token_bytes = pack["token_bytes"]
        self.token_offsets = pack["token_offsets"]
        self.hashes = pack["hashes"]
        self.hash_ids = pack["hash_ids"]
        self.posting_offsets = pack["posting_offsets"]
        self.posting_columns = pack["posting_columns"]
        self.set_offsets = pack["set_offsets"]
        self.set_tokens = pack["set_tokens"]
        self.set_counts = pack["set_counts"]
        self.tokens = len(self.token_offsets) - 1
        self.columns = len(self.set_offsets) - 1
        for problem in self._misfits():
            raise IndexDamaged(f"{pack.segment}/{pack.path.name} is damaged: {problem}.")

    def _misfits(self) -> Iterator[str]:
        if not len(self.hashes) == len(self.hash_ids) == self.tokens == len(self.posting_offsets) - 1:
            yield "its token arrays differ in length"
        if not len(self.set_tokens) == len(self.set_counts) == len(self.posting_columns):
            yield "its sets and postings differ in length"
        for name, target in (
            ("token_offsets", self.token_bytes),
            ("posting_offsets", self.posting_columns),
            ("set_offsets", self.set_tokens),
        ):
            offsets = getattr(self, name)
            if offsets[0] != 0 or offsets[-1] != len(target):
                yield f"{name} does not span its array"


def running_sum(sizes: Array) -> Array:
    """Offsets from sizes: 0, s0, s0 + s1, …"""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
