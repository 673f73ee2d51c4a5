"""The cost model of JOSIE, section 3.3: when reading sets is cheaper than reading more posting lists."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import first_below
from dovetail._types import Array
from dovetail.indexes.josie.core import ColumnSets, JosieCosts, QueryGroups, Scratch

READ_LISTS, READ_BEST, READ_ALL = 0, 1, 2
STAKE = 8  # sets are read without an estimate if they cost at most this part of the lists left, each time and in all
_CHANCE = 8  # times less where the estimate expects no higher threshold


@compiled
def sum_rest(offsets: Array, groups: Array, weights: Array, l0: float, l1: float) -> tuple[Array, Array]:
    """The weight, and the cost of the posting lists, of the groups from each one on."""
    rest = np.zeros(len(groups) + 1, np.int64)
    cost = np.zeros(len(groups) + 1, np.float64)
    for i in range(len(groups) - 1, -1, -1):
        rest[i] = rest[i + 1] + weights[i]
        cost[i] = cost[i + 1] + l0 + l1 * (offsets[groups[i] + 1] - offsets[groups[i]])
    return rest, cost


@compiled
def cost_of_sets(costs: JosieCosts, k: int, groups: int) -> float:
    """The cost of looking up some groups in k sets of the typical size."""
    return k * (costs.s0 + costs.s1 * count_steps(groups, int64(costs.set_size)))


@compiled
def kth_largest(heap: Array, held: int, best: Array, size: int, threshold: int, gain: float) -> int:
    """The k-th largest of the known overlaps and of the best counts, each raised by the share `gain` of itself."""
    if held + size < len(heap):
        return threshold
    joined = heap.copy()
    for j in range(size):
        count = best[j] >> 32
        held = push(joined, held, count + int64(gain * count))
    return max(threshold, int64(joined[0]))


@compiled
def choose(
    sets: ColumnSets, query: QueryGroups, costs: JosieCosts, scratch: Scratch, i: int, dropped: int, seen: int,
    threshold: int, heap: Array, held: int, best: Array, size: int, batch: int, ledger: Array, reading: float,
    stakes: float,
) -> int:  # fmt: skip
    """Compare the net costs of Equation 3.13: of the next batch of lists, of the best sets, of all sets."""
    lists_left, candidates = query.cost[i], seen - dropped
    closed = query.rest[i] < threshold
    if closed and _cost_of_all(sets, query, costs, scratch, i, dropped, seen, lists_left) < lists_left:
        return READ_ALL
    if size == 0 or reading > lists_left:
        return READ_LISTS
    rate = 1.0 / (query.rest[0] - query.rest[i])
    hoped = kth_largest(heap, held, best, size, threshold, ledger[1] / ledger[0] * rate * query.rest[i])
    hoped = min(hoped, query.rest[0])
    hopeless = 1 if hoped > threshold or held < len(heap) else _CHANCE
    if reading * STAKE * hopeless < lists_left and reading < stakes:
        return READ_BEST
    if hoped <= threshold:
        return READ_LISTS
    after = first_below(query.cost, i, lists_left - batch * costs.l1)
    by_sets, by_lists = _count_saved(scratch, dropped, seen, query.rest[i], query.rest[after], rate, hoped, threshold)
    typical = reading / size
    if closed:
        pays = reading + typical * (candidates - size - by_sets) < lists_left
    else:
        skipped = query.cost[first_below(query.rest, i, hoped)] - query.cost[first_below(query.rest, i, threshold)]
        benefit = min(skipped + typical * by_sets, lists_left)
        of_lists = lists_left - query.cost[after] - min(typical * by_lists, lists_left)
        pays = reading < benefit and reading - benefit < of_lists
    return READ_BEST if pays else READ_LISTS


@compiled
def _count_saved(
    scratch: Scratch, dropped: int, seen: int, rest: int, rest_after: int, rate: float, hoped: int, threshold: int
) -> tuple[int, int]:
    """How many candidates would fall if the threshold rose as hoped, and how many by the next batch of lists."""
    by_sets, by_lists = 0, 0
    grow = 1.0 + rate * (rest - rest_after)
    for j in range(dropped, seen):
        count = scratch.counts[scratch.touched[j]]
        by_sets += count + rest < hoped
        by_lists += count * grow + rest_after < threshold
    return by_sets, by_lists


@compiled
def _cost_of_all(
    sets: ColumnSets,
    query: QueryGroups,
    costs: JosieCosts,
    scratch: Scratch,
    i: int,
    dropped: int,
    seen: int,
    limit: float,
) -> float:
    """What reading all candidates costs; counted no further than the limit."""
    total = (seen - dropped) * costs.s0
    j = dropped
    while j < seen and total < limit:
        total += cost_of(sets, query, costs, i, scratch.touched[j]) - costs.s0
        j += 1
    return total


@compiled
def cost_of(sets: ColumnSets, query: QueryGroups, costs: JosieCosts, i: int, column: int) -> float:
    steps = count_steps(len(query.groups) - i, sets.offsets[column + 1] - sets.offsets[column])
    return costs.s0 + costs.s1 * steps


@compiled
def push(heap: Array, held: int, value: int) -> int:
    """Keep the largest values, as many as fit, the least of them first. Returns how many are held."""
    if held < len(heap):
        at = held
        while at > 0 and heap[(at - 1) >> 1] > value:
            heap[at] = heap[(at - 1) >> 1]
            at = (at - 1) >> 1
        heap[at] = value
        return held + 1
    if value > heap[0]:
        at = 0
        child = 1
        while child < held:
            if child + 1 < held and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[at] = heap[child]
            at = child
            child = 2 * at + 1
        heap[at] = value
    return held


@compiled
def count_steps(one: int, other: int) -> int:
    """The estimated steps of intersecting two ascending lists."""
    small, large = min(one, other), max(one, other)
    if small == 0:
        return 0
    if small * 8 >= large:
        return one + other
    steps = 2
    while small << steps < large:
        steps += 1
    return small * steps
