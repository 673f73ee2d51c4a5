"""Kernels that sort dependencies by score and keep the best few of each column."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_DIGIT = 11  # bits per pass of the radix sort: 2,048 counters fit into the level-1 cache


@compiled
def pack_keys(scores: Array, dependent: Array, referenced: Array, rank: Array, steps: int, bits: int) -> Array:
    """One sortable number for each dependency: by score, best first, then by the ranks of its columns."""
    keys = np.empty(len(scores), np.uint64)
    for i in range(len(scores)):
        worse = np.uint64(steps - np.rint(scores[i] * steps))
        one, other = np.uint64(rank[dependent[i]]), np.uint64(rank[referenced[i]])
        keys[i] = (worse << np.uint64(2 * bits)) | (one << np.uint64(bits)) | other
    return keys


@compiled
def sort_keys(keys: Array, overlaps: Array) -> tuple[Array, Array]:
    """Both arrays in the order of the keys, by radix sort; digits in which all keys agree are skipped."""
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

    `at_rank` holds the table, the name and the size of the column at each rank.
    """
    mask = np.uint64((1 << bits) - 1)
    for i in range(len(keys)):
        one, other = (keys[i] >> np.uint64(bits)) & mask, keys[i] & mask
        ends[0, i], ends[1, i] = at_rank[one, 0], at_rank[one, 1]
        ends[2, i], ends[3, i] = at_rank[other, 0], at_rank[other, 1]
        shares[0, i] = overlaps[i] / at_rank[one, 2] if at_rank[one, 2] > 0 else 1.0
        shares[1, i] = overlaps[i] / max(1, at_rank[other, 2])
        shares[2, i] = (steps - np.int64(keys[i] >> np.uint64(2 * bits))) / steps


@compiled
def keep_best(
    dependent: Array,
    referenced: Array,
    overlap: Array,
    scores: Array,
    table_of: Array,
    best: Array,
    targets: Array,
    overlaps: Array,
    counts: Array,
) -> None:
    """Keep the best pairs of each dependent column, at most one for each table; of equal ones the first stays."""
    for p in range(len(dependent)):
        column, table = dependent[p], table_of[referenced[p]]
        counts[column] += 1
        last = best.shape[1] - 1  # the pair to give up: the same table's, else the worst
        for k in range(best.shape[1]):
            if best[column, k] >= 0 and table_of[targets[column, k]] == table:
                last = k
        if best[column, last] >= scores[p]:
            continue
        place = last
        while place > 0 and best[column, place - 1] < scores[p]:
            best[column, place] = best[column, place - 1]
            targets[column, place], overlaps[column, place] = targets[column, place - 1], overlaps[column, place - 1]
            place -= 1
        best[column, place] = scores[p]
        targets[column, place], overlaps[column, place] = referenced[p], overlap[p]
