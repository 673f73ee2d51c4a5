"""From tokens to the groups that they lie in: what every search over posting lists begins with."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_DIGIT = 11  # bits: the counts of one pass fit into the nearest cache
_FEW = 256


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
            group = _last_not_above(group_tokens, group, ids[i])
            groups[found] = group
            weights[found] = 0
            found += 1
        weights[found - 1] += 1
    return groups[:found], weights[:found]


@compiled
def _last_not_above(values: Array, low: int, value: int) -> int:
    """The last place from `low` on that is not above the value: near places are found in few steps."""
    step = 1
    while low + step < len(values) and values[low + step] <= value:
        low += step
        step *= 2
    high = min(low + step, len(values))
    while low + 1 < high:
        middle = (low + high) >> 1
        if values[middle] <= value:
            low = middle
        else:
            high = middle
    return low
