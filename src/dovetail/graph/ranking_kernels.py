"""Kernels that sort dependencies by score and take them apart again."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_DIGIT = 11  # bits that one pass sorts by: its counters stay in the nearest cache


@compiled
def pack_keys(scores: Array, dependent: Array, referenced: Array, rank: Array, steps: int, bits: int) -> Array:
    """One number for each dependency that sorts by score, best first, and then by the ranks of its columns."""
    keys = np.empty(len(scores), np.uint64)
    for i in range(len(scores)):
        worse = np.uint64(steps - np.rint(scores[i] * steps))
        one, other = np.uint64(rank[dependent[i]]), np.uint64(rank[referenced[i]])
        keys[i] = (worse << np.uint64(2 * bits)) | (one << np.uint64(bits)) | other
    return keys


@compiled
def sort_keys(keys: Array, overlaps: Array) -> tuple[Array, Array]:
    """Both arrays in the order of the keys: from the last digit to the first, those aside in which all are equal."""
    number = len(keys)
    differ = np.uint64(0)
    for i in range(number):
        differ |= keys[i] ^ keys[0]
    spare_keys, spare_overlaps = np.empty_like(keys), np.empty_like(overlaps)
    mask = np.uint64((1 << _DIGIT) - 1)
    shift = np.uint64(0)
    while shift < np.uint64(64) and differ >> shift:
        if (differ >> shift) & mask:
            places = np.zeros((1 << _DIGIT) + 1, np.int64)
            for i in range(number):
                places[((keys[i] >> shift) & mask) + np.uint64(1)] += 1
            for digit in range(1 << _DIGIT):
                places[digit + 1] += places[digit]
            for i in range(number):
                digit = (keys[i] >> shift) & mask
                place = places[digit]
                places[digit] = place + 1
                spare_keys[place], spare_overlaps[place] = keys[i], overlaps[i]
            keys, spare_keys = spare_keys, keys
            overlaps, spare_overlaps = spare_overlaps, overlaps
        shift += np.uint64(_DIGIT)
    return keys, overlaps


@compiled
def unpack(keys: Array, overlaps: Array, at_rank: Array, steps: int, bits: int, ends: Array, shares: Array) -> None:
    """Fill `ends` with the tables and names of both columns, `shares` with containment, coverage and score.

    `at_rank` has the table, the name and the size of the column at each rank.
    """
    mask = np.uint64((1 << bits) - 1)
    for i in range(len(keys)):
        one, other = (keys[i] >> np.uint64(bits)) & mask, keys[i] & mask
        ends[0, i], ends[1, i] = at_rank[one, 0], at_rank[one, 1]
        ends[2, i], ends[3, i] = at_rank[other, 0], at_rank[other, 1]
        shares[0, i] = overlaps[i] / at_rank[one, 2] if at_rank[one, 2] > 0 else 1.0
        shares[1, i] = overlaps[i] / max(1, at_rank[other, 2])
        shares[2, i] = (steps - np.int64(keys[i] >> np.uint64(2 * bits))) / steps
