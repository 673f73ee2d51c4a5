"""A dense embedder for tests: how often each letter stands in a text, seen from some random side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.embedders.meaning import unit


class Letters:
    name = "letters"
    version = 1
    dimension = 96
    metric = "euclidean"

    def embed(self, texts: Any) -> Any:
        listed = texts.to_pylist() if isinstance(texts, pa.Array) else list(texts)
        counts = np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz "] for text in listed])
        sides = np.random.default_rng(1).normal(size=(27, self.dimension))
        return unit((counts.reshape(len(listed), 27) @ sides).astype(np.float32))
