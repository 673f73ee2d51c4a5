"""PEXESO's blocking structures: PCA pivots, pivot mapping, and hierarchical grids (sections III.A, III.B and III.D).

A grid's cells are numbered level by level from the root; the cells below one have successive numbers, and so have its
leaves and its vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dovetail._types import Array
from dovetail.indexes.pexeso.grid_kernels import Cells

DIAMETER = 2.0  # of unit vectors
MOST_PIVOTS, MOST_LEVELS = 9, 6  # so that the key of a cell, a bit for each pivot and level, fits into 64 bits
_CANDIDATES = 4_000  # vectors among which pivots are chosen; the paper has none, and its cost is linear in them
_STEPS = 8  # towards the principal axes; arbitrary


def choose_pivots(sample: Array, number: int) -> Array:
    """The vectors farthest out along the first principal axes (Mao et al., as in the paper).

    The axes come from a few steps of subspace iteration: any pivots give the same answers.
    """
    some = sample[:_CANDIDATES].astype(np.float64)
    centred = some - some.mean(axis=0)
    axes = np.random.default_rng(1).normal(size=(some.shape[1], number))
    for _ in range(_STEPS):
        axes = np.linalg.qr(centred.T @ (centred @ axes))[0]
    found: Array = some[np.abs(centred @ axes).argmax(axis=0)]
    return found


@dataclass(frozen=True)
class HierarchicalGrid:
    """Mapped vectors in a grid of m levels beneath its root; only cells with a vector exist."""

    order: Array  # the vectors, leaf by leaf
    places: Array  # their distances from the pivots, in this order
    leaf_keys: Array
    leaf_starts: Array  # in the order
    cells: Cells

    @classmethod
    def of(cls, places: Array, levels: int) -> Self:
        pivots = places.shape[1]
        corners = np.clip((places / DIAMETER * 2**levels).astype(np.int64), 0, 2**levels - 1)
        key = _interleaved(corners, levels)
        order = np.argsort(key, kind="stable")
        key, places = key[order], np.ascontiguousarray(places[order])
        leaf_keys, starts = np.unique(key, return_index=True)
        cells = _all_cells(key, places, corners[order], pivots, levels)
        return cls(order, places, leaf_keys, np.append(starts, len(places)), cells)

    def leaves_at(self, keys: Array) -> Array:
        """The leaves that cover the same regions as those with these keys, or -1."""
        at = np.minimum(np.searchsorted(self.leaf_keys, keys), len(self.leaf_keys) - 1)
        found: Array = np.where(self.leaf_keys[at] == keys, at, -1)
        return found


def _all_cells(key: Array, places: Array, corners: Array, pivots: int, levels: int) -> Cells:
    end = len(key)
    starts = [np.unique(key >> (pivots * (levels - level)), return_index=True)[1] for level in range(levels + 1)]
    parts, numbered = [], 0
    for level, (first, inner) in enumerate(zip(starts, [*starts[1:], np.empty(0)], strict=True)):
        side, numbered = DIAMETER / 2**level, numbered + len(first)
        low = (corners[first] >> (levels - level)) * side
        farthest = np.maximum.reduceat(places, first)
        bounds = np.append(first, end)
        below = numbered + _ranges(np.searchsorted(inner, bounds))
        leaves = _ranges(np.searchsorted(starts[-1], bounds))
        parts.append((low, low + side, farthest, below, leaves, _ranges(bounds)))
    return Cells(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _interleaved(corners: Array, levels: int) -> Array:
    """Keys whose first bits are those of the cell of level 1, the next that of level 2 in it, and so on."""
    key = np.zeros(len(corners), np.int64)
    for level in range(levels - 1, -1, -1):
        for axis in range(corners.shape[1]):
            key = (key << 1) | ((corners[:, axis] >> level) & 1)
    return key


def _ranges(bounds: Array) -> Array:
    return np.stack([bounds[:-1], bounds[1:]], axis=1)
