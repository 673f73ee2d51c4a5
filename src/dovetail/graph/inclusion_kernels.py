"""Kernels that merge the segments' tokens and find which value sets include which.

Inputs are read-only C arrays; offsets were checked before.
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._search_kernels import gallop
from dovetail._types import Array

_FAR = 16  # a list this many times longer than the candidates is searched, not read; set by hand


@compiled
def including_sets(
    first: int,
    least: Array,
    most: Array,
    sizes: Array,
    private: Array,
    group_offsets: Array,
    groups: Array,
    weights: Array,
    list_offsets: Array,
    lists: Array,
    found: Array,
) -> tuple[int, int]:
    """Find the sets that hold at least `least` tokens of each set from `first` on and have at most `most` themselves.

    Candidates come from the lists of the rarest groups, as long as a set in none of the lists so far could still reach
    `least`: for whole inclusion that is the first list alone. Every further list drops the candidates that have missed
    too much. `found` is filled with (dependent, referenced, overlap) and needs room for all candidates of one set;
    returns the set to continue with, in case it became full, and the number of rows.
    """
    number = len(sizes)
    # One place more: what is dropped is written, too, and then overwritten.
    candidates, missed = np.empty(number + 1, np.int64), np.empty(number + 1, np.int64)
    others, others_missed = np.empty(number + 1, np.int64), np.empty(number + 1, np.int64)
    filled = 0
    for one in range(first, len(least)):
        if filled + number > len(found):
            return one, filled
        budget = sizes[one] - least[one]
        seen = private[one]
        if seen > budget:
            continue
        lowest = one + 1 if budget == 0 else np.searchsorted(sizes, least[one])
        highest = np.searchsorted(sizes, most[one], side="right")
        held = 0
        for at in range(group_offsets[one], group_offsets[one + 1]):
            group = groups[at]
            stop = list_offsets[group + 1]
            start = list_offsets[group] + np.searchsorted(lists[list_offsets[group] : stop], lowest)
            stop = start + np.searchsorted(lists[start:stop], highest)
            weight = weights[group]
            if seen <= budget:
                held = _read_and_add(
                    candidates, missed, held, lists, start, stop, weight, budget, seen, one, others, others_missed
                )
                candidates, others = others, candidates
                missed, others_missed = others_missed, missed
            elif stop - start > _FAR * held:
                held = _search_each(candidates, missed, held, lists, start, stop, weight, budget)
            else:
                held = _read_all(candidates, missed, held, lists, start, stop, weight, budget)
            seen += weight
            if held == 0 and seen > budget:
                break
        for i in range(held):
            found[filled, 0], found[filled, 1] = one, candidates[i]
            found[filled, 2] = sizes[one] - missed[i]
            filled += 1
    return len(least), filled


@compiled
def _read_and_add(
    candidates: Array,
    missed: Array,
    held: int,
    lists: Array,
    start: int,
    stop: int,
    weight: int,
    budget: int,
    seen: int,
    one: int,
    kept: Array,
    kept_missed: Array,
) -> int:
    """Merge a list into the candidates; new ones have missed all that was `seen` before."""
    number = 0
    k = 0
    for i in range(start, stop):
        other = lists[i]
        while k < held and candidates[k] < other:
            kept[number], kept_missed[number] = candidates[k], missed[k] + weight
            number += missed[k] + weight <= budget
            k += 1
        known = k < held and candidates[k] == other
        kept[number], kept_missed[number] = other, missed[k] if known else seen
        number += other != one
        k += known
    while k < held:
        kept[number], kept_missed[number] = candidates[k], missed[k] + weight
        number += missed[k] + weight <= budget
        k += 1
    return number


@compiled
def _read_all(
    candidates: Array, missed: Array, held: int, lists: Array, start: int, stop: int, weight: int, budget: int
) -> int:
    """Drop the candidates that miss too much without this list, reading all of it."""
    kept = 0
    at = start
    for k in range(held):
        while at < stop and lists[at] < candidates[k]:
            at += 1
        lost = missed[k] + (0 if at < stop and lists[at] == candidates[k] else weight)
        candidates[kept], missed[kept] = candidates[k], lost
        kept += lost <= budget
    return kept


@compiled
def _search_each(
    candidates: Array, missed: Array, held: int, lists: Array, start: int, stop: int, weight: int, budget: int
) -> int:
    """The same, by galloping search for each candidate."""
    kept = 0
    low = start
    for k in range(held):
        wanted = candidates[k]
        low = gallop(lists, low, stop, wanted)
        lost = missed[k] + (0 if low < stop and lists[low] == wanted else weight)
        candidates[kept], missed[kept] = wanted, lost
        kept += lost <= budget
    return kept


@compiled
def column_pairs(
    pairs: Array,
    start: int,
    member: int,
    pair: int,
    member_offsets: Array,
    members: Array,
    referable: Array,
    dependents: Array,
    referenced: Array,
    overlaps: Array,
) -> tuple[int, int, int, int]:
    """Expand pairs of sets to pairs of columns: one column of a dependent set with all others, then the next.

    The pairs of a dependent set are consecutive. Work resumes at the set whose pairs begin at `start`, with its column
    number `member` and the pair `pair`; the same three are returned, in case the arrays became full, with the number
    of columns written. A column is not paired with itself. There must be room for all columns of one set.
    """
    filled = 0
    while start < len(pairs):
        one, stop = pairs[start, 0], start
        while stop < len(pairs) and pairs[stop, 0] == one:
            stop += 1
        while member_offsets[one] + member < member_offsets[one + 1]:
            column = members[member_offsets[one] + member]
            while pair < stop:
                first, last = member_offsets[pairs[pair, 1]], member_offsets[pairs[pair, 1] + 1]
                if filled + last - first > len(dependents):
                    return start, member, pair, filled
                for k in range(first, last):
                    if referable[members[k]] and members[k] != column:
                        dependents[filled], referenced[filled] = column, members[k]
                        overlaps[filled] = pairs[pair, 2]
                        filled += 1
                pair += 1
            member += 1
            pair = start
        start, member, pair = stop, 0, stop
    return start, member, pair, filled


@compiled
def meet(hashes: Array, groups: Array, content: Array, spans: Array) -> tuple[Array, Array, Array, Array]:
    """Compare the bytes of tokens of several segments whose hashes are equal.

    Returns, for each token that several groups hold, the list of these groups (offsets and members, in the order of the
    segments) and 1 as its weight; and the groups of tokens whose hashes only collided.
    """
    number = len(hashes)
    offsets = np.zeros(number + 1, np.int64)
    members = np.empty(number, np.int64)
    lonely = np.empty(number, np.int64)
    taken = np.zeros(number, np.bool_)
    lists, filled, alone = 0, 0, 0
    for i in range(number):
        if taken[i]:
            continue
        members[filled] = groups[i]
        length = 1
        k = i + 1
        while k < number and hashes[k] == hashes[i]:
            if not taken[k] and _same(content, spans, i, k):
                taken[k] = True
                members[filled + length] = groups[k]
                length += 1
            k += 1
        if length == 1:
            lonely[alone] = groups[i]
            alone += 1
        else:
            filled += length
            lists += 1
            offsets[lists] = filled
    return offsets[: lists + 1], members[:filled], np.ones(lists, np.int64), lonely[:alone]


@compiled
def _same(content: Array, spans: Array, one: int, other: int) -> bool:
    length = spans[one, 1] - spans[one, 0]
    if spans[other, 1] - spans[other, 0] != length:
        return False
    k = 0
    while k < length and content[spans[one, 0] + k] == content[spans[other, 0] + k]:
        k += 1
    return bool(k == length)


@compiled
def expand_lists(
    offsets: Array, members: Array, posting_offsets: Array, posting_columns: Array, wanted: Array
) -> tuple[Array, Array]:
    """For each list of groups, the wanted columns of all of them, in the order of the groups."""
    new_offsets = np.zeros(len(offsets), np.int64)
    for i in range(len(offsets) - 1):
        length = 0
        for k in range(offsets[i], offsets[i + 1]):
            for p in range(posting_offsets[members[k]], posting_offsets[members[k] + 1]):
                length += wanted[posting_columns[p]]
        new_offsets[i + 1] = new_offsets[i] + length
    columns = np.empty(new_offsets[-1], np.uint32)
    at = 0
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            for p in range(posting_offsets[members[k]], posting_offsets[members[k] + 1]):
                if wanted[posting_columns[p]]:
                    columns[at] = posting_columns[p]
                    at += 1
    return new_offsets, columns
