"""PEXESO as published, over the columns of one segment: quick browsing, blocking, verification (Algorithms 1 to 3).

It says which columns may be joinable. The similarity of values, which no distance alone gives here, is then decided in
these columns only.

| paper | here |
|---|---|
| P, \\|P\\|; m | `pivots`; `levels` |
| HG_Q, HG_SV | `HierarchicalGrid` |
| I | `Inverted` |
| match map, mismatch map | `Tally.match`; `left` less what matched |
| Equation 1 | `expected_texts` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dovetail._types import Array
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Vectors
from dovetail.indexes.pexeso.grid import DIAMETER, HierarchicalGrid, choose_pivots
from dovetail.indexes.pexeso.grid_kernels import Inverted, Tally, Targets, block, verify
from dovetail.indexes.tokens.format import running_sum

_QUERIES = 1_024  # blocked at a time: bounds the pairs in memory
_PORTION = 1 << 14
_SAMPLE = 10_000  # texts on which |P| and m are chosen; arbitrary, the answer does not depend on it
_WORKLOAD = 50  # of them, queries
_FEW_QUERIES, _FEW_TEXTS = 20, 500  # whose pairs show what Lemma 1 leaves, in some 0.3 ms
_PIVOTS, _LEVELS = (1, 3, 5), (2, 3, 4, 5, 6)  # up to the best of the paper's Table VI, 5 and 6
# Costs by that of a text in verification, some 10 ns: of a leaf in blocking, of a distance. Scored on lakes that they
# were not fitted to (benchmarks/semantic/constants.py).
_LEAF, _DISTANCE = 1.0, 10.0
_EMPTY = np.empty(0, np.float32)


@dataclass(frozen=True)
class ColumnGrid:
    """The texts of columns in a hierarchical grid, with its inverted index."""

    pivots: Array
    levels: int
    grid: HierarchicalGrid
    inverted: Inverted
    targets: Targets

    @classmethod
    def of(
        cls, vectors: Vectors, dimension: int, text_columns: tuple[Array, Array], radius: float,
        pivots: int = 0, levels: int = 0,
    ) -> Self:  # fmt: skip
        """`text_columns` are offsets and columns of each text. Without |P| and m, the cost model chooses them."""
        sample = dense_at(vectors, spread(len(vectors), _SAMPLE), dimension)
        pivots, levels = chosen(sample, len(vectors), radius, pivots, levels)
        farthest = choose_pivots(sample, pivots)
        grid = HierarchicalGrid.of(_mapped(vectors, dimension, farthest), levels)
        targets = targets_of(vectors, grid.order)
        return cls(farthest, levels, grid, _inverted(grid, *text_columns), targets)

    def joinable(
        self, queries: Array, weights: Array, radius: float, least: int, matched: Array, allowed: Array
    ) -> tuple[Array, int]:
        """Which allowed columns may have `least` rows with a match within `radius`; and how many distances that took.

        A query counts as often as its weight says; `matched` are rows of each column that match already.
        """
        tally = Tally(matched.astype(np.int64), np.full(len(allowed), -1, np.int64), allowed)
        stamps = np.full(len(self.grid.order), -1, np.int64)
        verdicts = np.zeros(len(stamps), np.int8)
        computed, rest = 0, int(weights.sum())
        for first in range(0, len(queries), _QUERIES):
            part = slice(first, first + _QUERIES)
            mine = HierarchicalGrid.of(distances(queries[part], self.pivots), self.levels)
            asked, mass = queries[part][mine.order], weights[part][mine.order]
            left = rest - np.concatenate([[0], np.cumsum(mass)[:-1]])
            rest -= int(mass.sum())
            matching, candidate, leaves = self._blocked(mine, radius)
            computed += verify(
                matching, candidate, leaves, asked, mine.places, mass, left, self.targets, self.inverted, radius,
                least, tally, verdicts, stamps, first,
            )  # fmt: skip
        return allowed & (tally.match >= least), computed

    def share_left(self, queries: Array, radius: float) -> float:
        """The share of pairs of a query and a text that Lemma 1 leaves, on a sample of both."""
        mine = distances(queries[:: max(1, len(queries) // _FEW_QUERIES)], self.pivots)
        theirs = self.grid.places[:: max(1, len(self.grid.places) // _FEW_TEXTS)]
        return share_left(theirs, mine, radius)

    def _blocked(self, mine: HierarchicalGrid, radius: float) -> tuple[Array, Array, int]:
        """Matching and candidate pairs by query, and the number of leaves: quick browsing comes first."""
        leaves = len(self.grid.leaf_keys)
        browsed = self.grid.leaves_at(mine.leaf_keys)
        matching, candidate = block(mine.cells, mine.places, self.grid.cells, leaves, radius, browsed)
        same = np.repeat(browsed, np.diff(mine.leaf_starts))
        places = np.flatnonzero(same >= 0)
        pairs = np.concatenate([places * leaves + same[places], np.sort(candidate)])
        return np.sort(matching), pairs[np.argsort(pairs // leaves, kind="stable")], leaves


def targets_of(vectors: Vectors, order: Array) -> Targets:
    """Vectors as the kernels compare them; `order` has the row of each place of the grid."""
    if isinstance(vectors, Sparse):
        return Targets(_EMPTY.reshape(0, 0), vectors.starts, vectors.dimensions, vectors.weights, order)
    return Targets(vectors, np.empty(0, np.int64), np.empty(0, np.int32), _EMPTY, order)


def spread(texts: int, number: int) -> Array:
    """So many places, or all, evenly spread."""
    return np.linspace(0, texts - 1, min(texts, number)).astype(np.int64)


def dense_at(vectors: Vectors, places: Array, dimension: int) -> Array:
    if not isinstance(vectors, Sparse):
        return np.asarray(vectors[places])
    return dense_rows(vectors.take(places), dimension)


def _mapped(vectors: Vectors, dimension: int, pivots: Array) -> Array:
    places = np.empty((len(vectors), len(pivots)))
    for at in range(0, len(vectors), _PORTION):
        part = np.arange(at, min(at + _PORTION, len(vectors)))
        places[part] = distances(dense_at(vectors, part, dimension), pivots)
    return places


def dense_rows(vectors: Sparse, dimension: int) -> Array:
    """Sparse vectors with all their zeros."""
    found = np.zeros((len(vectors), dimension), np.float32)
    found[np.repeat(np.arange(len(vectors)), np.diff(vectors.starts)), vectors.dimensions] = vectors.weights
    return found


def distances(vectors: Array, pivots: Array) -> Array:
    """Pivot mapping; lengths are measured, as float32 vectors are not quite unit vectors."""
    wide = vectors.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)[:, None] + np.einsum("ij,ij->i", pivots, pivots)
    found: Array = np.sqrt(np.maximum(squares - 2.0 * (wide @ pivots.T), 0.0))
    return found


def _inverted(grid: HierarchicalGrid, offsets: Array, columns: Array) -> Inverted:
    """Leaf by leaf, and in a leaf column by column, the texts."""
    lengths = np.diff(offsets)[grid.order]
    starts = running_sum(lengths)
    inside = np.arange(starts[-1]) - np.repeat(starts[:-1] - offsets[:-1][grid.order], lengths)
    of_text = np.repeat(np.arange(len(grid.order)), lengths)
    of_leaf = np.repeat(np.repeat(np.arange(len(grid.leaf_keys)), np.diff(grid.leaf_starts)), lengths)
    of_column = columns[inside].astype(np.int64)
    order = np.lexsort((of_text, of_column, of_leaf))
    of_leaf, of_column = of_leaf[order], of_column[order]
    begins = np.flatnonzero(np.append(True, (np.diff(of_leaf) != 0) | (np.diff(of_column) != 0))[: len(order)])
    postings = np.searchsorted(of_leaf[begins], np.arange(len(grid.leaf_keys) + 1))
    return Inverted(postings, of_column[begins], np.append(begins, len(order)), of_text[order], grid.places)


def share_left(places: Array, queries: Array, radius: float) -> float:
    """The share of pairs that Lemma 1 leaves: their distances are computed."""
    return float(np.all(np.abs(places[None] - queries[:, None]) <= radius, axis=2).mean())


def expected_texts(places: Array, queries: Array, radius: float, levels: int) -> float:
    """Equation 1 on a sample: the share of texts in the leaf cells that the square of a query covers.

    Equation 2 bounds it by the best single pivot, and takes a cell to be 1 / (|P| m) wide where it is 2 / 2^m; here it
    always asked for the coarsest grid.
    """
    side = DIAMETER / 2**levels
    cells = np.floor(places / side)[None]
    low, high = (np.floor((queries + reach) / side)[:, None] for reach in (-radius, radius))
    return float(np.all((cells >= low) & (cells <= high), axis=2).mean())


def chosen(sample: Array, texts: int, radius: float, pivots: int = 0, levels: int = 0) -> tuple[int, int]:
    """|P| and m with the least estimated cost for these texts on a sampled workload, unless they are given."""
    tried = []
    every = distances(sample, choose_pivots(sample, pivots or _PIVOTS[-1]))
    for number in (pivots,) if pivots else _PIVOTS:
        places = every[:, :number]
        for depth in (levels,) if levels else _LEVELS:
            leaves = len(np.unique((places / DIAMETER * 2**depth).astype(np.int64), axis=0))
            queries = places[:: max(1, len(places) // _WORKLOAD)]
            read = expected_texts(places, queries, radius, depth) + _DISTANCE * share_left(places, queries, radius)
            tried.append((read * texts + _LEAF * leaves, number, depth))
    return min(tried)[1:]
