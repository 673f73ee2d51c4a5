"""Kernels over sketches, trees, posting lists and sets. Inputs are read-only C arrays; offsets were checked before.

The compiled functions keep their plain Python form as `.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled

Array = npt.NDArray[Any]

_HIGH_HALF = np.uint64(32)
_NOTHING = np.uint32(0xFFFFFFFF)
_SEARCH_STEPS = 4  # what finding a group in a set costs, in postings read from a list, about


@compiled
def _lower_by_hashes(least: Array, hashes: Array, multipliers: Array, additions: Array) -> None:
    """Lower each minimum to the least value that its function takes over the hashes."""
    for i in range(len(hashes)):
        for k in range(len(least)):
            value = np.uint32((multipliers[k] * hashes[i] + additions[k]) >> _HIGH_HALF)
            least[k] = min(least[k], value)


@compiled
def sketch_hashes(hashes: Array, multipliers: Array, additions: Array) -> Array:
    """The MinHash signature of a set of tokens, given by their hashes."""
    least = np.full(len(multipliers), _NOTHING, np.uint32)
    _lower_by_hashes(least, hashes, multipliers, additions)
    return least


@compiled
def sketch_groups(
    groups: Array, group_tokens: Array, token_hashes: Array, multipliers: Array, additions: Array
) -> Array:
    """The signatures of some groups, by row."""
    found = np.empty((len(groups), len(multipliers)), np.uint32)
    for i in range(len(groups)):
        hashes = token_hashes[group_tokens[groups[i]] : group_tokens[groups[i] + 1]]
        found[i] = sketch_hashes(hashes, multipliers, additions)
    return found


@compiled
def sketch_sets(
    columns: Array,
    set_group_offsets: Array,
    set_groups: Array,
    group_tokens: Array,
    token_hashes: Array,
    shared: Array,
    shared_sketches: Array,
    multipliers: Array,
    additions: Array,
) -> Array:
    """The signatures of some columns' sets, a row for each function.

    The minimum over a set is the least of the minima over its groups: `shared` gives the row of `shared_sketches` for
    those groups that were sketched beforehand, and -1 for the others.
    """
    found = np.empty((len(multipliers), len(columns)), np.uint32)
    least = np.empty(len(multipliers), np.uint32)
    for i in range(len(columns)):
        least[:] = _NOTHING
        for at in range(set_group_offsets[columns[i]], set_group_offsets[columns[i] + 1]):
            group = set_groups[at]
            row = shared[group]
            if row < 0:
                hashes = token_hashes[group_tokens[group] : group_tokens[group + 1]]
                _lower_by_hashes(least, hashes, multipliers, additions)
            else:
                for k in range(len(least)):
                    least[k] = min(least[k], shared_sketches[row, k])
        for k in range(len(least)):
            found[k, i] = least[k]
    return found


@compiled
def _compare(signatures: Array, member: int, sketch: Array, start: int, rows: int) -> int:
    """-1, 0 or 1 as the member's values from `start` on are below, equal to or above the sketch's."""
    for k in range(start, start + rows):
        if signatures[k, member] < sketch[k]:
            return -1
        if signatures[k, member] > sketch[k]:
            return 1
    return 0


@compiled
def mark_candidates(sketch: Array, signatures: Array, trees: Array, bands: int, rows: int, seen: Array) -> int:
    """Mark the members that agree with the sketch in all `rows` values of at least one of `bands` bands.

    Tree k holds the members in the order of their values from k on, so each band is a binary search in the tree that
    begins with it. Returns how many tree entries matched.
    """
    members = trees.shape[1]
    matched = 0
    for band in range(bands):
        start = band * rows
        tree = trees[start]
        low, high = 0, members
        while low < high:
            middle = (low + high) >> 1
            if _compare(signatures, tree[middle], sketch, start, rows) < 0:
                low = middle + 1
            else:
                high = middle
        while low < members and _compare(signatures, tree[low], sketch, start, rows) == 0:
            seen[tree[low]] = 1
            matched += 1
            low += 1
    return matched


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
def answer_by_sketches(
    partitions: Array,
    bands: Array,
    rows: Array,
    sketch: Array,
    layout: tuple[Array, Array, Array, Array],
    sets: tuple[Array, Array, Array],
    groups: Array,
    after: Array,
    need: int,
    allowed: Array,
    verify: bool,
) -> tuple[Array, Array, Array]:
    """Ask some partitions: their candidates, or all members where bands is 0, are compared with the query's groups.

    `layout` is (offsets, columns, signatures, trees), `sets` (set_group_offsets, set_groups, set_offsets). Returns
    columns, overlaps (-1 where nothing was compared) and the counts of matched entries, candidates and sets.
    """
    offsets, columns, signatures, trees = layout
    set_group_offsets, set_groups, set_offsets = sets
    total = 0
    for i in range(len(partitions)):
        total += offsets[partitions[i] + 1] - offsets[partitions[i]]
    found = np.empty(total, np.uint32)
    overlaps = np.empty(total, np.int64)
    work = np.zeros(3, np.int64)
    hits = 0
    for i in range(len(partitions)):
        start, stop = offsets[partitions[i]], offsets[partitions[i] + 1]
        place, width = start * len(sketch), stop - start
        seen = np.zeros(width, np.uint8)
        if bands[i]:
            own = signatures[place : place + width * len(sketch)].reshape(len(sketch), width)
            own_trees = trees[place : place + width * len(sketch)].reshape(len(sketch), width)
            work[0] += mark_candidates(sketch, own, own_trees, bands[i], rows[i], seen)
        for member in range(width):
            column = columns[start + member]
            if (bands[i] and not seen[member]) or (len(allowed) and not allowed[column]):
                continue
            work[1] += 1
            if set_offsets[column + 1] - set_offsets[column] < need:
                continue
            overlap = -1
            if verify or not bands[i]:
                work[2] += 1
                begin, end = set_group_offsets[column], set_group_offsets[column + 1]
                overlap = overlap_from(set_groups, begin, end, groups, after, 0, 0, need)
                if overlap < need:
                    continue
            found[hits], overlaps[hits] = column, overlap
            hits += 1
    return found[:hits], overlaps[:hits], work


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
