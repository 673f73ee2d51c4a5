"""Kernels over posting lists and sets, which decide what the answers are. Inputs are read-only C arrays.

The compiled functions keep their plain Python form as `.py_func`, which the tests use as the oracle. A query is given
by the `groups` of its tokens, ascending, and `after`: how many of its tokens lie in each group and those after it, then
a 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import first_below, gallop
from dovetail._types import Array

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: multiplicative hashing
_HIGH_HALF = np.uint64(32)


@compiled
def sum_after(weights: Array) -> Array:
    """How many of the query's tokens lie in each of its groups and those after it, then a 0."""
    after = np.zeros(len(weights) + 1, np.int64)
    for i in range(len(weights) - 1, -1, -1):
        after[i] = after[i + 1] + weights[i]
    return after


@compiled
def find_prefix(groups: Array, after: Array, need: int, posting_offsets: Array) -> tuple[int, int]:
    """The prefix: how many groups must be read to reach every set with `need` of the tokens; and its postings.

    All but need - 1 tokens must be read.
    """
    prefix = first_below(after, 0, need)
    return prefix, count_postings(groups, 0, prefix, posting_offsets)


@compiled
def count_postings(groups: Array, first: int, last: int, posting_offsets: Array) -> int:
    """How many postings the lists of some of the query's groups have."""
    total = 0
    for i in range(first, last):
        total += posting_offsets[groups[i] + 1] - posting_offsets[groups[i]]
    return total


@compiled
def overlap_from(
    set_groups: Array, start: int, stop: int, groups: Array, after: Array, first: int, overlap: int, need: int
) -> tuple[int, int]:
    """`overlap`, and the query's tokens from its group `first` on that lie in the set; less than `need` if it cannot.

    after[i] counts the query's tokens in its groups from i on. The shorter list is walked, the longer one searched.
    Returns also how many searches that took.
    """
    at, i = start, first
    if stop - start < len(groups) - first:
        while at < stop and overlap + after[i] >= need:
            i = gallop(groups, i, len(groups), set_groups[at])
            if i == len(groups):
                break
            if groups[i] == set_groups[at]:
                overlap += after[i] - after[i + 1]
                i += 1
            at += 1
        return overlap, at - start
    while i < len(groups) and overlap + after[i] >= need:
        at = gallop(set_groups, at, stop, groups[i])
        if at == stop:
            break
        if set_groups[at] == groups[i]:
            overlap += after[i] - after[i + 1]
            at += 1
        i += 1
    return overlap, i - first


@compiled
def _slot(group: int, mask: int) -> Any:
    """The first slot of a group in a hash table of mask + 1 slots."""
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
    columns: Array,
    sets: tuple[Array, Array, Array],
    groups: Array,
    after: Array,
    need: int,
    look_up: float,
    search: float,
) -> tuple[Array, Array]:
    """Those of the columns that hold `need` of the query's tokens, with their overlaps.

    `sets` is (set_group_offsets, set_groups, set_offsets). Each group of a set is looked up in a table of the query's;
    in a set with many more groups than the query, the query's are searched. `look_up` and `search` are what one costs.
    """
    set_group_offsets, set_groups, _ = sets
    keys, tokens = tabulate(groups, after)
    found = np.empty(len(columns), np.uint32)
    overlaps = np.empty(len(columns), np.int64)
    hits = 0
    for i in range(len(columns)):
        start, stop = set_group_offsets[columns[i]], set_group_offsets[columns[i] + 1]
        if look_up * (stop - start) > search * len(groups):
            overlap, _ = overlap_from(set_groups, start, stop, groups, after, 0, 0, need)
        else:
            overlap = _overlap_by_table(set_groups, start, stop, keys, tokens)
        if overlap >= need:
            found[hits], overlaps[hits] = columns[i], overlap
            hits += 1
    return found[:hits], overlaps[:hits]


