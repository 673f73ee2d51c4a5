"""Kernels over posting lists and sets, which decide what the answers are. Inputs are read-only C arrays.

The compiled functions keep their plain Python form as `.py_func`, which the tests use as the oracle. A query is given
by the `groups` of its tokens, ascending, and `after`: how many of its tokens lie in each group and those after it, then
a 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled

Array = npt.NDArray[Any]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HIGH_HALF = np.uint64(32)
_SEARCH_STEPS = 9  # what searching a group in a set costs, in postings read from a list, about
_TABLE_STEPS = 3  # the same for looking a group up in a table


@compiled
def _seek(values: Array, start: int, stop: int, wanted: int) -> int:
    """The first place from `start` on whose value is at least `wanted`: steps that double, then a binary search."""
    low, step = start, 1
    while low + step < stop and values[low + step] < wanted:
        low += step
        step *= 2
    high = min(low + step, stop)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def groups_of_tokens(tokens: Array, group_tokens: Array) -> tuple[Array, Array]:
    """The groups of ascending tokens, and how many of the tokens lie in each and those after it, then a 0."""
    groups = np.empty(len(tokens), np.int64)
    firsts = np.empty(len(tokens), np.int64)
    found, at = 0, 0
    for i in range(len(tokens)):
        if found and tokens[i] < group_tokens[groups[found - 1] + 1]:
            continue
        at = _seek(group_tokens, at, len(group_tokens), tokens[i] + 1) - 1
        groups[found], firsts[found] = at, i
        found += 1
    after = np.zeros(found + 1, np.int64)
    for i in range(found):
        after[i] = len(tokens) - firsts[i]
    return groups[:found], after


@compiled
def overlap_from(
    set_groups: Array, start: int, stop: int, groups: Array, after: Array, first: int, overlap: int, need: int
) -> int:
    """`overlap`, and the query's tokens from its group `first` on that lie in the set; less than `need` if it cannot.

    after[i] counts the query's tokens in its groups from i on. The shorter list is walked, the longer one searched.
    """
    at, i = start, first
    if stop - start < len(groups) - first:
        while at < stop and overlap + after[i] >= need:
            i = _seek(groups, i, len(groups), set_groups[at])
            if i == len(groups):
                break
            if groups[i] == set_groups[at]:
                overlap += after[i] - after[i + 1]
                i += 1
            at += 1
        return overlap
    while i < len(groups) and overlap + after[i] >= need:
        at = _seek(set_groups, at, stop, groups[i])
        if at == stop:
            break
        if set_groups[at] == groups[i]:
            overlap += after[i] - after[i + 1]
            at += 1
        i += 1
    return overlap


@compiled
def _slot(group: int, mask: int) -> Any:
    """Where a group is looked for first in a table of mask + 1 places."""
    return np.int64((np.uint64(group) * _SPREAD) >> _HIGH_HALF) & mask


@compiled
def tabulate(groups: Array, after: Array) -> tuple[Array, Array]:
    """The query's groups with their tokens as a hash table, a quarter full: groups, or -1, and tokens."""
    places = 4
    while places < 4 * len(groups):
        places *= 2
    keys = np.full(places, -1, np.int64)
    tokens = np.zeros(places, np.int64)
    for i in range(len(groups)):
        slot = _slot(groups[i], places - 1)
        while keys[slot] >= 0:
            slot = (slot + 1) & (places - 1)
        keys[slot], tokens[slot] = groups[i], after[i] - after[i + 1]
    return keys, tokens


@compiled
def _overlap_by_table(set_groups: Array, start: int, stop: int, keys: Array, tokens: Array) -> int:
    mask = len(keys) - 1
    overlap = 0
    for at in range(start, stop):
        slot = _slot(set_groups[at], mask)
        while keys[slot] >= 0:
            if keys[slot] == set_groups[at]:
                overlap += tokens[slot]
                break
            slot = (slot + 1) & mask
    return overlap


@compiled
def verify_columns(
    columns: Array, sets: tuple[Array, Array, Array], groups: Array, after: Array, need: int
) -> tuple[Array, Array]:
    """Those of the columns that hold `need` of the query's tokens, with their overlaps.

    `sets` is (set_group_offsets, set_groups, set_offsets). Each group of a set is looked up in a table of the query's;
    in a set with many more groups than the query, the query's are searched.
    """
    set_group_offsets, set_groups, _ = sets
    keys, tokens = tabulate(groups, after)
    found = np.empty(len(columns), np.uint32)
    overlaps = np.empty(len(columns), np.int64)
    hits = 0
    for i in range(len(columns)):
        start, stop = set_group_offsets[columns[i]], set_group_offsets[columns[i] + 1]
        if _TABLE_STEPS * (stop - start) > _SEARCH_STEPS * len(groups):
            overlap = overlap_from(set_groups, start, stop, groups, after, 0, 0, need)
        else:
            overlap = _overlap_by_table(set_groups, start, stop, keys, tokens)
        if overlap >= need:
            found[hits], overlaps[hits] = columns[i], overlap
            hits += 1
    return found[:hits], overlaps[:hits]


