"""Kernels that cut values into pieces and follow pieces to columns. Inputs are C arrays; offsets were checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._storage.packing_kernels import Packed, packed_at
from dovetail._types import Array
from dovetail.normalise.hash_kernels import decode_character

_LETTER, _DIGIT = 1, 2
_LONGEST = 200  # bytes: longer values are prose
_MOST_PIECES = 12  # of a query's value
_LEAST = 2  # characters of a piece
_LEAST_DIGITS = 3  # where there are no letters beside them
_LEAST_NUMBER = 5  # digits of a value that is a whole number: smaller ones are everywhere
_LEAST_CUT = 4  # characters of what is left of a piece that was cut
_BASIS, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of 64-bit FNV-1a
_MIX = np.uint64(11400714785074694791)  # the first prime of XXH64


@compiled
def _cut(
    content: Array, start: int, stop: int, folded: Array, kinds: Array, codes: Array, ends: Array
) -> int:  # fmt: skip
    """Write the characters of the pieces of one value end to end, and where each piece ends; how many there are.

    Uninformative pieces are left out: single characters, numbers below 10,000, decimal fractions.
    """
    if stop - start > _LONGEST:
        return 0
    pieces, size, at = 0, 0, start
    last_kind, begun = 0, 0
    letters, dots, others = False, 0, 0
    while at <= stop:
        code, width, kind = 0, 1, 0
        if at < stop:
            code, width = decode_character(content, at)
            kind = _LETTER if code >= len(kinds) else int64(kinds[code])
        if kind != last_kind and last_kind:
            if size - begun >= _LEAST:
                ends[pieces] = size
                pieces += 1
            else:
                size = begun
            begun = size
        if kind:
            codes[size] = code if code >= len(folded) else folded[code]
            size += 1
            letters |= kind == _LETTER
        elif at < stop:
            dots += code == 46
            others += code != 46 and at > start
        last_kind = kind
        at += width
    if letters or others:
        return _without_short_numbers(codes, ends, pieces) if not letters else pieces
    return pieces if dots == 0 and pieces == 1 and size >= _LEAST_NUMBER else 0


@compiled
def _without_short_numbers(codes: Array, ends: Array, pieces: int) -> int:
    kept, size, begun = 0, 0, 0
    for piece in range(pieces):
        end = ends[piece]
        if end - begun >= _LEAST_DIGITS:
            for place in range(begun, end):
                codes[size] = codes[place]
                size += 1
            ends[kept] = size
            kept += 1
        begun = end
    return kept


@compiled
def _hashed(codes: Array, a: int, a_end: int, b: int, b_end: int) -> Any:
    """32 bits of the hash of one run of characters and another after it."""
    value = _BASIS
    for place in range(a, a_end):
        value = (value ^ np.uint64(codes[place])) * _PRIME
    for place in range(b, b_end):
        value = (value ^ np.uint64(codes[place])) * _PRIME
    value = (value ^ (value >> np.uint64(32))) * _MIX
    return value >> np.uint64(32)


@compiled
def pair_pieces(
    content: Array, offsets: Array, first: int, group_tokens: Array, low: int, high: int, folded: Array, kinds: Array,
) -> Array:  # fmt: skip
    """The pieces of the tokens from `first` on, hash and group in one number, in no order."""
    codes, ends = np.empty(_LONGEST + 1, np.uint32), np.empty(_LONGEST + 1, np.int64)
    found = np.empty(offsets[-1] // _LEAST + 1, np.uint64)
    size = 0
    group = np.searchsorted(group_tokens, first, side="right") - 1
    for place in range(len(offsets) - 1):
        token = first + place
        while group + 1 < len(group_tokens) and group_tokens[group + 1] <= token:
            group += 1
        begun = 0
        for piece in range(_cut(content, offsets[place], offsets[place + 1], folded, kinds, codes, ends)):
            key = _hashed(codes, begun, ends[piece], 0, 0)
            begun = ends[piece]
            if np.uint64(low) <= key < np.uint64(high):
                found[size] = (key << np.uint64(32)) | np.uint64(group)
                size += 1
    return found[:size]


@compiled
def expand(content: Array, offsets: Array, folded: Array, kinds: Array) -> tuple[Array, Array]:
    """The keys of every value: the hashes, and where those of each value begin."""
    codes, ends = np.empty(_LONGEST + 1, np.uint32), np.empty(_LONGEST + 1, np.int64)
    starts = np.zeros(len(offsets), np.int64)
    keys = np.empty(8 * len(offsets) + 256, np.uint32)
    size = 0
    for value in range(len(offsets) - 1):
        pieces = _cut(content, offsets[value], offsets[value + 1], folded, kinds, codes, ends)
        pieces = min(pieces, _MOST_PIECES)
        if size + 16 * _MOST_PIECES > len(keys):
            keys = np.concatenate((keys, np.empty(len(keys), np.uint32)))
        for piece in range(pieces):
            a, a_end = int64(ends[piece - 1] if piece else 0), int64(ends[piece])
            keys[size] = _hashed(codes, a, a_end, 0, 0)
            size += 1
            if a_end - a > _LEAST_CUT:
                keys[size] = _hashed(codes, a + 1, a_end, 0, 0)
                keys[size + 1] = _hashed(codes, a, a_end - 1, 0, 0)
                size += 2
            for other in (piece + 1, pieces - 1):
                if piece < other < pieces and (other == piece + 1 or (piece == 0 and pieces > 2)):
                    b, b_end = ends[other - 1], ends[other]
                    keys[size] = _hashed(codes, a, a_end, b, b_end)
                    keys[size + 1] = _hashed(codes, b, b_end, a, a_end)
                    keys[size + 2] = _hashed(codes, a, a + 1, b, b_end)
                    keys[size + 3] = _hashed(codes, b, b_end, a, a + 1)
                    keys[size + 4] = _hashed(codes, a, a_end, b, b + 1)
                    keys[size + 5] = _hashed(codes, b, b + 1, a, a_end)
                    size += 6
        if pieces > 2:
            keys[size] = _hashed(codes, 0, ends[pieces - 1], 0, 0)
            size += 1
        starts[value + 1] = size
    return keys[:size], starts


@compiled
def count_holders(
    first: Array, last: Array, groups: Packed, posting_offsets: Array, posting_columns: Array, alive: Array
) -> Array:
    """For each range of pieces, how many of the columns that are alive hold one."""
    seen = np.full(len(alive), -1, np.int64)
    holders = np.zeros(len(first), np.int64)
    for key in range(len(first)):
        for place in range(first[key], last[key]):
            group = packed_at(groups, place)
            for posting in range(posting_offsets[group], posting_offsets[group + 1]):
                column = posting_columns[posting]
                if alive[column] and seen[column] != key:
                    seen[column] = key
                    holders[key] += 1
    return holders


@compiled
def sum_weights(
    first: Array, last: Array, weights: Array, groups: Packed, posting_offsets: Array, posting_columns: Array,
    columns: int,
) -> Array:  # fmt: skip
    """For each column the sum of the weights of the keys that it holds."""
    seen = np.full(columns, -1, np.int64)
    sums = np.zeros(columns)
    for key in range(len(first)):
        for place in range(first[key], last[key]):
            group = packed_at(groups, place)
            for posting in range(posting_offsets[group], posting_offsets[group + 1]):
                column = posting_columns[posting]
                if seen[column] != key:
                    seen[column] = key
                    sums[column] += weights[key]
    return sums


@compiled
def sharing(content: Array, offsets: Array, keys: Array, folded: Array, kinds: Array) -> Array:
    """For each of some tokens the least of the ascending keys that one of its pieces is; 2^32 where there is none."""
    codes, ends = np.empty(_LONGEST + 1, np.uint32), np.empty(_LONGEST + 1, np.int64)
    least = np.full(len(offsets) - 1, 1 << 32, np.int64)
    for place in range(len(least)):
        begun = 0
        for piece in range(_cut(content, offsets[place], offsets[place + 1], folded, kinds, codes, ends)):
            key = _hashed(codes, begun, ends[piece], 0, 0)
            begun = ends[piece]
            at = np.searchsorted(keys, key)
            if at < len(keys) and keys[at] == key:
                least[place] = min(least[place], np.int64(key))
    return least
