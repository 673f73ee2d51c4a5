"""Kernels of exact top-k overlap search: our variant of JOSIE, and MergeList-D.

JOSIE as published is in `dovetail.papers.josie`.

Inputs are read-only C arrays; offsets were checked before. A search counts in `scratch.counts`; `scratch.touched`
lists the columns that have a count, and those before `dropped` are no longer candidates. What is found is left in
`scratch.columns` and `scratch.overlaps`. `work` counts posting lists, their items, sets and their items.
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import first_below, gallop, lower_bound
from dovetail._types import Array
from dovetail.indexes.josie.core import ColumnSets, JosieCosts, PostingLists, QueryGroups, Scratch
from dovetail.indexes.josie.cost_kernels import (
    READ_ALL,
    READ_BEST,
    READ_LISTS,
    STAKE,
    choose,
    cost_of,
    cost_of_sets,
    count_steps,
    kth_largest,
    push,
    sum_rest,
)

READ = -(1 << 30)  # the count of a column whose set was read: later lists cannot make it positive
_LOW = (1 << 32) - 1
_FIRST_BATCH = 64  # items
_LOOK = 2  # cost of examining a candidate, in list items: examining passes over all of them about twice
_DEAR = 16  # examining costs too much beyond one part in so many of the lists left


@compiled
def positions_of(posting_offsets: Array, set_offsets: Array, set_groups: Array, group_tokens: Array) -> Array:
    """For every posting how many tokens of its column come before the group."""
    cursor = posting_offsets[:-1].copy()
    positions = np.empty(len(set_groups), np.uint32)
    for column in range(len(set_offsets) - 1):
        before = 0
        for at in range(set_offsets[column], set_offsets[column + 1]):
            group = set_groups[at]
            positions[cursor[group]] = before
            cursor[group] += 1
            before += group_tokens[group + 1] - group_tokens[group]
    return positions


@compiled
def time_sets(offsets: Array, groups: Array, sample: Array, ones: Array) -> int:
    """Intersect each set with the one before it, as a search does; returns how many steps that was."""
    steps = 0
    for i in range(1, len(sample)):
        one, other = sample[i - 1], sample[i]
        asked = groups[offsets[one] : offsets[one + 1]]
        place, stop = offsets[other], offsets[other + 1]
        steps += count_steps(len(asked), stop - place)
        intersect(asked, ones, ones, 0, groups, place, stop, 0)
    return steps


@compiled
def overlap(sets: ColumnSets, groups: Array, weights: Array, column: int) -> int:
    """How much of the weight of the groups the column holds."""
    return intersect(
        groups, weights, weights, 0, sets.groups, sets.offsets[column], sets.offsets[column + 1], 0
    )  # fmt: skip


@compiled
def search(
    postings: PostingLists, sets: ColumnSets, groups: Array, weights: Array, k: int, floor: int, allowed: Array,
    costs: JosieCosts, scratch: Scratch, work: Array,
) -> int:  # fmt: skip
    """By our JOSIE; returns how many columns were found.

    Where k sets cost more than all lists together, it has nothing to decide, and is MergeList-D.
    """
    items = 0
    for i in range(len(groups)):
        items += postings.offsets[groups[i] + 1] - postings.offsets[groups[i]]
    if costs.l0 * len(groups) + costs.l1 * items < cost_of_sets(costs, k, len(groups)):
        return merge_list(postings, groups, weights, k, floor, allowed, scratch, work)
    rest, cost = sum_rest(postings.offsets, groups, weights, costs.l0, costs.l1)
    query = QueryGroups(groups, weights, rest, cost)
    return josie(postings, sets, query, k, floor, allowed, costs, scratch, work)


@compiled
def merge_list(
    postings: PostingLists, groups: Array, weights: Array, k: int, floor: int, allowed: Array, scratch: Scratch,
    work: Array,
) -> int:  # fmt: skip
    """MergeList-D: read every distinct list, then rank (section 3.2.1)."""
    seen = _read_lists(postings, groups, weights, 0, len(groups), scratch, 0, work)
    best = np.empty(k, np.int64)
    found = finish(scratch, 0, seen, 0, allowed, best, 0, floor)
    clear(scratch, seen)
    return found


@compiled
def josie(
    postings: PostingLists, sets: ColumnSets, query: QueryGroups, k: int, floor: int, allowed: Array, costs: JosieCosts,
    scratch: Scratch, work: Array,
) -> int:  # fmt: skip
    """JOSIE-D: lists in batches; between batches the costs decide whether sets are read (section 3.3.4)."""
    groups, weights, rest, cost = query
    threshold, held, seen, dropped, found = floor, 0, 0, 0, 0
    heap, best = np.empty(k, np.int64), np.empty(k, np.int64)
    ledger = np.array([1.0, 1.0])  # what was hoped for of sets that were read, and what came
    stakes = cost[0] / STAKE
    due = _FIRST_BATCH
    i = 0
    while i < len(groups) and (seen > dropped or rest[i] >= threshold):
        stop = _end_of_batch(postings.offsets, groups, i, due)
        if rest[i] >= threshold:
            stop = min(stop, first_below(rest, i, threshold))
        if held == k:
            dropped, seen = _sift_lists(postings, sets, query, i, stop, scratch, dropped, seen, threshold, work)
        else:
            seen = _read_lists(postings, groups, weights, i, stop, scratch, seen, work)
        i = stop
        due = max(_FIRST_BATCH, work[1])
        # Looks gain nothing unless k sets cost less than the lists left. Once they are too dear, they stay so.
        price = _LOOK * (seen - dropped) * costs.l1
        if price * _DEAR > cost[i] or cost[i] < cost_of_sets(costs, k, len(groups) - i) + price:
            seen = _read_lists(postings, groups, weights, i, len(groups), scratch, seen, work)
            break
        choice = READ_BEST
        while choice != READ_LISTS and seen > dropped:
            dropped, size = _weed(sets, scratch, dropped, seen, rest[i], threshold, allowed, best)
            raised = kth_largest(heap, held, best, size, threshold, 0.0)
            if raised > threshold:
                threshold = raised
                dropped, size = _weed(sets, scratch, dropped, seen, rest[i], threshold, allowed, best)
            reading = 0.0
            for j in range(size):
                reading += cost_of(sets, query, costs, i, _LOW - (best[j] & _LOW))
            choice = choose(
                sets, query, costs, scratch, i, dropped, seen, threshold, heap, held, best, size, due, ledger,
                reading, stakes,
            )  # fmt: skip
            if choice != READ_LISTS:
                stakes -= reading
                best[:size].sort()
                chosen = _LOW - (best[:size][::-1] & _LOW)
                threshold, held, found = _read_sets(
                    postings, sets, query, i, chosen, threshold, heap, held, found, scratch, work, ledger
                )
            if choice == READ_ALL:
                chosen = scratch.touched[dropped:seen].astype(np.int64)
                threshold, held, found = _read_sets(
                    postings, sets, query, i, chosen, threshold, heap, held, found, scratch, work, ledger
                )
                dropped = seen
    found = finish(scratch, dropped, seen, found, allowed, heap, held, floor)
    clear(scratch, seen)
    return found


@compiled
def _end_of_batch(offsets: Array, groups: Array, i: int, due: int) -> int:
    """Where the next batch ends: before the list that would make it reach `due` items, but after at least one list."""
    items = offsets[groups[i] + 1] - offsets[groups[i]]
    stop = i + 1
    while stop < len(groups) and items < due:
        items += offsets[groups[stop] + 1] - offsets[groups[stop]]
        stop += items < due
    return stop


@compiled
def _read_lists(
    postings: PostingLists,
    groups: Array,
    weights: Array,
    start: int,
    stop: int,
    scratch: Scratch,
    seen: int,
    work: Array,
) -> int:
    """Count the columns of some lists; new ones are appended without a branch. Returns how many columns were seen."""
    counts, touched, columns = scratch.counts, scratch.touched, postings.columns
    for i in range(start, stop):
        weight = weights[i]
        begin, end = postings.offsets[groups[i]], postings.offsets[groups[i] + 1]
        for at in range(begin, end):
            column = columns[at]
            count = counts[column]
            touched[seen] = column
            seen += count == 0
            counts[column] = count + weight
        work[1] += end - begin
    work[0] += stop - start
    return seen


@compiled
def _sift_lists(
    postings: PostingLists, sets: ColumnSets, query: QueryGroups, start: int, stop: int, scratch: Scratch, dropped: int,
    seen: int, threshold: int, work: Array,
) -> tuple[int, int]:  # fmt: skip
    """The same with the position filter: new columns that have too few tokens left are dropped at once."""
    counts, touched = scratch.counts, scratch.touched
    for i in range(start, stop):
        weight, most = query.weights[i], query.rest[i]
        begin, end = postings.offsets[query.groups[i]], postings.offsets[query.groups[i] + 1]
        for at in range(begin, end):
            column = postings.columns[at]
            if counts[column] == 0:
                touched[seen] = column
                left = sets.token_offsets[column + 1] - sets.token_offsets[column] - postings.positions[at]
                if min(left, most) < threshold:
                    touched[seen] = touched[dropped]
                    touched[dropped] = column
                    dropped += 1
                    counts[column] = READ
                seen += 1
            counts[column] += weight
        work[1] += end - begin
    work[0] += stop - start
    return dropped, seen


@compiled
def _weed(
    sets: ColumnSets, scratch: Scratch, dropped: int, seen: int, rest: int, threshold: int, allowed: Array, best: Array
) -> tuple[int, int]:
    """Drop candidates that cannot reach the threshold; leave the largest counts, with their columns, in `best`."""
    size = 0
    for j in range(dropped, seen):
        column = scratch.touched[j]
        count = int64(scratch.counts[column])
        if (
            count + rest < threshold
            or (len(allowed) and not allowed[column])
            or sets.token_offsets[column + 1] - sets.token_offsets[column] < threshold
        ):
            scratch.touched[j] = scratch.touched[dropped]
            scratch.touched[dropped] = column
            dropped += 1
        elif size < len(best) or count > best[0] >> 32:
            size = push(best, size, (count << 32) | (_LOW - int64(column)))
    return dropped, size


@compiled
def _read_sets(
    postings: PostingLists, sets: ColumnSets, query: QueryGroups, i: int, chosen: Array, threshold: int, heap: Array,
    held: int, found: int, scratch: Scratch, work: Array, ledger: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """The exact overlaps of some candidates, unless a filter shows that they are below the threshold."""
    rest = query.rest[i]
    hope = rest / (query.rest[0] - rest)
    for j in range(len(chosen)):
        column = chosen[j]
        count = int64(scratch.counts[column])
        if count + rest < threshold:
            continue
        stop = sets.offsets[column + 1]
        place = lower_bound(sets.groups, sets.offsets[column], stop, query.groups[i])
        common = count
        if place < stop and not _too_far(postings, sets, column, place, stop, threshold - count):
            work[2] += 1
            work[3] += stop - place
            common += intersect(
                query.groups, query.weights, query.rest, i, sets.groups, place, stop, threshold - count
            )  # fmt: skip
        ledger[0] += count * hope
        ledger[1] += common - count
        scratch.counts[column] = READ
        if common >= threshold:
            scratch.columns[found], scratch.overlaps[found] = column, common
            found += 1
            held = push(heap, held, common)
            threshold = max(threshold, int64(heap[0])) if held == len(heap) else threshold
    return threshold, held, found


@compiled
def _too_far(postings: PostingLists, sets: ColumnSets, column: int, place: int, stop: int, need: int) -> bool:
    """The position filter: fewer tokens are left in the set than are needed. Not applied to short rests."""
    if stop - place < 16:
        return False
    group = sets.groups[place]
    at = lower_bound(postings.columns, postings.offsets[group], postings.offsets[group + 1], column)
    size = sets.token_offsets[column + 1] - sets.token_offsets[column]
    return bool(size - postings.positions[at] < need)


@compiled
def finish(
    scratch: Scratch, dropped: int, seen: int, found: int, allowed: Array, heap: Array, held: int, floor: int
) -> int:
    """Set the final threshold from the counts, now exact, and keep the columns that reach it."""
    for j in range(dropped, seen):
        column = scratch.touched[j]
        count = scratch.counts[column]
        if count >= floor and (held < len(heap) or count > heap[0]) and (len(allowed) == 0 or allowed[column]):
            held = push(heap, held, count)
    threshold = max(floor, heap[0]) if held == len(heap) else floor
    kept = 0
    for j in range(found):
        if scratch.overlaps[j] >= threshold:
            scratch.columns[kept], scratch.overlaps[kept] = scratch.columns[j], scratch.overlaps[j]
            kept += 1
    for j in range(dropped, seen):
        column = scratch.touched[j]
        if scratch.counts[column] >= threshold and (len(allowed) == 0 or allowed[column]):
            scratch.columns[kept], scratch.overlaps[kept] = column, scratch.counts[column]
            kept += 1
    return kept


@compiled
def clear(scratch: Scratch, seen: int) -> None:
    if seen * 8 > len(scratch.counts):
        scratch.counts[:] = 0
        return
    for j in range(seen):
        scratch.counts[scratch.touched[j]] = 0


@compiled
def intersect(
    asked: Array, weights: Array, rest: Array, q: int, groups: Array, place: int, stop: int, need: int
) -> int:
    """The weight of the query's groups from q on that are in groups[place:stop]; less where `need` is out of reach."""
    end = len(asked)
    got = 0
    if (end - q) * 8 < stop - place:
        while q < end and place < stop and got + rest[q] >= need:
            place = gallop(groups, place, stop, asked[q])
            if place < stop and groups[place] == asked[q]:
                got += weights[q]
            q += 1
    elif (stop - place) * 8 < end - q:
        while q < end and place < stop and got + rest[q] >= need:
            q = gallop(asked, q, end, groups[place])
            if q < end and asked[q] == groups[place]:
                got += weights[q]
            place += 1
    else:
        while q < end and place < stop and got + rest[q] >= need:
            one, other = asked[q], groups[place]
            if one == other:
                got += weights[q]
            q += one <= other
            place += other <= one
    return got
