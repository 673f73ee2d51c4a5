"""The protocol of embedders: facts about their vectors, and a function from texts to vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from dovetail._types import Array

Texts = Any
"""An Arrow array of strings, or a sequence of them."""


@runtime_checkable
class Embedder(Protocol):
    """Vectors are of unit length and float32. A text has the same vector in any company, to within 1e-6.

    The metric is Euclidean. What a cosine means is said by a `calibration` (see `calibration.Calibrated`); without one
    the similarity of two texts is the cosine of their vectors.
    """

    name: str
    version: int  # rises whenever some text gets another vector
    dimension: int
    metric: str

    def embed(self, texts: Texts) -> Array: ...


@dataclass(frozen=True)
class Sparse:
    """Vectors of which few coordinates are not 0: for each its dimensions, ascending, and their weights."""

    starts: Array  # int64
    dimensions: Array  # int32
    weights: Array  # float32

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, places: Array) -> Sparse:
        """Some of the vectors."""
        sizes = np.diff(self.starts)[places]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[places], sizes)
        return Sparse(starts, self.dimensions[inside], self.weights[inside])

    def weighted(self, factors: Array) -> Sparse:
        """With each dimension taken times its factor (none is 0), and brought to length 1 again."""
        weights = self.weights * factors[self.dimensions]
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=len(self)))
        return Sparse(self.starts, self.dimensions, (weights / lengths[rows]).astype(np.float32))


@runtime_checkable
class SparseEmbedder(Embedder, Protocol):
    """An embedder of sparse vectors, which are faster to compute than to read: an index stores none of them."""

    def embed_sparse(self, texts: Texts) -> Sparse: ...


def as_strings_array(texts: Texts) -> pa.Array:
    return texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