@compiled
def cost_of_verifying(columns: Array, set_group_offsets: Array, groups: int, look_up: float, search: float) -> float:
    """The estimated cost of verifying the columns for a query of so many groups."""
    total = 0.0
    for i in range(len(columns)):
        members = set_group_offsets[columns[i] + 1] - set_group_offsets[columns[i]]
        total += min(look_up * members, search * groups)
    return total


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
    searches: float,
    limit: float,
    counts: Array,
    touched: Array,
) -> tuple[Array, Array, int, int, float]:
    """The prefix filter, over sets of at least `need` and less than `below` tokens.

    A set with `need` of the query's tokens holds one of its first `prefix` groups. Their lists give candidates with a
    part of their overlap. The rest comes from the other lists; or, where that seems cheaper, from searching the
    candidates' sets for the other groups, until this has cost as much as the other lists would, and then from these.

    Costs are in postings: one search costs `searches`. Where what follows the first lists would cost more than `limit`,
    nothing is answered. `counts` is all zero before and after; `touched` has room for every column and one more.
    Returns columns, ascending, overlaps, how many lists and sets were read, and that cost.
    """
    set_group_offsets, set_groups, set_offsets = sets
    reached = _count_first_lists(groups, after, prefix, postings, counts, touched)
    kept = 0
    steps = 0
    for i in range(reached):
        column = touched[i]
        size = set_offsets[column + 1] - set_offsets[column]
        if size < need or size >= below or (len(allowed) and not allowed[column]):
            counts[column] = 0
            continue
        touched[kept] = column
        kept += 1
        # A set that is no answer is ruled out after lacking about as many groups as the prefix has.
        others = min(set_group_offsets[column + 1] - set_group_offsets[column], len(groups) - prefix)
        steps += min(others, 2 * prefix)
    rest = count_postings(groups, prefix, len(groups), postings[0]) if kept else 0
    cost = min(searches * steps, float(rest))
    if cost > limit:
        for i in range(kept):
            counts[touched[i]] = 0
        return touched[:0].copy(), np.empty(0, np.int64), prefix, 0, cost
    lists, read = prefix, 0
    budget = rest / searches if searches * steps < rest else -1.0
    while read < kept and budget >= 0:
        column = touched[read]
        start, stop = set_group_offsets[column], set_group_offsets[column + 1]
        overlap, taken = overlap_from(set_groups, start, stop, groups, after, prefix, int64(counts[column]), need)
        counts[column] = overlap
        budget -= taken
        read += 1
    if read < kept:
        lists = len(groups)
        _finish_from_lists(groups, after, prefix, postings, counts, touched, read)
    hits = 0
    for i in range(kept):
        column = touched[i]
        if counts[column] >= need:
            touched[hits] = column
            hits += 1
        else:
            counts[column] = 0
    columns = np.sort(touched[:hits])
    overlaps = np.empty(hits, np.int64)
    for i in range(hits):
        overlaps[i] = counts[columns[i]]
        counts[columns[i]] = 0
    return columns, overlaps, lists, read, cost


@compiled
def _count_first_lists(
    groups: Array, after: Array, prefix: int, postings: tuple[Array, Array], counts: Array, touched: Array
) -> int:
    """Add the query's tokens of each group to the columns that hold it; returns how many these are, in `touched`.

    New columns are appended without a branch, which could not be foreseen.
    """
    offsets, columns = postings
    reached = 0
    for i in range(prefix):
        tokens = np.uint32(after[i] - after[i + 1])
        for at in range(offsets[groups[i]], offsets[groups[i] + 1]):
            column = columns[at]
            count = counts[column]
            touched[reached] = column
            reached += count == 0
            counts[column] = count + tokens
    return reached


@compiled
def _finish_from_lists(
    groups: Array,
    after: Array,
    prefix: int,
    postings: tuple[Array, Array],
    counts: Array,
    touched: Array,
    known: int,
) -> None:
    """Add the other groups to the columns that are candidates; the first `known` of these have their overlap."""
    finished = np.empty(known, np.uint32)
    for i in range(known):
        finished[i] = counts[touched[i]]
        counts[touched[i]] = 0
    offsets, columns = postings
    for i in range(prefix, len(groups)):
        tokens = np.uint32(after[i] - after[i + 1])
        for at in range(offsets[groups[i]], offsets[groups[i] + 1]):
            count = counts[columns[at]]
            counts[columns[at]] = count + tokens * np.uint32(count > 0)
    for i in range(known):
        counts[touched[i]] = finished[i]


@compiled
def time_lists(groups: Array, postings: tuple[Array, Array], counts: Array, touched: Array) -> int:
    """Read posting lists as a search does; returns how many postings there were. Counts are left zero."""
    after = np.arange(len(groups), -1, -1)
    reached = _count_first_lists(groups, after, len(groups), postings, counts, touched)
    for i in range(reached):
        counts[touched[i]] = 0
    return count_postings(groups, 0, len(groups), postings[0])
