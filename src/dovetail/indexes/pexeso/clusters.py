"""Dense vectors in clusters: principal axes, a short head of each vector, and k-means over the heads.

The head of a unit vector is its coordinates on the first axes, and the length of what is left. Heads are never farther
apart than their vectors: the first coordinates are a projection, and the rests differ at least by their lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.indexes.tokens.format import running_sum

AXES = 64
_SAMPLE = 16_384
_ROUNDS = 8
_TEXTS_A_CLUSTER = 512
_MOST_CLUSTERS = 1_024
_PORTION = 1 << 14
_SLACK = 1e-4  # of a radius, for float32


@dataclass(frozen=True)
class Clustered:
    order: Array  # the vectors, cluster by cluster
    starts: Array
    centres: Array
    radii: Array
    basis: Array
    heads: Array  # in the order of the vectors


def cluster(vectors: Array) -> Clustered:
    basis = _principal_axes(_sample(vectors))
    heads = np.empty((len(vectors), basis.shape[1] + 1), np.float32)
    for start in range(0, len(vectors), _PORTION):
        heads[start : start + _PORTION] = heads_of(vectors[start : start + _PORTION], basis)
    centres = _centres(_sample(heads), min(_MOST_CLUSTERS, len(vectors) // _TEXTS_A_CLUSTER + 1))
    nearest = np.empty(len(vectors), np.int64)
    for start in range(0, len(vectors), _PORTION):
        nearest[start : start + _PORTION] = _nearest(heads[start : start + _PORTION], centres)
    order = np.argsort(nearest, kind="stable")
    sizes = np.bincount(nearest, minlength=len(centres))
    radii = np.zeros(len(centres), np.float32)
    np.maximum.at(radii, nearest, np.linalg.norm(heads - centres[nearest], axis=1) + np.float32(_SLACK))
    return Clustered(order, running_sum(sizes), centres, radii, basis, heads)


def heads_of(vectors: Array, basis: Array) -> Array:
    """Coordinates on the axes, and the length of the rest."""
    first = vectors @ basis
    rest = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", first, first, dtype=np.float64), 0.0))
    found: Array = np.concatenate([first, rest[:, None].astype(np.float32)], axis=1)
    return found


def _sample(rows: Array) -> Array:
    return np.asarray(rows[:: max(1, len(rows) // _SAMPLE)])


def _principal_axes(sample: Array) -> Array:
    """Orthonormal, a column each, those first along which the vectors lie farthest apart."""
    centred = sample.astype(np.float64)
    if len(centred):
        centred -= centred.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    found: Array = np.ascontiguousarray(axes[:, ::-1][:, :AXES]).astype(np.float32)
    return found


def _centres(sample: Array, number: int) -> Array:
    """k-means from heads spread over the sample."""
    centres = np.array(sample[:: max(1, len(sample) // number)][:number], np.float32)
    for _ in range(_ROUNDS if len(centres) else 0):
        nearest = _nearest(sample, centres)
        sums = np.zeros(centres.shape, np.float64)
        np.add.at(sums, nearest, sample)
        sizes = np.bincount(nearest, minlength=len(centres))
        filled = sizes > 0
        centres[filled] = (sums[filled] / sizes[filled, None]).astype(np.float32)
    return centres


def _nearest(heads: Array, centres: Array) -> Array:
    squares = np.einsum("ij,ij->i", centres, centres)
    found: Array = np.argmin(squares - 2.0 * (heads @ centres.T), axis=1)
    return found
