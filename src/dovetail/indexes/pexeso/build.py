"""Builds the pexeso pack of a segment from its tokens pack; the chunks of columns are not needed again.

Sparse vectors become posting lists by dimension. Dense ones are clustered: principal axes, a short head of each vector,
and k-means over the heads. The head of a unit vector is its coordinates on the first axes and the length of what is
left. Heads are never farther apart than their vectors: the first coordinates are a projection, and the rests differ at
least by their lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dovetail._storage.pack import PackWriter
from dovetail._storage.packing import pack_numbers
from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso import format as pexeso_format
from dovetail.indexes.pexeso.core import VectorParameters, heads_of, space_of, text_ids
from dovetail.indexes.pexeso.format import blocks_of, list_starts, write_head
from dovetail.indexes.pexeso.kernels import coded_scales, count_lists, fill_lists, largest_weights
from dovetail.indexes.shares import Share, SharedBuilder
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.query import TokenReader

# Of the clustering. Arbitrary: they change the time of a search, never its answer.
AXES = 64
_SAMPLE = 16_384
_ROUNDS = 8
_TEXTS_A_CLUSTER = 512
_MOST_CLUSTERS = 1_024
_SLACK = 1e-4  # of a radius, for float32
_PORTION = 1 << 14  # texts that are embedded at once; the same whatever the memory, for the same sums
_LEAST_MEMORY = 1 << 24
_BYTES_A_POSTING = 2
_BYTES_A_TEXT = 400  # approximate, of a sparse vector and its items in lists


class PexesoBuilder(SharedBuilder):
    """A share is some texts, with their vectors or, where these are sparse, their lists by dimension."""

    def __init__(self, scratch: Path, memory_bytes: int, parameters: VectorParameters) -> None:
        super().__init__(scratch, max(memory_bytes, _LEAST_MEMORY))
        self._space = space_of(parameters)

    def least_shares(self, writer: SegmentWriter) -> int:
        size = _BYTES_A_TEXT if self._space.is_sparse else 4 * self._space.embedder.dimension
        return max(1, -(-len(text_ids(writer)) * size // self._memory_bytes))

    def share(self, writer: SegmentWriter, number: int, of: int) -> Share:
        tokens = TokenReader(writer)
        texts = text_ids(writer)
        portions = -(-len(texts) // _PORTION)
        first, last = (portions * each // of * _PORTION for each in (number, number + 1))
        places = range(first, min(last, len(texts)), _PORTION)
        if not self._space.is_sparse:
            dense = (self._space.dense(tokens.tokens(texts[at : at + _PORTION])).reshape(-1) for at in places)
            return {"vectors": np.concatenate([np.empty(0, np.float32), *dense])}
        sparse = [(at, self._space.sparse(tokens.tokens(texts[at : at + _PORTION]))) for at in places]
        return _listed(sparse, self._space.embedder.dimension, blocks_of(len(texts)))

    def finish_shares(self, writer: SegmentWriter, shares: Sequence[Share]) -> dict[str, int]:
        texts = text_ids(writer)
        write = self._write_sparse if self._space.is_sparse else self._write_dense
        writer.write_part(pexeso_format.NAME, pexeso_format.VERSION, lambda pack: write(pack, texts, shares))
        return {}

    def _write_sparse(self, pack: PackWriter, texts: Array, shares: Sequence[Share]) -> None:
        write_head(pack, self._space.parameters.to_bytes(), texts)
        dimension = self._space.embedder.dimension
        blocks = blocks_of(len(texts))
        lengths = sum((share["lengths"] for share in shares), np.zeros(dimension * blocks, np.int64))
        lengths = lengths.reshape(dimension, blocks)
        pack.add_packed("list_starts", pack_numbers(list_starts(lengths).reshape(-1)))
        pack.add("scales", np.concatenate([np.empty(0, np.uint8), *(share["scales"] for share in shares)]))
        starts = running_sum(lengths.sum(axis=1))
        postings = pack.reserve("postings", "uint16", int(starts[-1]))
        first = 0
        while first < dimension:  # as many lists at a time as the memory takes
            last = int(np.searchsorted(starts, starts[first] + self._memory_bytes // _BYTES_A_POSTING, side="right"))
            last = min(max(last - 1, first + 1), dimension)
            postings.write(_joined(shares, first, last), int(starts[first]))
            first = last

    def _write_dense(self, pack: PackWriter, texts: Array, shares: Sequence[Share]) -> None:
        dimension = self._space.embedder.dimension
        path = self._scratch / "pexeso-vectors"
        with path.open("wb") as file:  # a map that is written to kills the process where the disk is full
            for share in shares:
                file.write(np.ascontiguousarray(share["vectors"], np.float32).data)
        shape = len(texts), dimension
        vectors = np.memmap(path, np.float32, "r", shape=shape) if len(texts) else np.zeros(shape, np.float32)
        found: Clustered = cluster(vectors)
        write_head(pack, self._space.parameters.to_bytes(), texts[found.order])
        pack.add("cluster_starts", found.starts)
        pack.add("centres", found.centres.reshape(-1))
        pack.add("radii", found.radii)
        pack.add("basis", found.basis.reshape(-1))
        pack.add("heads", found.heads[found.order].reshape(-1))
        slot = pack.reserve("vectors", "float32", vectors.size)
        for start in range(0, len(texts), _PORTION):
            part = found.order[start : start + _PORTION]
            slot.write(vectors[part].reshape(-1), start * dimension)


def _listed(portions: list[tuple[int, Sparse]], dimension: int, blocks: int) -> Share:
    """The coordinates of some texts by dimension; portions come with the place of their first text."""
    lengths = np.zeros((dimension, blocks), np.int64)
    for at, vectors in portions:
        count_lists(vectors.starts, vectors.dimensions, at, lengths)
    starts = running_sum(lengths.sum(axis=1))
    postings = np.empty(int(starts[-1]), np.uint16)
    ends = starts[:-1].copy()
    scales = [np.empty(0, np.uint8)]
    for at, vectors in portions:
        fill_lists(vectors.starts, vectors.dimensions, vectors.weights, at, ends, postings)
        scales.append(coded_scales(largest_weights(vectors.starts, vectors.weights)))
    return {"lengths": lengths.reshape(-1), "starts": starts, "postings": postings, "scales": np.concatenate(scales)}


def _joined(shares: Sequence[Share], first: int, last: int) -> Array:
    """The lists of the dimensions from `first` to `last`, of all shares."""
    if len(shares) == 1:
        return _lists(shares[0], first, last)
    return np.concatenate([_lists(share, each, each + 1) for each in range(first, last) for share in shares])


def _lists(share: Share, first: int, last: int) -> Array:
    return share["postings"][share["starts"][first] : share["starts"][last]]


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
