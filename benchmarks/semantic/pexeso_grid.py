"""The paper's blocking: PCA pivots, pivot mapping, hierarchical grids of targets and queries, Lemmas 3 to 6.

A grid's cells are numbered level by level from the root; the cells below one have successive numbers, and so have its
leaves and its vectors. `block` walks two grids at once, from the roots down (Algorithm 1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
DIAMETER = 2.0
SLACK = 1e-6  # rounding of distances: what is nearer to a bound than this is compared, neither parted nor matched
_PORTION = 1 << 14


def choose_pivots(vectors: Array, number: int, seed: int = 1) -> Array:
    """The vectors farthest out along the first principal axes of a sample (Mao et al.)."""
    sample = vectors[np.random.default_rng(seed).choice(len(vectors), min(len(vectors), 4_000), replace=False)]
    centred = sample - sample.mean(axis=0)
    axes = np.linalg.svd(centred[:2_000], full_matrices=False)[2][:number]
    return sample[np.abs(centred @ axes.T).argmax(axis=0)]


def mapped(vectors: Array, pivots: Array) -> Array:
    """Distances to the pivots; lengths are measured, as float32 vectors are not quite unit vectors."""
    places = np.empty((len(vectors), len(pivots)))
    wide = pivots.astype(np.float64)
    for at in range(0, len(vectors), _PORTION):
        part = vectors[at : at + _PORTION].astype(np.float64)
        squares = np.einsum("ij,ij->i", part, part)[:, None] + np.einsum("ij,ij->i", wide, wide)
        places[at : at + _PORTION] = np.sqrt(np.maximum(squares - 2.0 * (part @ wide.T), 0.0))
    return places


class Cells(NamedTuple):
    """All cells of a grid, root first; ranges are (from, to) and hold for a cell of any level."""

    low: Array
    high: Array
    farthest: Array  # the greatest distance of its vectors from each pivot
    below: Array  # cells of the next level; none for a leaf
    leaves: Array  # numbered from 0
    members: Array  # places in `order`


class HierarchicalGrid:
    """Mapped vectors in a grid of m levels beneath its root; only cells with a vector exist.

    `order` lists the vectors leaf by leaf; in a leaf they lie by column, as the inverted index needs them.
    """

    def __init__(self, places: Array, columns: Array, levels: int) -> None:
        pivots = places.shape[1]
        corners = np.clip((places / DIAMETER * 2**levels).astype(np.int64), 0, 2**levels - 1)
        key = _interleaved(corners, levels)
        self.order = np.lexsort((columns, key))
        self.key, self.places = key[self.order], places[self.order]
        self.leaf_keys, leaf_starts = np.unique(self.key, return_index=True)
        self.leaf_starts = np.append(leaf_starts, len(places))
        self.cells = self._all_cells(corners[self.order], pivots, levels)

    def _all_cells(self, corners: Array, pivots: int, levels: int) -> Cells:
        end = len(self.key)
        starts = [
            np.unique(self.key >> (pivots * (levels - level)), return_index=True)[1] for level in range(levels + 1)
        ]
        parts, numbered = [], 0
        for level, (first, inner) in enumerate(zip(starts, [*starts[1:], np.empty(0)], strict=True)):
            side, numbered = DIAMETER / 2**level, numbered + len(first)
            low = (corners[first] >> (levels - level)) * side
            farthest = np.maximum.reduceat(self.places, first)
            below = numbered + _ranges(np.searchsorted(inner, np.append(first, end)))
            leaves = _ranges(np.searchsorted(starts[-1], np.append(first, end)))
            parts.append((low, low + side, farthest, below, leaves, _ranges(np.append(first, end))))
        return Cells(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def leaf(self, key: int) -> int:
        """The leaf that covers the same region, or -1."""
        at = int(np.searchsorted(self.leaf_keys, key))
        return at if at < len(self.leaf_keys) and self.leaf_keys[at] == key else -1


def _interleaved(corners: Array, levels: int) -> Array:
    """Keys whose first bits tell the cell of level 1, the next that of level 2 in it, and so on."""
    key = np.zeros(len(corners), np.int64)
    for level in range(levels - 1, -1, -1):
        for axis in range(corners.shape[1]):
            key = (key << 1) | ((corners[:, axis] >> level) & 1)
    return key


def _ranges(bounds: Array) -> Array:
    return np.stack([bounds[:-1], bounds[1:]], axis=1)


def block(queries: HierarchicalGrid, targets: HierarchicalGrid, radius: float, browsed: Array) -> tuple[Array, Array]:
    """Matching and candidate pairs: rows of (place of a query, leaf of the targets), by query.

    `browsed` has for each leaf of the queries the leaf of the targets that was looked up before, or -1: it is left out.
    """
    leaves = len(targets.leaf_keys)
    matching, candidate = _block(queries.cells, queries.places, targets.cells, leaves, radius, browsed)
    return _by_query(matching, leaves), _by_query(candidate, leaves)


def _by_query(pairs: Array, leaves: int) -> Array:
    return np.stack(np.divmod(np.sort(pairs), leaves), axis=1)


@numba.njit(cache=True)
def _block(
    mine: Cells, places: Array, theirs: Cells, leaves: int, radius: float, browsed: Array
) -> tuple[Array, Array]:
    """Algorithm 1, with a stack in place of the recursion; a pair is place * leaves + leaf."""
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
                        if _covered(theirs.high[s], places[place], radius):  # Lemma 5
                            matching.append(place * leaves + leaf)
                        elif not _apart(theirs.low[s], theirs.high[s], places[place], places[place], radius):  # Lemma 3
                            candidate.append(place * leaves + leaf)
                elif _covered(theirs.high[s], mine.farthest[q], radius):  # Lemma 6
                    for place in range(mine.members[q, 0], mine.members[q, 1]):
                        for leaf in range(theirs.leaves[s, 0], theirs.leaves[s, 1]):
                            matching.append(place * leaves + leaf)
                elif not _apart(theirs.low[s], theirs.high[s], mine.low[q], mine.high[q], radius):  # Lemma 4
                    stack.append((np.int64(q), np.int64(s)))
    return np.array(matching, np.int64), np.array(candidate, np.int64)


@numba.njit(cache=True)
def _covered(high: Array, farthest: Array, radius: float) -> bool:
    """Whether a rectangle query region, of the query farthest from a pivot, covers the cell."""
    nearest = high[0] + farthest[0]
    for axis in range(1, len(high)):
        nearest = min(nearest, high[axis] + farthest[axis])
    return nearest <= radius - SLACK


@numba.njit(cache=True)
def _apart(low: Array, high: Array, mine_low: Array, mine_high: Array, radius: float) -> bool:
    """Whether the cell and the square query region of a vector, or of a cell, have nothing in common."""
    for axis in range(len(low)):
        if low[axis] > mine_high[axis] + radius + SLACK or high[axis] < mine_low[axis] - radius - SLACK:
            return True
    return False
