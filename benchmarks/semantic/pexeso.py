"""The paper's way alone, as a peer: PCA pivots, pivot mapping, hierarchical grid, inverted index, Lemmas 1 to 7.

PEXESO-H is the same without the inverted index: every vector of a candidate cell is compared.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def choose_pivots(vectors: Array, number: int, seed: int = 1) -> Array:
    """The vectors farthest out along the first principal axes of a sample (Mao et al.)."""
    sample = vectors[np.random.default_rng(seed).choice(len(vectors), min(len(vectors), 4_000), replace=False)]
    centred = sample - sample.mean(axis=0)
    axes = np.linalg.svd(centred[:2_000], full_matrices=False)[2][:number]
    return sample[np.abs(centred @ axes.T).argmax(axis=0)]


def mapped(vectors: Array, pivots: Array) -> Array:
    """Distances to the pivots, of unit vectors."""
    return np.sqrt(np.maximum(2.0 - 2.0 * (vectors @ pivots.T), 0.0)).astype(np.float32)


class Grid:
    """Target vectors in the leaf cells of a grid with m levels; in a cell they lie by column."""

    def __init__(self, vectors: Array, columns: Array, pivots: int, levels: int) -> None:
        self.pivots, self.levels, self.vectors = choose_pivots(vectors, pivots), levels, vectors
        places = mapped(vectors, self.pivots)
        cells = np.minimum((places / 2.0 * 2**levels).astype(np.int64), 2**levels - 1)
        key = np.ravel_multi_index(cells.T, (2**levels,) * pivots)
        self.order = np.lexsort((columns, key))
        self.places, self.columns = places[self.order], columns[self.order].astype(np.int64)
        self.keys, starts = np.unique(key[self.order], return_index=True)
        self.starts = np.append(starts, len(vectors)).astype(np.int64)
        self.cells = np.stack(np.unravel_index(self.keys, (2**levels,) * pivots), axis=1)

    def blocks(self, queries: Array, radius: float) -> tuple[list[Array], Array]:
        """Candidate leaf cells of each query: from level to level by Lemma 4, at the leaves by Lemma 3."""
        places = mapped(queries, self.pivots)
        leaf = np.minimum((places / 2.0 * 2**self.levels).astype(np.int64), 2**self.levels - 1)
        cells, members = np.unique(leaf, axis=0, return_inverse=True)
        alive = np.ones((len(cells), len(self.cells)), bool)
        for level in range(1, self.levels + 1):
            side = 2.0 / 2**level
            mine, theirs = cells >> (self.levels - level), self.cells >> (self.levels - level)
            for axis in range(places.shape[1]):
                gap = (np.abs(mine[:, axis, None] - theirs[None, :, axis]) - 1) * side
                alive &= gap <= radius
        low, high = self.cells * (2.0 / 2**self.levels), (self.cells + 1) * (2.0 / 2**self.levels)
        found = []
        for row, cell in enumerate(members.reshape(-1)):
            reach = np.all((low <= places[row] + radius) & (high >= places[row] - radius), axis=1)
            found.append(np.flatnonzero(alive[cell] & reach))
        return found, places

    def search(self, queries: Array, columns: int, radius: float, least: int, inverted: bool) -> tuple[Array, int]:
        """The joinable columns, and how many distances were computed."""
        cells, places = self.blocks(queries, radius)
        match, mismatch, computed = np.zeros(columns, np.int64), np.zeros(columns, np.int64), 0
        for row, near in enumerate(cells):
            computed += _verify(
                queries[row], places[row], near, self.starts, self.order, self.places, self.columns, self.vectors,
                radius, least, len(queries), inverted, match, mismatch,
            )  # fmt: skip
        return np.flatnonzero(match >= least), computed


@numba.njit(cache=True)
def _verify(
    query: Array, place: Array, cells: Array, starts: Array, order: Array, places: Array, columns: Array,
    vectors: Array, radius: float, least: int, size: int, inverted: bool, match: Array, mismatch: Array,
) -> int:  # fmt: skip
    """One query against its cells. A mismatch counts once for a query and a column: at the end."""
    met = np.zeros(len(match), np.int8)  # 1 seen, 2 matched
    computed = 0
    for cell in cells:
        for at in range(starts[cell], starts[cell + 1]):
            column = columns[at]
            if met[column] == 2 or (
                inverted and (match[column] >= least or size - mismatch[column] < least)  # both early terminations
            ):
                continue
            met[column] = 1
            out, near = False, False
            for p in range(len(place)):
                if abs(places[at, p] - place[p]) > radius:  # Lemma 1
                    out = True
                    break
                if places[at, p] + place[p] <= radius:  # Lemma 2
                    near = True
            if inverted and out:
                continue
            if not near or not inverted:
                computed += 1
                total = 0.0
                vector = vectors[order[at]]
                for k in range(len(query)):
                    total += (query[k] - vector[k]) ** 2
                near = total <= radius * radius
            if near:
                met[column] = 2
    for column in range(len(match)):
        if met[column] == 2:
            match[column] += 1
        else:
            mismatch[column] += 1
    return computed


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
