"""From the cosine of two texts' vectors to a similarity: the probability that they name the same thing.

The same cosine means more or less, depending on the embedder and on how the words of the texts relate: "Chicgo" is
"Chicago" at a cosine of 0.62, "George" is not "George Bush" at 0.77. So each embedder has a logistic curve for each
relation, fitted to pairs of values of which it is known whether they name the same thing, and to the nearest values of
unrelated columns. The curves are in JSON files beside this one, which name the program, the data and the date that made
them (`benchmarks/semantic/calibrate.py`). Curves rise with the cosine, so that a similarity gives a least cosine.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.embedders.protocol import Embedder, as_strings_array
from dovetail.embedders.word_kernels import EQUAL, hash_words, relate
from dovetail.errors import DovetailError
from dovetail.normalise.hashing import as_buffers, hash_tokens

RELATIONS = ("other words", "some words", "one of several", "all words")
"""In the order of the kernel's numbers, `EQUAL` left out: equal texts have the similarity 1."""

LEAST_COSINE = 0.1  # below, two texts have nothing in common, and the similarity is 0
_SLACK = 1e-9  # on the least cosine, against rounding: the similarity decides
_PLAIN_DEFAULT = 0.8  # between the cosines at which `words` (0.78) and `sentences` (0.82) followed the paper's 6 %


@dataclass(frozen=True)
class WordSets:
    """The distinct words of texts, as hashes, and the hash of each whole text."""

    starts: Array  # int64
    words: Array  # uint64, ascending within a text
    texts: Array  # uint64

    @classmethod
    def of(cls, tokens: pa.Array, written: pa.Array) -> WordSets:
        """Of tokens, and the same with their abbreviations written out, of which the words are taken."""
        # Marks become characters of their own, which the kernel leaves out, as for trigrams.
        folded = pc.utf8_normalize(pc.utf8_lower(as_strings_array(written)), form="NFKD")
        return cls(*hash_words(*as_buffers(folded)), hash_tokens(tokens))

    def take(self, places: Array) -> WordSets:
        """Of some of the texts."""
        sizes = np.diff(self.starts)[places]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[places], sizes)
        return WordSets(starts, self.words[inside], self.texts[places])

    def relations(self, mine: Array, other: WordSets, theirs: Array) -> Array:
        """How the texts at some places relate to those at some places of the other."""
        return relate(
            self.starts, self.words, self.texts, mine, other.starts, other.words, other.texts, theirs
        )  # fmt: skip


class Calibration(Protocol):
    """What a cosine means.

    `default` is the least similarity of a match, unless another is asked for. `prior` is the share of pairs that name
    the same thing among those that the similarity was fitted to; None if the similarity is not a probability.
    """

    @property
    def default(self) -> float: ...

    @property
    def prior(self) -> float | None: ...

    def similarities(self, cosines: Array, relations: Array) -> Array: ...

    def least_cosine(self, similarity: float) -> float:
        """The cosine that texts have at least that are so similar, whatever their relation."""
        ...


@dataclass(frozen=True)
class Curves:
    """A logistic curve for each relation: similarity = 1 / (1 + exp(-(intercept + slope x cosine)))."""

    intercepts: Array
    slopes: Array
    default: float
    prior: float
    made_by: dict[str, Any] = field(default_factory=dict, compare=False)

    def similarities(self, cosines: Array, relations: Array) -> Array:
        curve = np.minimum(relations, EQUAL - 1)
        odds = self.intercepts[curve] + self.slopes[curve] * cosines
        return _fixed(1.0 / (1.0 + np.exp(-odds)), cosines, relations)

    def least_cosine(self, similarity: float) -> float:
        if similarity >= 1.0:
            return _searched(1.0)
        odds = math.log(similarity / (1.0 - similarity))
        return _searched(min((odds - self.intercepts) / self.slopes))


class Cosine:
    """No calibration: the similarity is the cosine."""

    default = _PLAIN_DEFAULT
    prior = None

    def similarities(self, cosines: Array, relations: Array) -> Array:
        return _fixed(cosines, cosines, relations)

    def least_cosine(self, similarity: float) -> float:
        return _searched(similarity)


COSINE = Cosine()


def _fixed(similarities: Array, cosines: Array, relations: Array) -> Array:
    found = np.where(cosines < LEAST_COSINE, 0.0, np.clip(similarities, 0.0, 1.0))
    return np.where(relations == EQUAL, 1.0, found)


def _searched(cosine: float) -> float:
    return min(max(cosine, LEAST_COSINE), 1.0) - _SLACK


@runtime_checkable
class Calibrated(Embedder, Protocol):
    """An embedder that knows what its cosines mean."""

    @property
    def calibration(self) -> Calibration: ...


def calibration_of(embedder: Embedder) -> Calibration:
    return embedder.calibration if isinstance(embedder, Calibrated) else COSINE


@dataclass(frozen=True)
class Matching:
    """Which texts match: those that are at least so similar."""

    calibration: Calibration
    min_similarity: float

    @property
    def least_cosine(self) -> float:
        return self.calibration.least_cosine(self.min_similarity)

    def similarities(self, squared: Array, relations: Array) -> tuple[Array, Array]:
        """From squared Euclidean distances of unit vectors: the similarities, and which of them match."""
        found = self.calibration.similarities(1.0 - squared / 2.0, relations)
        return found, found >= self.min_similarity


@cache
def load_calibration(name: str, version: int) -> Curves:
    """The stored curves of an embedder that comes with Dovetail."""
    stored = json.loads(resources.files("dovetail.embedders").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    if stored["version"] != version:
        raise DovetailError(f"{name}.json was fitted to version {stored['version']} of the embedder, not {version}.")
    curves = np.array([stored["curves"][relation] for relation in RELATIONS], np.float64)
    return Curves(curves[:, 0], curves[:, 1], float(stored["default"]), float(stored["prior"]), stored["made_by"])
