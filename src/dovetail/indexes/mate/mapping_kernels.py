"""The best mapping of a key's columns to a table's, by branch and bound: where there are too many to count each.

See Pairs in search_kernels; here they are ordered by their tuples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array


@compiled
def best_mapping(pairs: Any, width: int, count: int, least: int, mapping: Array, effort: Array) -> int:
    """The most distinct tuples that match under one mapping of the key's columns to different columns of the table.

    0 where no mapping reaches `least`; else the first of the best, by its columns in the key's order, is written to
    `mapping`. First the number is found, then the mapping. When the effort is spent, the best so far has to do.
    """
    best = _explore(pairs, width, count, least - 1, False, mapping, effort)
    if best < least:
        return 0
    if effort[0] > 0:
        _explore(pairs, width, count, best - 1, True, mapping, effort)
    return best


@compiled
def _explore(pairs: Any, width: int, count: int, best: int, ordered: bool, mapping: Array, effort: Array) -> int:
    """Fix one column of the key after another, and leave a branch where no mapping can have more than `best` tuples.

    In order: the key's columns as they come, the table's from left to right, up to the first mapping. Else the column
    of the key comes first that leaves fewest tuples, and the table's columns by falling support.
    """
    kept = np.empty((width + 1, len(pairs.order)), np.int64)
    kept[0] = pairs.order
    sizes = np.zeros(width + 1, np.int64)
    sizes[0] = len(pairs.order)
    tried = np.zeros((width, count), np.int64)  # at each depth the table's columns to try,
    supports = np.zeros((width, count), np.int64)  # and how many tuples each would leave
    tries, at, position = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64)
    chosen, used = np.full(width, -1, np.int64), np.zeros(count, np.bool_)
    depth = 0
    if _plan(pairs, kept, sizes, 0, ordered, chosen, used, tried, supports, tries, at, position) <= best:
        return best
    while depth >= 0 and effort[0] > 0:
        j = position[depth]
        if chosen[j] >= 0:
            used[chosen[j]] = False
            chosen[j] = -1
        if at[depth] == tries[depth]:
            depth -= 1
            continue
        column, support = tried[depth, at[depth]], supports[depth, at[depth]]
        at[depth] += 1
        if support <= best:
            continue
        chosen[j], used[column] = column, True
        if depth + 1 == width:
            best = support
            mapping[:] = chosen
            if ordered:
                return best
            continue
        _keep(pairs, kept, sizes, depth, j, width, column)
        effort[0] -= (sizes[depth + 1] + count) * width
        bound = _plan(pairs, kept, sizes, depth + 1, ordered, chosen, used, tried, supports, tries, at, position)
        if bound > best:
            depth += 1
    return best


@compiled
def _plan(
    pairs: Any, kept: Array, sizes: Array, depth: int, ordered: bool, chosen: Array,
    used: Array, tried: Array, supports: Array, tries: Array, at: Array, position: Array,
) -> int:  # fmt: skip
    """Which column of the key is fixed at this depth, and what it can be; the most tuples that can be left in the end.

    Every open column of the key must become some column of the table, so the best of each is a bound for all.
    """
    width, count = len(chosen), len(used)
    support, last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    bound = int64(-1)
    for j in range(width):
        if chosen[j] >= 0:
            continue
        support[:] = 0
        last[:] = -1
        for i in range(sizes[depth]):
            pair = kept[depth, i]
            place = pair * width + j
            for c in range(pairs.ends[place - 1] if place else 0, pairs.ends[place]):
                column = pairs.choices[c]
                if last[column] != pairs.owners[pair]:
                    last[column] = pairs.owners[pair]
                    support[column] += not used[column]
        most = support.max()
        first_open = bound < 0
        if first_open or (most < bound and not ordered):
            position[depth], tries[depth], at[depth] = j, 0, 0
            for column in range(count):
                if support[column]:
                    tried[depth, tries[depth]], supports[depth, tries[depth]] = column, support[column]
                    tries[depth] += 1
        bound = most if first_open else min(bound, most)
    if not ordered:
        size = tries[depth]
        by_support = np.argsort(-supports[depth, :size])
        tried[depth, :size] = tried[depth, :size][by_support]
        supports[depth, :size] = supports[depth, :size][by_support]
    return bound


@compiled
def _keep(pairs: Any, kept: Array, sizes: Array, depth: int, j: int, width: int, column: int) -> None:
    """The pairs that allow a column of the table for column j of the key go one deeper."""
    size = 0
    for i in range(sizes[depth]):
        pair = kept[depth, i]
        place = pair * width + j
        for c in range(pairs.ends[place - 1] if place else 0, pairs.ends[place]):
            if pairs.choices[c] == column:
                kept[depth + 1, size] = pair
                size += 1
                break
    sizes[depth + 1] = size
