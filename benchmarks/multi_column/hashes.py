"""Super keys by other hashes, in the same engine: each value sets some bits, whatever the table.

Bloom filter (as many hashes as suit the mean width of the lake's tables), LHBF (two), hash table (one), SimHash, MD5
and Murmur (as they are: half of their bits are ones).
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled
from dovetail._storage.packing_kernels import bits_at, packed_at
from dovetail._storage.segment import Segment
from dovetail.indexes.mate.build import hashing_of, mean_filled
from dovetail.indexes.mate.core import ColumnGroups, RowKeys, SuperKeyParameters
from dovetail.indexes.mate.kernels import fill_keys, hash_tokens
from dovetail.indexes.mate.query import MateReader
from dovetail.indexes.open_segment import OpenSegment

Array = npt.NDArray[Any]
_ALL = 1 << 60  # rows
NAMES = ("bloom", "lhbf", "hash table", "simhash", "md5", "murmur")


class HashedReader(MateReader):
    """The engine over super keys made of one row of bits for every token of the dictionary."""

    def __init__(self, segment: Segment, bits: Array) -> None:
        super().__init__(segment)
        self._by_token = bits
        keys = np.zeros((int(self.store.first_rows[-1]), bits.shape[1]), np.uint64)
        for column in range(self.tokens.arrays.columns):
            add_column(keys, bits, self.tokens.set_of(column)[0], self.store, column)
        self.rows = RowKeys(keys, np.zeros(len(self.store.first_rows) - 1, np.uint8))

    def _bits(self, values: Array, tuples: Array) -> tuple[Array, Array]:
        return np.bitwise_or.reduce(self._by_token[values][tuples], axis=1)[None], np.zeros(256, np.int64)


class MaskedReader(MateReader):
    """The engine with rows let through or not; by default all, so that nothing is filtered."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self.let(np.ones(int(self.store.first_rows[-1]), bool))

    def let(self, rows: Array) -> None:
        self.rows = RowKeys(rows.astype(np.uint64)[:, None], np.zeros(len(self.store.first_rows) - 1, np.uint8))

    def _bits(self, values: Array, tuples: Array) -> tuple[Array, Array]:
        return np.ones((1, len(tuples), 1), np.uint64), np.zeros(256, np.int64)


@compiled
def add_column(keys: Array, bits: Array, ids: Array, store: Any, column: int) -> None:
    table = store.table_of[column]
    at = store.starts[table] + store.offsets[column]
    for row in range(store.first_rows[table], store.first_rows[table + 1]):
        cell = bits_at(store.cells, at, store.widths[column])
        at += store.strides[table]
        if cell:
            for word in range(keys.shape[1]):
                keys[row, word] |= bits[ids[cell - 1], word]


