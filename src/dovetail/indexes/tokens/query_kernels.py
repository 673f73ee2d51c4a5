"""Kernels that look tokens up and find the groups that they are in: what every search over posting lists begins with.

Inputs are read-only C arrays; offsets were checked before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import gallop, same_run
from dovetail._types import Array

_DIGIT = 11  # bits: the counts of one pass fit into the nearest cache
_FEW = 256


_AT_ONCE = 512  # tokens looked up together: what they touch fits into a near cache


@compiled
def spread(groups: Array, group_tokens: Array) -> Array:
    """The tokens of some groups, one after another."""
    total = 0
    for i in range(len(groups)):
        total += group_tokens[groups[i] + 1] - group_tokens[groups[i]]
    tokens = np.empty(total, np.uint32)
    at = 0
    for i in range(len(groups)):
        for token in range(group_tokens[groups[i]], group_tokens[groups[i] + 1]):
            tokens[at] = token
            at += 1
    return tokens


@compiled
def count_leading(hashes: Array, counts: Array) -> None:
    """Count hashes by their leading bits, of which `counts`, one place longer than a power of two, says how many.

    Counts are shifted one place to the right, so that their running sum is where each part begins.
    """
    shift = _shift_for(counts)
    for i in range(len(hashes)):
        counts[int64(hashes[i] >> shift) + 1] += 1


@compiled
def _shift_for(starts: Array) -> Any:
    """By how much a hash is shifted to leave the leading bits that `starts` counts."""
    bits = 0
    while 1 << bits < len(starts) - 1:
        bits += 1
    return np.uint64(64 - bits)


@compiled
def _first_not_below(hashes: Array, place: int, value: Any) -> int:
    """The first place from this one on whose hash is not below the value: a few steps away."""
    while place < len(hashes) and hashes[place] < value:
        place += 1
    return place


@compiled
def find_tokens(
    starts: Array,
    hashes: Array,
    ids: Array,
    content: Array,
    offsets: Array,
    query_hashes: Array,
    query: Array,
    query_offsets: Array,
) -> Array:
    """The id of each token, or -1. Where 64-bit hashes collide, the bytes decide.

    A look-up visits five arrays at random places, and a mispredicted branch would keep the processor from fetching the
    next. So some tokens at a time go from array to array in loops without branches: many cache lines are fetched at
    once, and are there when the branch is taken.
    """
    number = len(query_hashes)
    found = np.full(number + 1, -1, np.int64)
    if len(hashes) == 0:
        return found[:number]
    shift, last, end = _shift_for(starts), len(hashes) - 1, max(len(content) - 1, 0)
    places, begins = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    touched = np.uint64(0)
    for first in range(0, number, _AT_ONCE):
        block = query_hashes[first : first + _AT_ONCE]
        for i in range(len(block)):
            places[i] = starts[int64(block[i] >> shift)]
        for i in range(len(block)):
            touched ^= hashes[min(places[i], last)] ^ np.uint64(ids[min(places[i], last)])
        for i in range(len(block)):
            places[i] = _first_not_below(hashes, places[i], block[i])
        for i in range(len(block)):
            begins[i] = offsets[ids[min(places[i], last)]]
        for i in range(len(block)):
            touched ^= np.uint64(content[min(begins[i], end)])
        for i in range(len(block)):
            place, at = places[i], first + i
            length = query_offsets[at + 1] - query_offsets[at]
            while place <= last and hashes[place] == block[i]:
                begin = offsets[ids[place]]
                same_length = offsets[ids[place] + 1] - begin == length
                if same_length and same_run(content, begin, query, query_offsets[at], length):
                    found[at] = ids[place]
                    break
                place += 1
    found[number] = touched  # what is read ahead has to go somewhere, or it would not be read
    return found[:number]


@compiled
def ascending(ids: Array, bound: int) -> Array:
    """The ids below `bound`, ascending, without those that are -1. A radix sort: queries may have 100,000 tokens."""
    known = 0
    items = np.empty(len(ids), np.uint32)
    for i in range(len(ids)):
        items[known] = ids[i]
        known += ids[i] >= 0
    items = items[:known]
    if known < _FEW:
        items.sort()
        return items
    moved = np.empty(known, np.uint32)
    mask = np.uint32((1 << _DIGIT) - 1)
    shift = 0
    while bound >> shift:
        starts = np.zeros((1 << _DIGIT) + 1, np.int64)
        for i in range(known):
            starts[((items[i] >> np.uint32(shift)) & mask) + 1] += 1
        for digit in range(1 << _DIGIT):
            starts[digit + 1] += starts[digit]
        for i in range(known):
            digit = (items[i] >> np.uint32(shift)) & mask
            moved[starts[digit]] = items[i]
            starts[digit] += 1
        items, moved = moved, items
        shift += _DIGIT
    return items


@compiled
def weigh_groups(ids: Array, group_tokens: Array) -> tuple[Array, Array]:
    """The groups of ascending token ids, which may be repeated, and how many distinct ids each group has."""
    groups = np.empty(len(ids), np.int64)
    weights = np.empty(len(ids), np.int64)
    found = 0
    group = 0
    for i in range(len(ids)):
        if i > 0 and ids[i] == ids[i - 1]:
            continue
        if found == 0 or ids[i] >= group_tokens[group + 1]:
            group = gallop(group_tokens, group, len(group_tokens), ids[i] + 1) - 1
            groups[found] = group
            weights[found] = 0
            found += 1
        weights[found - 1] += 1
    return groups[:found], weights[:found]
