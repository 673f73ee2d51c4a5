"""Which columns share a partition: the paper's clustering by Jensen-Shannon divergence, or chance (section IV).

A column is a histogram of its vectors over regions of the pivot space. k-means with the divergence as its distance
makes clusters of columns whose vectors lie in the same regions, so that pivots that are far out for one are for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from dovetail._types import Array
from dovetail.indexes.pexeso.block_and_verify import dense_at, distances, spread
from dovetail.indexes.pexeso.core import Vectors
from dovetail.indexes.pexeso.grid import choose_pivots

# Of the histograms and the k-means, which the paper leaves open. Arbitrary: they change the time of a search only.
_PIVOTS, _REGIONS, _ROUNDS = 3, 4, 10
_SAMPLE = 4_000
_PORTION = 1 << 14


class ColumnTexts(Protocol):
    """Texts by their place, their vectors, and the columns that hold them."""

    dimension: int
    columns: int
    address: str  # names these texts, and no others

    @property
    def texts(self) -> int: ...
    def vectors_of(self, places: Array) -> Vectors: ...
    def columns_of(self, places: Array) -> tuple[Array, Array]: ...


def portions(texts: ColumnTexts) -> Iterator[Array]:
    """The places of all texts, some at a time."""
    for at in range(0, texts.texts, _PORTION):
        yield np.arange(at, min(at + _PORTION, texts.texts))


def by_divergence(texts: ColumnTexts, number: int) -> Array:
    """The cluster of each column; columns without a text are in the first."""
    return cluster_by_divergence(histograms(texts), number)


def at_random(texts: ColumnTexts, number: int) -> Array:
    return np.random.default_rng(1).integers(0, number, texts.columns)


CLUSTERINGS = {"divergence": by_divergence, "random": at_random}


def histograms(texts: ColumnTexts) -> Array:
    """For each column the share of its texts in each region: intervals of the distances from a few pivots."""
    sample = _dense(texts, spread(texts.texts, _SAMPLE))
    pivots = choose_pivots(sample, min(_PIVOTS, texts.dimension))
    inner = np.linspace(0, 1, _REGIONS + 1)[1:-1]
    bounds = np.quantile(distances(sample, pivots), inner, axis=0).T  # equally full: most texts are about as far away
    counts = np.zeros((texts.columns, _REGIONS ** len(pivots)), np.float32)
    for part in portions(texts):
        places = distances(_dense(texts, part), pivots)
        cells = [np.searchsorted(bound, axis) for bound, axis in zip(bounds, places.T, strict=True)]
        regions = np.ravel_multi_index(cells, (_REGIONS,) * len(pivots))
        offsets, columns = texts.columns_of(part)
        np.add.at(counts, (columns, np.repeat(regions, np.diff(offsets))), 1)
    counts /= np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return counts


def _dense(texts: ColumnTexts, places: Array) -> Array:
    vectors = texts.vectors_of(places)
    return dense_at(vectors, np.arange(len(places)), texts.dimension)


def cluster_by_divergence(shares: Array, number: int) -> Array:
    """k-means from random columns on, with the divergence in place of a distance."""
    filled = np.flatnonzero(shares.any(axis=1))
    number = min(number, len(filled))
    cluster = np.zeros(len(shares), np.int64)
    if number < 2:
        return cluster
    centres = shares[np.random.default_rng(1).choice(filled, number, replace=False)]
    for _ in range(_ROUNDS):
        cluster[filled] = np.argmin([divergences(shares[filled], centre) for centre in centres], axis=0)
        for k in range(number):
            mine = filled[cluster[filled] == k]
            if len(mine):
                centres[k] = shares[mine].mean(axis=0)
    return cluster


def divergences(shares: Array, centre: Array) -> Array:
    """Jensen-Shannon divergences of distributions from one: the mean of both divergences from their middle.

    The paper's formula is the mean of the divergences from each other, infinite where a region is empty for one.
    """
    middle = (shares + centre) / 2

    def from_middle(one: Array) -> Array:
        ratios = np.divide(one, middle, out=np.ones_like(middle), where=one > 0)
        found: Array = np.sum(one * np.log(ratios), axis=1)
        return found

    return (from_middle(shares) + from_middle(np.broadcast_to(centre, shares.shape))) / 2
