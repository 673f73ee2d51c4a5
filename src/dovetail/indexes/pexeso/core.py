"""Shared by building and querying: which values become vectors, by which embedder, and how far apart they are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._types import Array
from dovetail.embedders import DEFAULT, Embedder, embedder_of
from dovetail.embedders.abbreviations import Abbreviation, Abbreviations, built_in
from dovetail.embedders.calibration import Matching, WordSets, calibration_of
from dovetail.embedders.protocol import Sparse, SparseEmbedder
from dovetail.errors import FormatMismatch
from dovetail.indexes.pexeso.kernels import mark_texts
from dovetail.indexes.protocol import Frozen
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.tokens.query import hidden_groups
from dovetail.normalise.hashing import as_buffers

Vectors = Sparse | Array


@dataclass(frozen=True)
class TextVectors:
    """Texts as vectors, and their words, which say what a cosine means."""

    vectors: Vectors
    words: WordSets

    def take(self, places: Array) -> TextVectors:
        """Some of them."""
        some = self.vectors.take(places) if isinstance(self.vectors, Sparse) else self.vectors[places]
        return TextVectors(some, self.words.take(places))


@dataclass(frozen=True)
class VectorParameters:
    """What the manifest freezes: the embedder, and abbreviations beside those that come with Dovetail."""

    embedder: str
    version: int
    abbreviations: tuple[Abbreviation, ...]  # all that are written out

    @classmethod
    def chosen(cls, embedder: str = DEFAULT, more: Iterable[Abbreviation] = ()) -> VectorParameters:
        return cls(embedder, embedder_of(embedder).version, Abbreviations((*built_in(), *more)).listed)

    @classmethod
    def of(cls, frozen: Frozen) -> VectorParameters:
        if not frozen:
            return cls.chosen()
        listed = tuple(Abbreviation(*one) for one in frozen["abbreviations"])
        return cls(frozen["embedder"], frozen["version"], listed)

    @classmethod
    def from_bytes(cls, written: bytes) -> VectorParameters:
        return cls.of(json.loads(written))

    def to_bytes(self) -> bytes:
        return json.dumps(self.to_json(), sort_keys=True).encode()

    def space(self) -> Space:
        return space_of(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "embedder": self.embedder,
            "version": self.version,
            "abbreviations": [list(one) for one in self.abbreviations],
        }


class Space:
    """The vector space of an index: its embedder and its abbreviations."""

    def __init__(self, parameters: VectorParameters) -> None:
        self.embedder: Embedder = embedder_of(parameters.embedder)
        self.parameters = parameters
        if self.embedder.version != parameters.version:
            raise FormatMismatch(
                f"The index was written with version {parameters.version} of the embedder {parameters.embedder}; this "
                f"Dovetail has version {self.embedder.version}. Build it again with `dovetail index`."
            )

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.embedder, SparseEmbedder)

    @cached_property
    def _abbreviations(self) -> Abbreviations:
        return Abbreviations(self.parameters.abbreviations)

    def sparse(self, tokens: pa.Array) -> Sparse:
        assert isinstance(self.embedder, SparseEmbedder)
        return self.embedder.embed_sparse(self._abbreviations.write_out(tokens))

    def dense(self, tokens: pa.Array) -> Array:
        return self.embedder.embed(self._abbreviations.write_out(tokens))

    def vectors(self, tokens: pa.Array) -> Vectors:
        return self.sparse(tokens) if self.is_sparse else self.dense(tokens)

    def words(self, tokens: pa.Array) -> WordSets:
        return WordSets.of(tokens, self._abbreviations.write_out(tokens))

    def embedded(self, tokens: pa.Array) -> TextVectors:
        return TextVectors(self.vectors(tokens), self.words(tokens))

    def matching(self, min_similarity: float | None = None) -> Matching:
        """Which texts match: those that are at least so similar, by default as the embedder's calibration says."""
        calibration = calibration_of(self.embedder)
        return Matching(calibration, calibration.default if min_similarity is None else min_similarity)


def radius_of(cosine: float) -> float:
    """The Euclidean distance of unit vectors with this cosine."""
    return math.sqrt(max(2.0 - 2.0 * cosine, 0.0))


def texts_among(tokens: pa.Array) -> Array:
    """Which tokens become vectors. Numbers and short codes do not: what is near to them means something else."""
    return mark_texts(*as_buffers(tokens))


@cache
def space_of(parameters: VectorParameters) -> Space:
    """Made once: models take their time to load."""
    return Space(parameters)


def heads_of(vectors: Array, basis: Array) -> Array:
    """Coordinates on the axes, and the length of the rest."""
    first = vectors @ basis
    rest = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", first, first, dtype=np.float64), 0.0))
    found: Array = np.concatenate([first, rest[:, None].astype(np.float32)], axis=1)
    return found


def text_ids(segment: Segment | SegmentWriter) -> Array:
    """The ids of the segment's tokens that are texts, ascending; hashes of hidden values are none."""
    tokens = TokenArrays(segment.pack(tokens_format.NAME))
    found = [first + np.flatnonzero(mark_texts(content, offsets)) for first, content, offsets in tokens.portions()]
    texts: Array = np.concatenate([np.empty(0, np.int64), *found])
    groups = np.searchsorted(tokens.group_tokens, texts, side="right") - 1
    return texts[~hidden_groups(segment, tokens)[groups]]
