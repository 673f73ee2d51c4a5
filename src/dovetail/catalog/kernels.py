"""Kernels over the codes of a column's rows."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def count_codes(codes: Array, values: int) -> Array:
    """In how many rows each of `values` values stands; negative codes are nulls."""
    counts = np.zeros(values, np.int64)
    for i in range(len(codes)):
        if codes[i] >= 0:
            counts[codes[i]] += 1
    return counts
