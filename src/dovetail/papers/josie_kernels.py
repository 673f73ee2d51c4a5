"""Kernels of JOSIE as published: Algorithm 2 with the cost of every candidate (Equations 3.4 to 3.13); ProbeSet-D.

Weights stand for tokens, as everywhere here, and bounds are strict, so that all ties at the k-th place are found. The
candidate with the least net cost is found in two passes over the candidates: a benefit depends on a candidate only by
the threshold that it may bring, so the costs of those that fall are summed by the threshold that they fall at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import first_below, gallop, lower_bound
from dovetail._types import Array
from dovetail.indexes.josie.core import ColumnSets, JosieCosts, PostingLists, QueryGroups, Scratch
from dovetail.indexes.josie.cost_kernels import push, sum_rest
from dovetail.indexes.josie.kernels import READ, clear, finish, intersect


class Candidates(NamedTuple):
    """Of each column that was seen: the query's group of the first match (i_X,0), and tokens of the column up to the
    first (j_X,0) and up to the latest match (j_X)."""

    first: Array
    first_position: Array
    position: Array


@compiled
def josie(
    batch: int, postings: PostingLists, sets: ColumnSets, groups: Array, weights: Array, k: int, floor: int,
    allowed: Array, costs: JosieCosts, scratch: Scratch, work: Array,
) -> int:  # fmt: skip
    """Algorithm 2; `batch` is its λ. Returns how many columns were found."""
    rest, cost = sum_rest(postings.offsets, groups, weights, costs.l0, costs.l1)
    query = QueryGroups(groups, weights, rest, cost)
    columns = len(scratch.counts)
    about = Candidates(np.empty(columns, np.int32), np.empty(columns, np.int32), np.empty(columns, np.int32))
    threshold, held, seen, dropped, found, i = floor, 0, 0, 0, 0, 0
    heap = np.empty(k, np.int64)
    while i < len(groups) and (seen > dropped or rest[i] >= threshold):
        stop = min(i + batch, len(groups))
        best, net = -1, 0.0
        if seen > dropped:
            best, net = _best(sets, query, costs, scratch, about, i, dropped, seen, threshold, heap, held)
        of_lists = 0.0
        if best >= 0 and held == k:
            of_lists = _net_cost_of_lists(sets, query, costs, scratch, about, i, stop, dropped, seen, threshold)
        if best < 0 or (held == k and net > of_lists):
            dropped, seen = _read_batch(
                postings, sets, query, i, stop, scratch, about, dropped, seen, threshold, allowed, work
            )
            i = stop
        else:
            column = scratch.touched[best]
            common = _read_set(sets, query, i, column, int64(scratch.counts[column]), threshold, work)
            scratch.touched[best] = scratch.touched[dropped]
            scratch.touched[dropped] = column
            dropped += 1
            scratch.counts[column] = READ
            if common >= threshold:
                scratch.columns[found], scratch.overlaps[found] = column, common
                found += 1
                held = push(heap, held, common)
                threshold = max(threshold, int64(heap[0])) if held == k else threshold
        dropped = _position_filter(sets, query, scratch, about, i, dropped, seen, threshold)
    found = finish(scratch, dropped, seen, found, allowed, heap, held, floor)
    clear(scratch, seen)
    return found


@compiled
def probe_set(
    postings: PostingLists, sets: ColumnSets, groups: Array, weights: Array, k: int, floor: int, allowed: Array,
    costs: JosieCosts, scratch: Scratch, work: Array,
) -> int:  # fmt: skip
    """ProbeSet-D: read every set at its first posting, unless the position filter rules it out (section 3.2.3)."""
    rest, cost = sum_rest(postings.offsets, groups, weights, costs.l0, costs.l1)
    query = QueryGroups(groups, weights, rest, cost)
    threshold, held, seen, found = floor, 0, 0, 0
    heap = np.empty(k, np.int64)
    for i in range(len(query.groups)):
        if query.rest[i] < threshold:
            break
        group, weight = query.groups[i], query.weights[i]
        size = sets.group_tokens[group + 1] - sets.group_tokens[group]
        work[0] += 1
        work[1] += postings.offsets[group + 1] - postings.offsets[group]
        for at in range(postings.offsets[group], postings.offsets[group + 1]):
            column = postings.columns[at]
            if scratch.counts[column] != 0:
                continue
            scratch.counts[column] = 1
            scratch.touched[seen] = column
            seen += 1
            left = sets.token_offsets[column + 1] - sets.token_offsets[column] - postings.positions[at] - size
            if (len(allowed) and not allowed[column]) or weight + min(query.rest[i + 1], left) < threshold:
                continue
            stop = sets.offsets[column + 1]
            place = gallop(sets.groups, sets.offsets[column], stop, group + 1)
            work[2] += 1
            work[3] += stop - place
            common = weight + intersect(
                query.groups, query.weights, query.rest, i + 1, sets.groups, place, stop, threshold - weight
            )  # fmt: skip
            if common >= threshold:
                scratch.columns[found], scratch.overlaps[found] = column, common
                found += 1
                held = push(heap, held, common)
                threshold = max(threshold, heap[0]) if held == k else threshold
    found = finish(scratch, 0, 0, found, allowed, heap, held, floor)
    clear(scratch, seen)
    return found


@compiled
def _bound(sets: ColumnSets, query: QueryGroups, scratch: Scratch, about: Candidates, i: int, column: int) -> int:
    """Equation 3.6: the most that the column may share."""
    left = int64(sets.token_offsets[column + 1] - sets.token_offsets[column]) - about.position[column]
    return int64(int64(scratch.counts[column]) + min(int64(query.rest[i]), left))


@compiled
def _set_cost(sets: ColumnSets, costs: JosieCosts, column: int, position: float) -> float:
    """S(|X[j:]|) of Equation 3.15: what is left of the set after so many tokens, in groups."""
    tokens = sets.token_offsets[column + 1] - sets.token_offsets[column]
    share = max(0.0, 1.0 - position / tokens)
    return float(costs.s0 + costs.s1 * share * (sets.offsets[column + 1] - sets.offsets[column]))


@compiled
def _position_filter(
    sets: ColumnSets, query: QueryGroups, scratch: Scratch, about: Candidates, i: int, dropped: int, seen: int,
    threshold: int,
) -> int:  # fmt: skip
    """Drop the candidates whose bound is below the threshold."""
    for j in range(dropped, seen):
        column = scratch.touched[j]
        if _bound(sets, query, scratch, about, i, column) < threshold:
            scratch.touched[j] = scratch.touched[dropped]
            scratch.touched[dropped] = column
            scratch.counts[column] = READ
            dropped += 1
    return dropped


@compiled
def _best(
    sets: ColumnSets, query: QueryGroups, costs: JosieCosts, scratch: Scratch, about: Candidates, i: int, dropped: int,
    seen: int, threshold: int, heap: Array, held: int,
) -> tuple[int, float]:  # fmt: skip
    """The place of the candidate with the least net cost (Equations 3.4, 3.5, 3.7, 3.13), and that cost.

    Until k overlaps are known, a candidate's estimate alone is the threshold that it may bring.
    """
    most = int64(query.rest[0])
    if held == len(heap):
        if held > 2:
            most = min(most, min(heap[1], heap[2]))
        elif held == 2:
            most = min(most, heap[1])
    most = max(most, threshold)
    fallen = np.zeros(most - threshold + 2, np.float64)  # costs of the sets with a bound below each threshold
    for j in range(dropped, seen):
        column = scratch.touched[j]
        bound = _bound(sets, query, scratch, about, i, column)
        if bound < most:
            fallen[bound - threshold + 1] += _set_cost(sets, costs, column, about.position[column])
    for t in range(1, len(fallen)):
        fallen[t] += fallen[t - 1]
    lists = query.cost[first_below(query.rest, i, threshold)]
    best, least = dropped, np.inf
    for j in range(dropped, seen):
        column = scratch.touched[j]
        whole = query.rest[about.first[column]]
        estimate = scratch.counts[column] / (whole - query.rest[i]) * whole
        hoped = min(max(int64(estimate), threshold), most)
        benefit = fallen[hoped - threshold]
        if hoped > threshold:
            benefit += query.cost[first_below(query.rest, i, hoped)] - lists
        net = _set_cost(sets, costs, column, about.position[column]) - benefit
        if net < least:
            best, least = j, net
    return best, least


@compiled
def _net_cost_of_lists(
    sets: ColumnSets, query: QueryGroups, costs: JosieCosts, scratch: Scratch, about: Candidates, i: int, stop: int,
    dropped: int, seen: int, threshold: int,
) -> float:  # fmt: skip
    """Equations 3.9 to 3.13, as they are printed."""
    benefit = 0.0
    batch = query.rest[i] - query.rest[stop]
    for j in range(dropped, seen):
        column = scratch.touched[j]
        share = batch / query.rest[about.first[column]]
        tokens = int64(sets.token_offsets[column + 1] - sets.token_offsets[column])
        after = about.position[column] + share * (tokens - about.first_position[column] + 1)
        count = scratch.counts[column]
        bound = count + share * count + min(float(query.rest[stop]), tokens - after)
        now = _set_cost(sets, costs, column, about.position[column])
        benefit += now if bound < threshold else now - _set_cost(sets, costs, column, after)
    return float(query.cost[i] - query.cost[stop] - benefit)


@compiled
def _read_batch(
    postings: PostingLists, sets: ColumnSets, query: QueryGroups, start: int, stop: int, scratch: Scratch,
    about: Candidates, dropped: int, seen: int, threshold: int, allowed: Array, work: Array,
) -> tuple[int, int]:  # fmt: skip
    """Count the columns of some lists; new ones that cannot reach the threshold are dropped at once."""
    counts, touched = scratch.counts, scratch.touched
    for i in range(start, stop):
        group = query.groups[i]
        size = sets.group_tokens[group + 1] - sets.group_tokens[group]
        begin, end = postings.offsets[group], postings.offsets[group + 1]
        for at in range(begin, end):
            column = postings.columns[at]
            before = int64(postings.positions[at])
            if counts[column] == 0:
                touched[seen] = column
                about.first[column] = i
                about.first_position[column] = before + 1
                left = int64(sets.token_offsets[column + 1] - sets.token_offsets[column]) - before
                if min(left, query.rest[i]) < threshold or (len(allowed) and not allowed[column]):
                    touched[seen] = touched[dropped]
                    touched[dropped] = column
                    dropped += 1
                    counts[column] = READ
                seen += 1
            counts[column] += query.weights[i]
            about.position[column] = before + size
        work[1] += end - begin
    work[0] += stop - start
    return dropped, seen


@compiled
def _read_set(
    sets: ColumnSets, query: QueryGroups, i: int, column: int, count: int, threshold: int, work: Array
) -> int:
    """The exact overlap of a candidate, or less than the threshold."""
    stop = sets.offsets[column + 1]
    place = lower_bound(sets.groups, sets.offsets[column], stop, query.groups[i])
    work[2] += 1
    work[3] += stop - place
    return count + int64(
        intersect(query.groups, query.weights, query.rest, i, sets.groups, place, stop, threshold - count)
    )
