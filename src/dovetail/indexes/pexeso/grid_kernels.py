"""Kernels of PEXESO as published: blocking of two grids (Algorithm 1), verification (Algorithm 2, Lemmas 1 to 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, inlined
from dovetail._types import Array

SLACK = 1e-4  # of distances in float32: what is nearer to a bound than this is compared, neither dropped nor matched


class Cells(NamedTuple):
    """All cells of a grid, root first; ranges are (from, to) and hold for a cell of any level."""

    low: Array
    high: Array
    farthest: Array  # the greatest distance of its vectors from each pivot
    below: Array  # cells of the next level; none for a leaf
    leaves: Array  # numbered from 0
    members: Array  # places in the grid's order


class Inverted(NamedTuple):
    """For each leaf the columns that have a text there (postings), and for each of these its texts."""

    postings: Array  # of leaf i: from postings[i] to postings[i + 1]
    columns: Array
    starts: Array  # of posting j: from starts[j] to starts[j + 1] in `texts`
    texts: Array  # places in the grid's order
    places: Array  # of each text, its distances from the pivots


class Targets(NamedTuple):
    """The vectors of texts, dense, or sparse with no dense rows; `order` has the row of each place of the grid."""

    dense: Array
    starts: Array
    dimensions: Array
    weights: Array
    order: Array


class Tally(NamedTuple):
    """Rows of mine that match each column (the match map), the last query that did, and which columns are allowed."""

    match: Array
    met: Array
    allowed: Array


@compiled
def block(mine: Cells, places: Array, theirs: Cells, leaves: int, radius: float, browsed: Array) -> tuple[Array, Array]:
    """Algorithm 1, with a stack in place of the recursion: matching and candidate pairs, as place * leaves + leaf.

    `browsed` has for each leaf of the queries the leaf of the targets at the same place, or -1: it is left out.
    """
    matching, candidate = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    stack = [(np.int64(0), np.int64(0))]
    while len(stack) > 0:
        parent, other = stack.pop()
        for q in range(mine.below[parent, 0], mine.below[parent, 1]):
            same = browsed[mine.leaves[q, 0]]
            for s in range(theirs.below[other, 0], theirs.below[other, 1]):
                if theirs.below[s, 0] == theirs.below[s, 1]:
                    leaf = theirs.leaves[s, 0]
                    if leaf == same:
                        continue
                    for place in range(mine.members[q, 0], mine.members[q, 1]):
                        if _covered(theirs.high, s, places, place, radius):  # Lemma 5
                            matching.append(np.int64(place * leaves + leaf))
                        elif not _apart(theirs.low, theirs.high, s, places, places, place, radius):  # Lemma 3
                            candidate.append(np.int64(place * leaves + leaf))
                elif _covered(theirs.high, s, mine.farthest, q, radius):  # Lemma 6
                    for place in range(mine.members[q, 0], mine.members[q, 1]):
                        for leaf in range(theirs.leaves[s, 0], theirs.leaves[s, 1]):
                            matching.append(np.int64(place * leaves + leaf))
                elif not _apart(theirs.low, theirs.high, s, mine.low, mine.high, q, radius):  # Lemma 4
                    stack.append((np.int64(q), np.int64(s)))
    return np.array(matching, np.int64), np.array(candidate, np.int64)


@inlined
def _covered(high: Array, cell: int, farthest: Array, row: int, radius: float) -> bool:
    """Whether a rectangle query region, of the query farthest from a pivot, covers the cell."""
    nearest = high[cell, 0] + farthest[row, 0]
    for axis in range(1, high.shape[1]):
        nearest = min(nearest, high[cell, axis] + farthest[row, axis])
    return bool(nearest <= radius - SLACK)


@inlined
def _apart(low: Array, high: Array, cell: int, mine_low: Array, mine_high: Array, row: int, radius: float) -> bool:
    """Whether the cell and the square query region of a vector, or of a cell, have nothing in common."""
    apart = False
    for axis in range(low.shape[1]):
        if (
            low[cell, axis] > mine_high[row, axis] + radius + SLACK
            or high[cell, axis] < mine_low[row, axis] - radius - SLACK
        ):
            apart = True
            break
    return apart


@compiled
def verify(
    matching: Array, candidate: Array, leaves: int, queries: Array, query_places: Array, weights: Array, left: Array,
    targets: Targets, index: Inverted, radius: float, least: int, tally: Tally, verdicts: Array, stamps: Array,
    first: int,
) -> int:  # fmt: skip
    """Algorithm 2 on the pairs of some queries, both ascending; returns how many distances were computed.

    `left[i]` is the weight of the queries from i on: with it, the match map says what the mismatch map would. A column
    is left as soon as it is joinable, or cannot be any more (Lemma 7). A text that several columns hold is compared
    once; `stamps` has the query that a verdict is of. `first` is the number of the first query.
    """
    computed, sure, at = 0, 0, 0
    for place in range(len(queries)):
        number = first + place
        while sure < len(matching) and matching[sure] < (place + 1) * leaves:
            leaf = matching[sure] - place * leaves
            sure += 1
            for posting in range(index.postings[leaf], index.postings[leaf + 1]):
                _match(index.columns[posting], number, weights[place], tally)
        while at < len(candidate) and candidate[at] < (place + 1) * leaves:
            leaf = candidate[at] - place * leaves
            at += 1
            for posting in range(index.postings[leaf], index.postings[leaf + 1]):
                column = index.columns[posting]
                done = tally.match[column] >= least or tally.met[column] == number or not tally.allowed[column]
                if done or tally.match[column] + left[place] < least:
                    continue
                for k in range(index.starts[posting], index.starts[posting + 1]):
                    text = index.texts[k]
                    if stamps[text] != number:
                        verdict = _by_pivots(index.places, text, query_places, place, radius)
                        if verdict == 0:
                            computed += 1
                            verdict = 1 if _is_near(queries[place], targets, targets.order[text], radius) else -1
                        stamps[text], verdicts[text] = number, verdict
                    if verdicts[text] > 0:
                        _match(column, number, weights[place], tally)
                        break
    return computed


@inlined
def _match(column: int, number: int, weight: int, tally: Tally) -> None:
    """A query counts once for a column."""
    if tally.met[column] != number:
        tally.met[column] = number
        tally.match[column] += weight


@inlined
def _by_pivots(targets: Array, text: int, queries: Array, place: int, radius: float) -> int:
    """-1 out by Lemma 1, 1 near by Lemma 2, 0 unknown."""
    verdict = 0
    for axis in range(targets.shape[1]):
        if abs(targets[text, axis] - queries[place, axis]) > radius + SLACK:
            verdict = -1
            break
        if targets[text, axis] + queries[place, axis] <= radius - SLACK:
            verdict = 1
    return verdict


@compiled
def _is_near(query: Array, targets: Targets, row: int, radius: float) -> bool:
    """Whether two vectors are at most `radius` apart, or so little more that float64 has to decide."""
    if len(targets.dense):
        return bool(_squared(query, targets.dense[row]) <= radius * radius + SLACK)
    product = np.float32(0.0)  # sparse vectors have unit length
    for k in range(targets.starts[row], targets.starts[row + 1]):
        product += query[targets.dimensions[k]] * targets.weights[k]
    return bool(2.0 - 2.0 * product <= radius * radius + SLACK)


@inlined
def _squared(one: Array, other: Array) -> float:
    """In four sums, so that the processor need not wait for one."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    whole = len(one) // 4 * 4
    for k in range(0, whole, 4):
        a += (one[k] - other[k]) ** 2
        b += (one[k + 1] - other[k + 1]) ** 2
        c += (one[k + 2] - other[k + 2]) ** 2
        d += (one[k + 3] - other[k + 3]) ** 2
    for k in range(whole, len(one)):
        a += (one[k] - other[k]) ** 2
    return float((a + b) + (c + d))
