"""Vectors brought to length 1."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array

_NOTHING = 1e-12


def unit(vectors: Array) -> Array:
    """Each row brought to length 1; one without any length becomes the first axis."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    empty = lengths < _NOTHING
    found: Array = (vectors / np.where(empty, 1.0, lengths)[:, None]).astype(np.float32)
    found[empty] = 0.0
    found[empty, 0] = 1.0
    return found
