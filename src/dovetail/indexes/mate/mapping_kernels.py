"""The best mapping of a key's columns to a table's: by counting all, or by branch and bound where they are many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

GOLDEN = -7046029254386353131  # 2^64 divided by the golden ratio
LITTLE_ROOM = 64
READ, CHECKED, PASSED, TRUE, TABLES, CUT, EFFORT = range(7)
"""What is counted: posting items read, key tuples held against a row, those that passed, that matched; tables read,
those that were not, or not wholly, because the effort was spent; and what is left of it."""
ROW, VALUES, COLUMNS, CELLS, PAIRS, CHOICES = range(6)
"""What is counted in a table: rows looked up so far, and for the last the values found in it; columns with a value of
the key, cells of such values; pairs found, and all of their choices."""
V_TABLE, V_COLUMNS, V_ROW, V_COUNT, V_FIRST, V_HASH, V_START, V_BEGIN, V_END = range(9)
"""What is known of a value of the key, where the table, row and start are those at hand: in how many columns of the
table it occurs; how often it occurs in the row, the first of its columns there, a hash of these; and the tuples of the
start that have it as their second value."""
C_TABLE, C_NEXT = range(2)
"""Of a column: whether it holds a value of the key in this table; the next one with the same value in the row."""


_STEPS_A_MAPPING = 16  # of counting, at most on average


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


class Pairs(NamedTuple):
    """Matching pairs of a tuple and a row: their tuples, and which columns of the table can match the key's.

    The columns for column j of the key in pair p end at `ends[p * width + j]` and begin where the ones before end. Rows
    that match a tuple in the same columns are one pair: `slots` is a hash table of them.
    """

    owners: Array
    ends: Array
    choices: Array
    hashes: Array
    slots: Array


@compiled
def _grown(array: Array) -> Array:
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def add_pair(tuple_: int, table: int, key: Any, seen: Any, pairs: Pairs, n: Array, work: Array) -> Pairs:
    """Add the pair of a tuple and the row that was looked up, if the row holds the tuple and the pair is new.

    A value that the tuple has twice must occur twice. Where each value occurs in one column of the table only, there is
    one mapping, and the tuple is done.
    """
    width = key.tuples.shape[1]
    mixed, total, one_way = int64(tuple_), int64(0), True
    for j in range(width):
        value = key.tuples[tuple_, j]
        needed = 0
        for other in range(width):
            needed += key.tuples[tuple_, other] == value
        if seen.values[value, V_ROW] != n[ROW] or seen.values[value, V_COUNT] < needed:
            return pairs
        total += seen.values[value, V_COUNT]
        one_way &= seen.values[value, V_COLUMNS] == 1
        mixed = (mixed ^ (seen.values[value, V_HASH] >> 7)) * GOLDEN
    work[TRUE] += 1
    work[EFFORT] -= total + width
    if one_way:
        seen.done[tuple_] = table
    pairs = _with_room(pairs, width, total, n)
    pair, size = n[PAIRS], n[CHOICES]
    for j in range(width):
        column = seen.values[key.tuples[tuple_, j], V_FIRST]
        while column >= 0:
            pairs.choices[size] = column
            size += 1
            column = seen.columns[column, C_NEXT]
        pairs.ends[pair * width + j] = size
    pairs.owners[pair], pairs.hashes[pair] = tuple_, mixed
    slot = _pair_slot(pair, pairs, pairs.slots, width)
    if pairs.slots[slot] < 0:
        pairs.slots[slot] = pair
        n[PAIRS] += 1
        n[CHOICES] = size
    return pairs


@compiled
def _pair_slot(pair: int, pairs: Pairs, slots: Array, width: int) -> int:
    """The slot of an equal pair, or the empty slot for this one."""
    mask = len(slots) - 1
    slot = int64(pairs.hashes[pair] >> 32) & mask
    while slots[slot] >= 0 and not _same(slots[slot], pair, pairs, width):
        slot = (slot + 1) & mask
    return slot


@compiled
def _same(one: int, other: int, pairs: Pairs, width: int) -> bool:
    """Whether two pairs have the same tuple, and the same columns to choose from."""
    if pairs.hashes[one] != pairs.hashes[other] or pairs.owners[one] != pairs.owners[other]:
        return False
    begins = (pairs.ends[one * width - 1] if one else 0), (pairs.ends[other * width - 1] if other else 0)
    same = True
    for j in range(width):
        same &= pairs.ends[one * width + j] - begins[0] == pairs.ends[other * width + j] - begins[1]
    if same:
        for c in range(pairs.ends[(one + 1) * width - 1] - begins[0]):
            same &= pairs.choices[begins[0] + c] == pairs.choices[begins[1] + c]
    return same


@compiled
def no_pairs(width: int) -> Pairs:
    room = LITTLE_ROOM
    return Pairs(
        np.empty(room, np.int64), np.empty(room * width, np.int64), np.empty(room * width, np.int64),
        np.empty(room, np.int64), np.full(2 * room, -1, np.int64),
    )  # fmt: skip


@compiled
def _with_room(pairs: Pairs, width: int, total: int, n: Array) -> Pairs:
    """The pairs, with room for one more of so many choices."""
    owners, ends, choices, hashes, slots = pairs
    while n[CHOICES] + total > len(choices):
        choices = _grown(choices)
    if n[PAIRS] + 1 > len(owners):
        owners, ends, hashes = _grown(owners), _grown(ends), _grown(hashes)
    if 2 * (n[PAIRS] + 1) > len(slots):
        slots = np.full(4 * len(slots), -1, np.int64)
        for pair in range(n[PAIRS]):
            slots[_pair_slot(pair, pairs, slots, width)] = pair
    return Pairs(owners, ends, choices, hashes, slots)


@compiled
def count_mappings(
    pairs: Pairs, width: int, count: int, most_mappings: int, n: Array, mapping: Array, work: Array
) -> int:
    """Count the tuples of every mapping; the most, with the first mapping that has them. -1: too many mappings.

    A mapping is a number, whose digits are the columns of the table that each column of the key can be.
    """
    digits, bases = np.full((width, count), -1, np.int64), np.zeros(width, np.int64)
    steps, most_steps = int64(0), most_mappings * _STEPS_A_MAPPING
    for pair in range(n[PAIRS]):
        ways = int64(1)
        for place in range(pair * width, (pair + 1) * width):
            begin = pairs.ends[place - 1] if place else 0
            ways = min(ways * (pairs.ends[place] - begin), most_steps + 1)
            for c in range(begin, pairs.ends[place]):
                digits[place % width, pairs.choices[c]] = 0
        steps += ways
    mappings = int64(1)
    for j in range(width):
        for column in range(count):
            if digits[j, column] == 0:
                digits[j, column] = bases[j]
                bases[j] += 1
        mappings = min(mappings * bases[j], most_mappings + 1)
    if mappings > most_mappings or steps > most_steps:
        return -1
    work[EFFORT] -= mappings + steps
    supports = _supports(pairs, width, bases, digits, mappings, n)
    best = int64(np.argmax(supports))
    code = best
    for j in range(width - 1, -1, -1):
        for column in range(count):
            if digits[j, column] == code % bases[j]:
                mapping[j] = column
        code //= bases[j]
    return int64(supports[best])


@compiled
def _supports(pairs: Pairs, width: int, bases: Array, digits: Array, mappings: int, n: Array) -> Array:
    """How many tuples match under each mapping."""
    supports, last = np.zeros(mappings, np.int32), np.full(mappings, -1, np.int32)
    codes, at, chosen = np.zeros(width + 1, np.int64), np.zeros(width, np.int64), np.full(width, -1, np.int64)
    for pair in np.argsort(pairs.owners[: n[PAIRS]], kind="mergesort"):
        j = 0
        at[0] = pairs.ends[pair * width - 1] if pair else 0
        while j >= 0:
            if at[j] == pairs.ends[pair * width + j]:
                j -= 1
                continue
            column = pairs.choices[at[j]]
            at[j] += 1
            taken = False
            for other in range(j):
                taken |= chosen[other] == column
            if taken:
                continue
            chosen[j] = column
            codes[j + 1] = codes[j] * bases[j] + digits[j, column]
            if j + 1 < width:
                at[j + 1] = pairs.ends[pair * width + j]
                j += 1
            elif last[codes[width]] != pairs.owners[pair]:
                last[codes[width]] = pairs.owners[pair]
                supports[codes[width]] += 1
    return supports
