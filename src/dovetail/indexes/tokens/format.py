"""The arrays of the tokens pack, their writer and their reader side by side.

Tokens that exactly the same columns hold are one group: one posting list serves them all, and a set is some groups.

    token_bytes, token_offsets         the tokens' UTF-8 bytes by id
    hashes, hash_ids                   XXH64 of every token, ascending, and the id that each belongs to
    hash_starts                        where the hashes with the same leading bits begin
    group_tokens                       the first token of each group; its tokens follow each other, by hash
    posting_offsets, posting_columns   for every group the columns that hold its tokens, ascending
    set_group_offsets, set_groups      for every column its groups, ascending
    set_offsets, set_counts            for every column in how many rows each of its tokens occurs, by token id

Ids of groups, and with them ids of tokens, rise with the number of columns that hold them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.tokens.query_kernels import count_leading

NAME = "tokens"
VERSION = 1


class TokenPackWriter:
    """Room for all arrays; those by token are filled run by run: a big segment is written from several buckets."""

    def __init__(self, pack: PackWriter, lengths: Array, set_sizes: Array) -> None:
        self._pack = pack
        self.token_offsets = running_sum(lengths)
        self.set_offsets = running_sum(set_sizes)
        pack.add("token_offsets", self.token_offsets)
        pack.add("set_offsets", self.set_offsets)
        self._token_bytes = pack.reserve("token_bytes", "uint8", int(self.token_offsets[-1]))
        self._hashes = pack.reserve("hashes", "uint64", len(lengths))
        self._hash_ids = pack.reserve("hash_ids", "uint32", len(lengths))
        self._hash_starts = pack.reserve("hash_starts", "uint32", _parts_for(len(lengths)) + 1)
        self._by_leading_bits = np.zeros(_parts_for(len(lengths)) + 1, np.int64)
        self._set_counts = pack.reserve("set_counts", "uint32", int(self.set_offsets[-1]))

    def write_groups(self, group_tokens: Array, postings: tuple[Array, Array], sets: tuple[Array, Array]) -> None:
        """The first token of each group, and offsets and members of posting lists and of sets of groups."""
        self._pack.add("group_tokens", group_tokens)
        self._pack.add("posting_offsets", postings[0])
        self._pack.add("posting_columns", postings[1])
        self._pack.add("set_group_offsets", sets[0])
        self._pack.add("set_groups", sets[1])

    def write_tokens(self, first_id: int, content: Array) -> None:
        """The bytes of consecutive tokens from `first_id` on."""
        self._token_bytes.write(content, int(self.token_offsets[first_id]))

    def write_content(self, at: int, content: Array) -> None:
        """Bytes of consecutive tokens, from byte `at` of all tokens on."""
        self._token_bytes.write(content, at)

    def write_hashes(self, at: int, hashes: Array, ids: Array) -> None:
        """The hashes of some tokens, ascending, all above those written before."""
        self._hashes.write(hashes, at)
        self._hash_ids.write(ids, at)
        count_leading(hashes, self._by_leading_bits)

    def write_hash_starts(self) -> None:
        """Once all hashes are written."""
        self._hash_starts.write(np.cumsum(self._by_leading_bits).astype(np.uint32))

    def write_counts(self, first_column: int, counts: Array) -> None:
        """The counts of consecutive columns from `first_column` on."""
        self._set_counts.write(counts, int(self.set_offsets[first_column]))


class TokenArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        self.token_bytes = pack["token_bytes"]
        self.token_offsets = pack["token_offsets"]
        self.hashes = pack["hashes"]
        self.hash_ids = pack["hash_ids"]
        self.hash_starts = pack["hash_starts"]
        self.group_tokens = pack["group_tokens"]
        self.posting_offsets = pack["posting_offsets"]
        self.posting_columns = pack["posting_columns"]
        self.set_group_offsets = pack["set_group_offsets"]
        self.set_groups = pack["set_groups"]
        self.set_offsets = pack["set_offsets"]
        self.set_counts = pack["set_counts"]
        self.tokens = len(self.token_offsets) - 1
        self.groups = len(self.group_tokens) - 1
        self.columns = len(self.set_offsets) - 1
        for problem in self._misfits():
            raise IndexDamaged(f"{pack.segment}/{pack.path.name} is damaged: {problem}.")

    def _misfits(self) -> Iterator[str]:
        if not len(self.hashes) == len(self.hash_ids) == self.tokens:
            yield "its token arrays differ in length"
        if self.groups != len(self.posting_offsets) - 1 or self.columns != len(self.set_group_offsets) - 1:
            yield "its groups or columns differ in number"
        if len(self.hash_starts) != _parts_for(self.tokens) + 1:
            yield "hash_starts has a wrong length"
        for name, end in (
            ("token_offsets", len(self.token_bytes)),
            ("group_tokens", self.tokens),
            ("hash_starts", self.tokens),
            ("posting_offsets", len(self.posting_columns)),
            ("set_group_offsets", len(self.set_groups)),
            ("set_offsets", len(self.set_counts)),
        ):
            offsets = getattr(self, name)
            if offsets[0] != 0 or offsets[-1] != end:
                yield f"{name} does not span its array"


def _parts_for(tokens: int) -> int:
    """Into how many parts the hashes fall by their leading bits: a power of two above 1, and 4 to 8 share them."""
    return 1 << max(tokens.bit_length() - 3, 1)


def running_sum(sizes: Array) -> Array:
    """Offsets from sizes: 0, s0, s0 + s1, …"""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
