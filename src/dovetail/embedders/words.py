"""Meaning, fast: static vectors of word pieces, averaged. The package wordllama holds weights and tokeniser."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._types import Array
from dovetail.embedders.calibration import Curves, load_calibration
from dovetail.embedders.protocol import Texts
from dovetail.embedders.unit import unit
from dovetail.errors import InputError

_CHARACTERS = 2_000  # of a text; arbitrary, cells are rarely longer
_PORTION = 4_096


class Words:
    name = "words"
    version = 1
    dimension = 256
    metric = "euclidean"

    def __init__(self) -> None:
        _ = self._model  # a missing package is reported at once

    def embed(self, texts: Texts) -> Array:
        listed = texts.to_pylist() if isinstance(texts, pa.Array) else list(texts)
        found: Array = self._model.embed([text[:_CHARACTERS] for text in listed], batch_size=_PORTION)
        return unit(found.reshape(len(listed), self.dimension))

    @cached_property
    def calibration(self) -> Curves:
        return load_calibration(self.name, self.version)

    @cached_property
    def _model(self) -> Any:
        try:
            import wordllama
        except ImportError:
            raise InputError(
                "The embedder words needs the package wordllama: pip install 'dovetail-lake[words]'."
            ) from None
        # Without the folder it would look for the weights in a cache, and then on the internet.
        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
