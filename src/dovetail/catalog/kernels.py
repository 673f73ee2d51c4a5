"""Kernels over the codes of a column's rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled

Array = npt.NDArray[Any]


@compiled
def count_codes(codes: Array, values: int) -> Array:
    """In how many rows each of `values` values stands; negative codes are nulls."""
    counts = np.zeros(values, np.int64)
    for i in range(len(codes)):
        if codes[i] >= 0:
            counts[codes[i]] += 1
    return counts
