"""The arrays of the tokens pack, their writer and their reader side by side.

Tokens that exactly the same columns hold are one group: one posting list serves them all, and a set is some groups.

    token_codes, token_starts          the tokens' UTF-8 bytes by id, in codes of the symbols
    symbols                            the table of symbols, learned from the segment's tokens
    hash_entries                       by ascending XXH64 the id of every token, below some bits of the hash
    hash_starts                        where the entries with the same leading bits of the hash begin
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
from dovetail._storage.packing import PackedRuns, narrow, pack_numbers
from dovetail._storage.packing_kernels import take_packed
from dovetail._storage.symbol_kernels import Symbols, decode_range, decode_some
from dovetail._storage.symbols import read_symbols, write_symbols
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.tokens.query_kernels import HashTable, count_leading, tags_of
from dovetail.normalise.hash_kernels import hash_strings

NAME = "tokens"
VERSION = 2
_PORTION = 1 << 16  # tokens that are decoded at once: some MB


class TokenPackWriter:
    """Room for all arrays; those by token are filled run by run: a big segment is written from several buckets."""

    def __init__(self, pack: PackWriter, symbols: Symbols, lengths: Array, set_sizes: Array) -> None:
        """`lengths` are those of the tokens in codes."""
        self._pack = pack
        self.token_offsets = running_sum(lengths)
        pack.add("symbols", write_symbols(symbols))
        pack.add_packed("token_starts", pack_numbers(self.token_offsets))
        pack.add_packed("set_offsets", pack_numbers(running_sum(set_sizes)))
        self._token_codes = pack.reserve("token_codes", "uint8", int(self.token_offsets[-1]))
        self._id_bits = id_bits(len(lengths))
        self._hash_entries = pack.reserve("hash_entries", "uint32", len(lengths))
        self._hash_starts = pack.reserve("hash_starts", "uint32", _parts_for(len(lengths)) + 1)
        self._by_leading_bits = np.zeros(_parts_for(len(lengths)) + 1, np.int64)
        self._set_counts = PackedRuns()

    def write_groups(self, group_tokens: Array, postings: tuple[Array, Array], sets: tuple[Array, Array]) -> None:
        """The first token of each group, and offsets and members of posting lists and of sets of groups."""
        self._pack.add_packed("group_tokens", pack_numbers(group_tokens))
        self._pack.add_packed("posting_offsets", pack_numbers(postings[0]))
        self._pack.add("posting_columns", narrow(postings[1]))
        self._pack.add_packed("set_group_offsets", pack_numbers(sets[0]))
        self._pack.add("set_groups", sets[1])

    def write_tokens(self, first_id: int, codes: Array) -> None:
        """The codes of consecutive tokens from `first_id` on."""
        self._token_codes.write(codes, int(self.token_offsets[first_id]))

    def write_content(self, at: int, codes: Array) -> None:
        """Codes of consecutive tokens, from byte `at` of all codes on."""
        self._token_codes.write(codes, at)

    def write_hashes(self, at: int, hashes: Array, ids: Array) -> None:
        """The hashes of some tokens, ascending, all above those written before."""
        tags = tags_of(hashes, len(self._by_leading_bits) - 1, self._id_bits)
        self._hash_entries.write(tags << np.uint32(self._id_bits) | ids, at)
        count_leading(hashes, self._by_leading_bits)

    def write_hash_starts(self) -> None:
        """Once all hashes are written."""
        self._hash_starts.write(np.cumsum(self._by_leading_bits).astype(np.uint32))

    def write_counts(self, counts: Array) -> None:
        """The counts of the columns that follow those already written."""
        self._set_counts.add(counts)

    def finish_counts(self) -> None:
        self._pack.add_packed("set_counts", self._set_counts.finish())


def number_of_tokens(pack: Pack) -> int:
    """How many tokens an open pack has, which nothing need be read for."""
    return pack.packed("token_starts").length - 1


class TokenArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack, part: tuple[str, int] | None = None) -> None:
        pack.require(*(part or (NAME, VERSION)))
        where = f"{pack.segment}/{pack.path.name}"
        symbols = read_symbols(pack["symbols"])
        if symbols is None:
            raise IndexDamaged(f"{where} is damaged: its symbols are none.")
        self.symbols = symbols
        self.token_codes = pack["token_codes"]
        self.token_starts = pack.packed("token_starts")
        self.hash_entries = pack["hash_entries"]
        self.hash_starts = pack["hash_starts"]
        self.group_tokens = pack.unpacked("group_tokens")
        self.posting_offsets = pack.unpacked("posting_offsets")
        self.posting_columns = pack["posting_columns"]
        self.set_group_offsets = pack.unpacked("set_group_offsets")
        self.set_groups = pack["set_groups"]
        self.set_offsets = pack.unpacked("set_offsets")
        self.set_counts = pack.packed("set_counts")
        self.tokens = self.token_starts.length - 1
        self.groups = len(self.group_tokens) - 1
        self.columns = len(self.set_offsets) - 1
        for problem in self._misfits():
            raise IndexDamaged(f"{where} is damaged: {problem}.")
        self.hash_table = HashTable(self.hash_starts, self.hash_entries, id_bits(self.tokens))

    def strings(self, ids: Array) -> tuple[Array, Array]:
        """The bytes and offsets of some tokens."""
        return decode_some(self.token_codes, self.token_starts, self.symbols, ids)

    def portions(self) -> Iterator[tuple[int, Array, Array]]:
        """All tokens, some at a time: the first id of a portion, its bytes and offsets."""
        for first in range(0, self.tokens, _PORTION):
            last = min(first + _PORTION, self.tokens)
            yield first, *decode_range(self.token_codes, self.token_starts, self.symbols, first, last)

    def hashes(self) -> Array:
        """XXH64 of every token, by id."""
        found = [hash_strings(content, offsets) for _, content, offsets in self.portions()]
        return np.concatenate([np.empty(0, np.uint64), *found])

    def ids_by_hash(self, first: int = 0, last: int | None = None) -> Array:
        """The ids of the tokens in the order of their hashes, or from one place of it to another."""
        mask = np.uint32((1 << id_bits(self.tokens)) - 1)
        ids: Array = self.hash_entries[first:last] & mask
        return ids

    def hashed_between(self, low: int, high: int) -> tuple[Array, Array]:
        """The hashes from `low` to below `high`, ascending, and the ids of their tokens."""
        shift = 64 - (len(self.hash_starts) - 2).bit_length()
        ids = self.ids_by_hash(int(self.hash_starts[low >> shift]), int(self.hash_starts[((high - 1) >> shift) + 1]))
        hashes = hash_strings(*self.strings(ids))
        start = int(np.searchsorted(hashes, np.uint64(low)))
        stop = int(np.searchsorted(hashes, np.uint64(high - 1), side="right"))
        return hashes[start:stop], ids[start:stop]

    def _misfits(self) -> Iterator[str]:
        if len(self.hash_entries) != self.tokens:
            yield "its token arrays differ in length"
        starts = take_packed(self.token_starts, np.array([0, self.tokens])) if self.tokens >= 0 else np.array([1, 1])
        if starts[0] != 0 or starts[1] != len(self.token_codes):
            yield "token_starts does not span its array"
        if self.groups != len(self.posting_offsets) - 1 or self.columns != len(self.set_group_offsets) - 1:
            yield "its groups or columns differ in number"
        if len(self.hash_starts) != _parts_for(self.tokens) + 1:
            yield "hash_starts has a wrong length"
        for name, end in (
            ("group_tokens", self.tokens),
            ("hash_starts", self.tokens),
            ("posting_offsets", len(self.posting_columns)),
            ("set_group_offsets", len(self.set_groups)),
            ("set_offsets", self.set_counts.length),
        ):
            offsets = getattr(self, name)
            if offsets[0] != 0 or offsets[-1] != end:
                yield f"{name} does not span its array"


def _parts_for(tokens: int) -> int:
    """Into how many parts the hashes fall by their leading bits: a power of two above 1, and 4 to 8 share them."""
    return 1 << max(tokens.bit_length() - 3, 1)


def id_bits(tokens: int) -> int:
    """How many bits of an entry the id takes; the others are bits of the hash."""
    return max(1, (tokens - 1).bit_length())


def running_sum(sizes: Array) -> Array:
    """Offsets from sizes: 0, s0, s0 + s1, …"""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
