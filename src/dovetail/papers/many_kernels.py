"""Kernels of MANY: Bloom signatures as a matrix of bits, and the candidates that pass them.

Row r of the matrix has a bit for every set: whether its signature has bit r. Rows consist of 64-bit words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def _mixed(value: int, seed: int) -> Any:
    """SplitMix64 of an item, one function for each seed."""
    state = (np.uint64(value) + _ONE) * _GOLDEN + np.uint64(seed) * _MIX_2
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


@compiled
def bit_matrix(
    group_offsets: Array, groups: Array, private: Array, shared: int, bits: int, hashes: int, passes: int
) -> Array:
    """`passes` signatures of `bits` bits for each set, one below the other, each with `hashes` hash functions.

    A group counts as one item, since the same sets hold all of its tokens; so do the private tokens of a set.
    """
    number = len(private)
    matrix = np.zeros((passes * bits, (number + 63) >> 6), np.uint64)
    for one in range(number):
        word, bit = one >> 6, _ONE << np.uint64(one & 63)
        for at in range(group_offsets[one], group_offsets[one + 1] + (private[one] > 0)):
            item = groups[at] if at < group_offsets[one + 1] else shared + one
            for seed in range(passes * hashes):
                row = np.int64(_mixed(item, seed) % np.uint64(bits))
                matrix[(seed // hashes) * bits + row, word] |= bit
    return matrix


@compiled
def _intersect(
    matrix: Array, column: int, inverted: bool, indexed: bool, candidates: Array, active: Array, number: int
) -> int:
    """Intersect the candidates with the rows in which the column's bit is set (or, inverted, is not set).

    `active` lists the words to read. If `indexed`, those that have become empty are dropped: the paper's indexed bit
    vector. Returns how many are left.
    """
    word, shift = column >> 6, np.uint64(column & 63)
    flip = _ALL if inverted else np.uint64(0)
    for row in range(matrix.shape[0]):
        if ((matrix[row, word] ^ flip) >> shift) & _ONE == 0:
            continue
        kept = 0
        for i in range(number):
            at = active[i]
            left = candidates[at] & (matrix[row, at] ^ flip)
            candidates[at] = left
            active[kept] = at
            kept += left != 0 or not indexed
        number = kept
        if number == 0:
            break
    return number


@compiled
def _includes(group_offsets: Array, groups: Array, one: int, other: int) -> bool:
    """Whether the second set has all groups of the first; both are ascending."""
    at, stop = group_offsets[other], group_offsets[other + 1]
    for i in range(group_offsets[one], group_offsets[one + 1]):
        while at < stop and groups[at] < groups[i]:
            at += 1
        if at == stop or groups[at] != groups[i]:
            return False
        at += 1
    return True


@compiled
def proposed(
    matrix: Array,
    first: int,
    last: int,
    referenced: bool,
    indexed: bool,
    most: Array,
    allowed: Array,
    sizes: Array,
    private: Array,
    group_offsets: Array,
    groups: Array,
    found: Array,
) -> tuple[int, int, int]:
    """Find the sets that include those from `first` to `last` (or, if `referenced`, that they include).

    Signatures propose, exact sets decide. `allowed` has a bit for each set that may be referenced, `most` the greatest
    size of a set that may include another. `found` is filled with (dependent, referenced, overlap) and needs room for
    all sets; returns the set to continue with, the number of rows, and the number of candidates validated.
    """
    number = len(sizes)
    words = matrix.shape[1]
    candidates, active = np.empty(words, np.uint64), np.empty(words, np.int64)
    filled, looked_at = 0, 0
    for one in range(first, last):
        if filled + number > len(found):
            return one, filled, looked_at
        if (not referenced and private[one] > 0) or (
            referenced and not (allowed[one >> 6] >> np.uint64(one & 63)) & _ONE
        ):
            continue
        # Sets are numbered by size: what includes a set comes after it, what it includes comes before.
        low, high = (0, (one >> 6) + 1) if referenced else (one >> 6, words)
        held = 0
        for at in range(low, high):
            candidates[at] = _ALL if referenced else allowed[at]
            active[held] = at
            held += candidates[at] != 0
        held = _intersect(matrix, one, referenced, indexed, candidates, active, held)
        for i in range(held):
            left = candidates[active[i]]
            for bit in range(64):
                other = (active[i] << 6) + bit
                if other >= number or (left >> np.uint64(bit)) & _ONE == 0:
                    continue
                dependent, holder = (other, one) if referenced else (one, other)
                # The empty set is handled elsewhere: it has no token that could propose anything.
                too_small = sizes[holder] <= sizes[dependent] or sizes[dependent] == 0
                if too_small or sizes[holder] > most[dependent] or private[dependent] > 0:
                    continue
                looked_at += 1
                if _includes(group_offsets, groups, dependent, holder):
                    found[filled, 0], found[filled, 1], found[filled, 2] = dependent, holder, sizes[dependent]
                    filled += 1
    return last, filled, looked_at