@compiled
def verification_steps(columns: Array, set_group_offsets: Array, groups: int) -> int:
    """About what verifying the columns costs, in postings read from a list, for a query of so many groups."""
    steps = 0
    for i in range(len(columns)):
        members = set_group_offsets[columns[i] + 1] - set_group_offsets[columns[i]]
        steps += min(_TABLE_STEPS * members, _SEARCH_STEPS * groups)
    return steps


@compiled
def answer_by_postings(
    groups: Array,
    after: Array,
    prefix: int,
    need: int,
    below: int,
    postings: tuple[Array, Array],
    sets: tuple[Array, Array, Array],
    allowed: Array,
) -> tuple[Array, Array, Array]:
    """The prefix filter, over sets of at least `need` and less than `below` tokens.

    A set with `need` of the query's tokens holds one of its first `prefix` groups. Their lists give candidates with a
    part of their overlap; the rest comes from the other lists or from the candidates' sets, whichever is shorter.
    Returns columns, overlaps and the counts of lists, postings and sets read.
    """
    set_group_offsets, set_groups, set_offsets = sets
    counts = np.zeros(len(set_offsets) - 1, np.uint32)
    read = _lengths(groups, 0, prefix, postings[0])
    touched = np.empty(min(read, len(counts)), np.uint32)
    reached = _count_first_lists(groups, after, prefix, postings, counts, touched)
    kept, by_sets = 0, 0
    for i in range(reached):
        column = touched[i]
        size = set_offsets[column + 1] - set_offsets[column]
        if size < need or size >= below or (len(allowed) and not allowed[column]):
            counts[column] = 0
            continue
        touched[kept] = column
        kept += 1
        by_sets += min(set_group_offsets[column + 1] - set_group_offsets[column], len(groups) - prefix)
    work = np.array([prefix, read, 0])
    by_lists = _lengths(groups, prefix, len(groups), postings[0])
    if by_lists <= _SEARCH_STEPS * by_sets:
        work[0], work[1] = len(groups), read + by_lists
        _count_other_lists(groups, after, prefix, postings, counts)
    else:
        work[2] = kept
        for i in range(kept):
            begin, end = set_group_offsets[touched[i]], set_group_offsets[touched[i] + 1]
            known = counts[touched[i]]
            counts[touched[i]] = overlap_from(set_groups, begin, end, groups, after, prefix, known, need)
    hits = 0
    for i in range(kept):
        if counts[touched[i]] >= need:
            touched[hits] = touched[i]
            hits += 1
    overlaps = np.empty(hits, np.int64)
    for i in range(hits):
        overlaps[i] = counts[touched[i]]
    return touched[:hits], overlaps, work


@compiled
def _lengths(groups: Array, first: int, last: int, posting_offsets: Array) -> int:
    """How many postings the lists of some of the query's groups have."""
    total = 0
    for i in range(first, last):
        total += posting_offsets[groups[i] + 1] - posting_offsets[groups[i]]
    return total


@compiled
def _count_first_lists(
    groups: Array, after: Array, prefix: int, postings: tuple[Array, Array], counts: Array, touched: Array
) -> int:
    """Add the query's tokens of each group to the columns that hold it; returns how many these are, in `touched`."""
    offsets, columns = postings
    reached = 0
    for i in range(prefix):
        tokens = np.uint32(after[i] - after[i + 1])
        for at in range(offsets[groups[i]], offsets[groups[i] + 1]):
            column = columns[at]
            if counts[column] == 0:
                touched[reached] = column
                reached += 1
            counts[column] += tokens
    return reached


@compiled
def _count_other_lists(groups: Array, after: Array, prefix: int, postings: tuple[Array, Array], counts: Array) -> None:
    """The same for the other groups, where a column is a candidate already."""
    offsets, columns = postings
    for i in range(prefix, len(groups)):
        tokens = np.uint32(after[i] - after[i + 1])
        for at in range(offsets[groups[i]], offsets[groups[i] + 1]):
            if counts[columns[at]]:
                counts[columns[at]] += tokens
