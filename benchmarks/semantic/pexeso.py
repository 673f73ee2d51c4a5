"""The paper's way alone, as a peer: quick browsing, blocking, verification with an inverted index (Algorithms 1 to 3).

PEXESO-H is the same without the inverted index: every vector of a candidate cell is compared. |P| and m are those with
the least estimated cost (Equations 1 and 2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from pexeso_grid import SLACK, HierarchicalGrid, block, choose_pivots, mapped

Array = npt.NDArray[Any]


class Inverted(NamedTuple):
    """For each leaf cell the columns that have a vector there (postings), and for each of these its vectors."""

    postings: Array  # of leaf i: from postings[i] to postings[i + 1]
    columns: Array
    starts: Array  # of posting j: vectors from starts[j] to starts[j + 1]
    order: Array
    places: Array
    vectors: Array


class Tally(NamedTuple):
    """The match map and the mismatch map; `met` tells which query matched which column already."""

    match: Array
    mismatch: Array
    met: Array


class Grid:
    """Target columns in a hierarchical grid, with its inverted index."""

    def __init__(self, vectors: Array, columns: Array, pivots: int, levels: int) -> None:
        self.pivots, self.levels = choose_pivots(vectors, pivots), levels
        self.targets = HierarchicalGrid(mapped(vectors, self.pivots), columns, levels)
        order, key = self.targets.order, self.targets.key
        column_of = columns[order].astype(np.int64)
        begins = np.append(True, (key[1:] != key[:-1]) | (column_of[1:] != column_of[:-1]))
        starts = np.flatnonzero(begins)
        self.index = Inverted(
            np.searchsorted(starts, self.targets.leaf_starts), column_of[starts], np.append(starts, len(vectors)),
            order, self.targets.places, vectors,
        )  # fmt: skip

    def search(self, queries: Array, columns: int, radius: float, least: int, inverted: bool) -> tuple[Array, int]:
        """Algorithm 3: the joinable columns, and how many distances were computed."""
        grid = HierarchicalGrid(mapped(queries, self.pivots), np.zeros(len(queries)), self.levels)
        asked = queries[grid.order]
        tally = Tally(
            np.zeros(columns, np.int64), np.zeros(columns, np.int64), np.zeros((len(queries), columns), np.bool_)
        )
        browsed = np.array([self.targets.leaf(key) if inverted else -1 for key in grid.leaf_keys])
        matching, candidate = block(grid, self.targets, radius, browsed)
        _matched(matching, self.index, tally)
        if inverted:
            pairs = _browsed_first(np.repeat(browsed, np.diff(grid.leaf_starts)), candidate)
            computed = _verify(pairs, asked, grid.places, self.index, radius, SLACK, least, tally)
        else:
            computed = _compare(candidate, asked, self.index, radius, tally)
        return np.flatnonzero(tally.match >= least), computed


def _browsed_first(same: Array, candidate: Array) -> Array:
    """Quick browsing: each query's pair with the cell that coincides with its own, then its other pairs.

    Algorithm 3 browses for all queries before it verifies any. Then no query would be done with, no mismatch counted,
    and Lemma 7 would drop nothing in what are most of the pairs where cells are wide.
    """
    pairs = np.concatenate([np.stack([np.arange(len(same)), same], axis=1)[same >= 0], candidate])
    return pairs[np.argsort(pairs[:, 0], kind="stable")]


@numba.njit(cache=True)
def _matched(pairs: Array, index: Inverted, tally: Tally) -> None:
    for place, leaf in pairs:
        for posting in range(index.postings[leaf], index.postings[leaf + 1]):
            _match(place, index.columns[posting], tally)


@numba.njit(cache=True)
def _match(place: int, column: int, tally: Tally) -> None:
    """A query counts once for a column."""
    if not tally.met[place, column]:
        tally.met[place, column] = True
        tally.match[column] += 1


@numba.njit(cache=True)
def _verify(
    pairs: Array, queries: Array, query_places: Array, index: Inverted, radius: float, slack: float, least: int,
    tally: Tally,
) -> int:  # fmt: skip
    """Algorithm 2 on candidate pairs. A mismatch counts once for a query and a column: after its last pair."""
    computed, at = 0, 0
    for place in range(len(queries)):
        while at < len(pairs) and pairs[at, 0] == place:
            leaf = pairs[at, 1]
            at += 1
            for posting in range(index.postings[leaf], index.postings[leaf + 1]):
                column = index.columns[posting]
                joinable = tally.match[column] >= least
                lost = len(queries) - tally.mismatch[column] < least  # Lemma 7
                if joinable or lost or tally.met[place, column]:
                    continue
                for vector in range(index.starts[posting], index.starts[posting + 1]):
                    verdict = _by_pivots(index.places[vector], query_places[place], radius, slack)
                    if verdict == 0:
                        computed += 1
                        verdict = 1 if _near(queries[place], index.vectors[index.order[vector]], radius) else -1
                    if verdict > 0:
                        _match(place, column, tally)
                        break
        for column in range(len(tally.match)):
            if not tally.met[place, column]:
                tally.mismatch[column] += 1
    return computed


@numba.njit(cache=True)
def _by_pivots(target: Array, query: Array, radius: float, slack: float) -> int:
    """-1 out by Lemma 1, 1 near by Lemma 2, 0 unknown."""
    near = 0
    for axis in range(len(query)):
        if abs(target[axis] - query[axis]) > radius + slack:
            return -1
        if target[axis] + query[axis] <= radius - slack:
            near = 1
    return near


@numba.njit(cache=True)
def _compare(pairs: Array, queries: Array, index: Inverted, radius: float, tally: Tally) -> int:
    """PEXESO-H: each query of a candidate pair with every vector of the cell."""
    computed = 0
    for place, leaf in pairs:
        for posting in range(index.postings[leaf], index.postings[leaf + 1]):
            for vector in range(index.starts[posting], index.starts[posting + 1]):
                computed += 1
                if _near(queries[place], index.vectors[index.order[vector]], radius):
                    _match(place, index.columns[posting], tally)
    return computed


@numba.njit(cache=True, fastmath={"reassoc", "contract"})  # sums by vector instructions: a peer is to be quick
def _near(one: Array, other: Array, radius: float) -> bool:
    total = 0.0
    for k in range(len(one)):
        total += (one[k] - other[k]) ** 2
    return total <= radius * radius


def estimated_cost(places: Array, queries: Array, radius: float, pivots: int, levels: int) -> float:
    """Equations 1 and 2: at most so many distances for these queries."""
    side = 1.0 / (2 * pivots * levels)
    inside = [
        [np.mean(np.abs(places[:, axis] - query[axis]) <= radius + side) for axis in range(pivots)] for query in queries
    ]
    return float(np.sum(np.min(inside, axis=1)) * len(places))


def chosen(vectors: Array, radius: float) -> tuple[int, int]:
    """|P| and m with the least estimated cost on a sampled workload; levels cost a visit of their cells."""
    sample = vectors[np.random.default_rng(2).choice(len(vectors), min(len(vectors), 3_000), replace=False)]
    best = (np.inf, 3, 4)
    for pivots in (1, 3, 5):
        places = mapped(sample, choose_pivots(vectors, pivots))
        for levels in (2, 4, 6):
            cells = len(np.unique((places / 2.0 * 2**levels).astype(np.int64), axis=0))
            cost = estimated_cost(places, places[:50], radius, pivots, levels) + 50 * cells
            best = min(best, (cost, pivots, levels))
    return best[1], best[2]
