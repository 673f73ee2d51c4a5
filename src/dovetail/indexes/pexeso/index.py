"""The registry's entry for PEXESO, with the check of its vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.errors import FormatMismatch
from dovetail.indexes.pexeso import format as pexeso_format
from dovetail.indexes.pexeso.build import PexesoBuilder
from dovetail.indexes.pexeso.core import VectorParameters, heads_of, text_ids
from dovetail.indexes.pexeso.kernels import BLOCK, coded_scales, coded_weight, largest_weights
from dovetail.indexes.pexeso.query import PexesoReader
from dovetail.indexes.protocol import NOTHING, Frozen, Index

_SAMPLE = 256
_ALIKE = 1e-4  # of coordinates: models may round differently from machine to machine


class PexesoIndex(Index):
    name = pexeso_format.NAME
    version = pexeso_format.VERSION
    question = "which columns match mine in spelling or meaning?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> PexesoBuilder:
        return PexesoBuilder(scratch, memory_bytes, VectorParameters.of(frozen))

    def open(self, segment: Segment) -> PexesoReader:
        return PexesoReader(segment)

    def problems(self, segment: Segment) -> Iterator[str | FormatMismatch]:
        try:
            reader = PexesoReader(segment)
        except FormatMismatch as mismatch:
            yield mismatch
            return
        yield from _broken_references(reader, text_ids(segment))


def _broken_references(reader: PexesoReader, texts: Array) -> Iterator[str]:
    arrays = reader.arrays
    listed = arrays.text_tokens if arrays.is_sparse else np.sort(arrays.text_tokens)
    if not np.array_equal(listed, texts):
        yield "its texts are not those among the tokens"
        return
    sample = np.linspace(0, arrays.texts - 1, min(arrays.texts, _SAMPLE)).astype(np.int64)
    yield from _broken_lists(reader, sample) if arrays.is_sparse else _broken_clusters(reader, sample)


def _broken_lists(reader: PexesoReader, sample: Array) -> Iterator[str]:
    arrays = reader.arrays
    lengths = np.diff(arrays.list_starts, axis=1)
    blocks = np.broadcast_to(np.arange(lengths.shape[1]), lengths.shape)
    places = np.repeat(blocks.reshape(-1), lengths.reshape(-1)) * BLOCK + arrays.postings % BLOCK
    if int(places.max(initial=-1)) >= arrays.texts:
        yield "a list names a text that does not exist"
        return
    steps, begins = np.diff(places), arrays.list_starts[:, 0]
    inner = np.ones(len(steps), bool)
    inner[begins[(begins > 0) & (begins <= len(steps))] - 1] = False
    if np.any(steps[inner] <= 0):
        yield "a list is not in the order of its texts"
        return
    vectors = reader.space.sparse(reader.tokens.tokens(arrays.text_tokens[sample]))
    largest = largest_weights(vectors.starts, vectors.weights)
    if not np.array_equal(arrays.scales[sample], coded_scales(largest)):
        yield "a scale is not that of its text"
        return
    for row, place in enumerate(sample):
        part = slice(vectors.starts[row], vectors.starts[row + 1])
        for dimension, weight in zip(vectors.dimensions[part], vectors.weights[part], strict=True):
            first, last = arrays.list_starts[dimension, [0, -1]]
            at = first + np.searchsorted(places[first:last], place)
            code = coded_weight(float(weight) / largest[row])
            if at == last or places[at] != place or arrays.postings[at] // BLOCK != code:
                yield "a list does not hold the vector of a text"
                return


def _broken_clusters(reader: PexesoReader, sample: Array) -> Iterator[str]:
    arrays = reader.arrays
    vectors = np.asarray(arrays.vectors[sample])
    if np.any(np.abs(vectors - reader.space.dense(reader.tokens.tokens(arrays.text_tokens[sample]))) > _ALIKE):
        yield "a vector is not that of its text"
    if np.any(np.abs(heads_of(vectors, arrays.basis) - arrays.heads[sample]) > _ALIKE):
        yield "a head is not that of its vector"
    cluster = np.repeat(np.arange(len(arrays.radii)), np.diff(arrays.cluster_starts))
    far = np.linalg.norm(arrays.heads - arrays.centres[cluster], axis=1)
    if np.any(far > arrays.radii[cluster]):
        yield "a text lies outside its cluster"


PEXESO = PexesoIndex()