@compiled
def mark_rows(marked: Array, ids: Array, groups: Array, postings: Any, items: Any, store: Any) -> None:
    """Mark the rows of the segment where one of the tokens stands."""
    for i in range(len(ids)):
        within = ids[i] - postings.group_tokens[groups[i]]
        for item in range(postings.offsets[groups[i]], postings.offsets[groups[i] + 1]):
            column = postings.columns[item]
            table = store.table_of[column]
            entry = items.set_offsets[column] + postings.positions[item] + within
            place = packed_at(items.sums, entry // items.every)
            for before in range(entry - entry % items.every, entry):
                place += packed_at(items.set_counts, before)
            for at in range(place, place + packed_at(items.set_counts, entry)):
                marked[store.first_rows[table] + packed_at(items.rows, at)] = True


def unfiltered(segment: OpenSegment) -> MateReader:
    """Super keys without a bit: no row is ruled out."""
    return HashedReader(segment.segment, np.empty((segment.tokens.arrays.tokens, 0), np.uint64))


def xash(segment: OpenSegment, bits: int, ones: int, characters: str) -> MateReader:
    """Super keys by XASH with so many ones."""
    tokens = segment.tokens.arrays
    parameters = SuperKeyParameters("xash", bits, ones, characters)
    found = np.zeros((tokens.tokens, parameters.words), np.uint64)
    hash_tokens(found, np.arange(tokens.tokens), hashing_of(parameters, tokens), ones)
    return HashedReader(segment.segment, found)


def fitted(segment: OpenSegment, bits: int) -> MateReader:
    """The product's own super keys, made anew with so many bits."""
    reader = MateReader(segment.segment)
    parameters = SuperKeyParameters("fitted", bits)
    tokens, store = reader.tokens.arrays, reader.store
    ones = parameters.ones_of(mean_filled(reader.tokens.rows(), store))
    size = int(np.diff(tokens.set_offsets).max())
    ids, hashed = np.empty(size, np.uint32), np.empty((size, parameters.words), np.uint64)
    keys = np.empty((int(store.first_rows[-1]), parameters.words), np.uint64)
    tables = (0, len(store.first_rows) - 1)
    fill_keys(
        keys, tables, (0, _ALL), ones, store, ColumnGroups.of(tokens), hashing_of(parameters, tokens), ids, hashed
    )
    reader.arrays.parameters, reader.arrays.ones, reader.rows = parameters, ones, RowKeys(keys, ones)
    return reader


def frequent_characters(segment: OpenSegment) -> str:
    tokens = segment.tokens.arrays
    content = tokens.strings(np.arange(tokens.tokens))[0].tobytes().decode("utf-8")
    points, counts = np.unique(np.frombuffer(content.encode("utf-32-le"), np.uint32), return_counts=True)
    return "".join(map(chr, points[np.argsort(-counts, kind="stable")][:512]))


def bits_of(name: str, reader: MateReader, bits: int) -> Array:
    """For every token of the segment its bits."""
    tokens = reader.tokens.arrays
    found = np.zeros((tokens.tokens, bits // 64), np.uint64)
    if name in ("bloom", "lhbf", "hash table"):
        width = np.diff(reader.store.first_columns)
        hashes = {"bloom": max(1, round(bits / width[width > 0].mean() * math.log(2))), "lhbf": 2, "hash table": 1}
        hashing = hashing_of(SuperKeyParameters("fitted", bits), tokens)
        hash_tokens(found, np.arange(tokens.tokens), hashing, hashes[name])
    elif name == "simhash":
        _simhash(found, *tokens.strings(np.arange(tokens.tokens)))
    elif name == "md5":
        content, offsets = tokens.strings(np.arange(tokens.tokens))
        for i in range(tokens.tokens):
            digest = hashlib.md5(content[offsets[i] : offsets[i + 1]].tobytes()).digest()
            found[i] = np.resize(np.frombuffer(digest, np.uint64), bits // 64)
    else:
        hashing = hashing_of(SuperKeyParameters("fitted", bits), tokens)
        for word in range(bits // 64):
            found[:, word] = _finalise(hashing.hashes + np.uint64(word))
    return found


def _finalise(values: Array) -> Array:
    """Murmur3's last steps, over the token's hash."""
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))


@numba.njit(cache=True)
def _simhash(found: Array, content: Array, offsets: Array) -> None:
    """Votes of the hashes of all bigrams of bytes."""
    bits = 64 * found.shape[1]
    votes = np.zeros(bits, np.int64)
    for token in range(len(found)):
        votes[:] = 0
        for at in range(offsets[token], offsets[token + 1]):
            following = np.uint64(content[at + 1]) if at + 1 < offsets[token + 1] else np.uint64(0)
            state = np.uint64(content[at]) * np.uint64(257) + following
            for word in range(found.shape[1]):
                state = (state + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
                mixed = state ^ (state >> np.uint64(29))
                for bit in range(64):
                    votes[64 * word + bit] += 1 if (mixed >> np.uint64(bit)) & np.uint64(1) else -1
        for bit in range(bits):
            if votes[bit] > 0:
                found[token, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
