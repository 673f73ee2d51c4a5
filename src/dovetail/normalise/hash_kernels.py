"""Kernels over bytes of UTF-8: XXH64 of strings, and their single characters."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xxhash

from dovetail._compile import compiled, compiled_beside, int64
from dovetail._types import Array

P1 = np.uint64(11400714785074694791)
P2 = np.uint64(14029467366897019727)
_P3 = np.uint64(1609587929392839161)
_P4 = np.uint64(9650029242287828579)
_P5 = np.uint64(2870177450012600261)


@compiled
def rotate(value: Any, by: int) -> Any:
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))


@compiled
def _round(accumulator: Any, lane: Any) -> Any:
    return rotate(accumulator + lane * P2, 31) * P1


@compiled
def _merge_round(accumulator: Any, value: Any) -> Any:
    return (accumulator ^ _round(np.uint64(0), value)) * P1 + _P4


@compiled
def _read(content: Array, at: int, width: int) -> Any:
    """A little-endian integer of `width` bytes."""
    value = np.uint64(0)
    for i in range(width):
        value |= np.uint64(content[at + i]) << np.uint64(8 * i)
    return value


def _hash_bytes(content: Array, start: int, stop: int) -> Any:
    return np.uint64(xxhash.xxh64_intdigest(content[start:stop].data))


def _hash_strings(content: Array, offsets: Array) -> Array:
    view = content.data
    pairs = itertools.pairwise(offsets.tolist())
    return np.fromiter((xxhash.xxh64_intdigest(view[start:stop]) for start, stop in pairs), np.uint64)


@compiled_beside(_hash_bytes)
def hash_bytes(content: Array, start: int, stop: int) -> Any:
    """XXH64 with seed 0, as its specification has it."""
    length = stop - start
    at = start
    if length >= 32:
        v1, v2, v3, v4 = P1 + P2, P2, np.uint64(0), np.uint64(0) - P1
        while at + 32 <= stop:
            v1 = _round(v1, _read(content, at, 8))
            v2 = _round(v2, _read(content, at + 8, 8))
            v3 = _round(v3, _read(content, at + 16, 8))
            v4 = _round(v4, _read(content, at + 24, 8))
            at += 32
        result = rotate(v1, 1) + rotate(v2, 7) + rotate(v3, 12) + rotate(v4, 18)
        result = _merge_round(_merge_round(_merge_round(_merge_round(result, v1), v2), v3), v4)
    else:
        result = _P5
    result += np.uint64(length)
    while at + 8 <= stop:
        result = rotate(result ^ _round(np.uint64(0), _read(content, at, 8)), 27) * P1 + _P4
        at += 8
    if at + 4 <= stop:
        result = rotate(result ^ (_read(content, at, 4) * P1), 23) * P2 + _P3
        at += 4
    while at < stop:
        result = rotate(result ^ (np.uint64(content[at]) * _P5), 11) * P1
        at += 1
    result = (result ^ (result >> np.uint64(33))) * P2
    result = (result ^ (result >> np.uint64(29))) * _P3
    return result ^ (result >> np.uint64(32))


@compiled_beside(_hash_strings)
def hash_strings(content: Array, offsets: Array) -> Array:
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        hashes[i] = hash_bytes(content, offsets[i], offsets[i + 1])
    return hashes


@compiled
def decode_character(content: Array, at: int) -> tuple[int, int]:
    """The code point at a place of valid UTF-8 text, and its width in bytes."""
    first = int64(content[at])
    if first < 0x80:
        return first, 1
    width = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    point = first & (0x7F >> width)
    for byte in range(1, width):
        point = (point << 6) | (int64(content[at + byte]) & 0x3F)
    return point, width
