"""Kernels that find which sets include which. Inputs are read-only C arrays; offsets were checked before."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_FAR = 16  # a list this many times longer than the candidates is searched, not read


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
    """For the sets from `first` on: the sets that hold at least `least` of their tokens and have at most `most`.

    Candidates are the sets in the lists of the rarest groups, as long as a set that is in none of the lists so far
    could still reach `least`: for whole inclusion that is the first list alone. Every further list takes away those
    candidates that have missed too much. `found` is filled with (dependent, referenced, overlap); returns the set to
    go on with, where it became full, and how many rows it has. It needs room for all candidates of one set.
    """
    number = len(sizes)
    # One place more: what is not kept is written all the same.
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
    """Merge a list into the candidates; those that are new have missed all that was `seen` before."""
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
    """Take away the candidates that miss too much without this list, reading all of it."""
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
    """The same by searching each candidate, from the last one's place on in growing steps."""
    kept = 0
    low = start
    for k in range(held):
        wanted = candidates[k]
        step = 1
        while low + step < stop and lists[low + step] < wanted:
            low += step
            step *= 2
        high = min(low + step, stop)
        while low < high:
            middle = (low + high) >> 1
            if lists[middle] < wanted:
                low = middle + 1
            else:
                high = middle
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
    """The columns of pairs of sets: one column of a dependent set with all others, then the next of that set.

    The pairs of a dependent set stand together; those of one set begin at `start`, and its `member` is the one to go on
    with, at `pair`. A column is not paired with itself. Returns these three, where the arrays became full, and how many
    there are. There must be room for all columns of one set.
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
