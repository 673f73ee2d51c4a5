"""How much a match is worth where nobody has said which column to join on.

An overlap alone would put years, flags and small numbers first: they are everywhere, and equal by chance. The strength
of a match is the share of my values that match, each weighing less the more columns hold it, and then less

- for few common values: two of two are no evidence, two hundred of two hundred are;
- where the join repeats rows;
- for numbers, which mean different things in different columns.

The factors are plain on purpose; docs/guides/searching.md tells them to users.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

# Below this strength a match is not worth a line.
POOR = 0.2
_FEW = 3
_BY_CARDINALITY = {"1:1": 1.0, "N:1": 1.0, "1:N": 0.9, "N:M": 0.6}
_NUMBERS = {"integer", "real"}
_OF_NUMBERS = 0.6


def strength(weights: npt.NDArray[Any], query_size: int, cardinality: str, kinds: set[str]) -> float:
    """Between 0 and 1. `weights` are those of the common values, each at most 1."""
    common = len(weights)
    share = float(weights.sum()) / query_size
    numbers = _OF_NUMBERS if kinds & _NUMBERS else 1.0
    return share * common / (common + _FEW) * _BY_CARDINALITY[cardinality] * numbers
