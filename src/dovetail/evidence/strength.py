"""How much a match is worth if no column was named to join on.

An overlap alone would put years, flags and row numbers first: they are everywhere, and equal by chance. The strength of
a match is the share of my values that match beyond those that would by chance, each weighing less the more columns of
the lake hold it, and then less

- for little evidence: two of two common values prove nothing, two hundred of two hundred do;
- where the join repeats rows;
- for numbers, which mean different things in different columns.

The factors are plain on purpose; docs/guides/searching.md explains them to users.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail._types import Array

# Below this strength a match is not worth a line.
POOR = 0.2
_BITS_OF_A_VALUE = 4.0  # of evidence that a common value gives at most
_HALF_BITS = 20.0  # bits that count half: of a lake's thousands of columns, some match by chance
_BY_CARDINALITY = {"1:1": 1.0, "N:1": 1.0, "1:N": 0.9, "N:M": 0.6}
_OF_NUMBERS = 0.8
_LETTERS = 26
_SHORT = 3


def strength(weights: Array, query_size: int, cardinality: str, numbers: bool, chance: float) -> float:
    """Between 0 and 1. `weights` are those of the common values, each at most 1."""
    common = len(weights)
    beyond = (common / query_size - chance) * (1 + chance)
    if beyond <= 0:
        return 0.0
    bits = common * min(_BITS_OF_A_VALUE, -math.log2(chance) if chance else _BITS_OF_A_VALUE)
    evidence = bits**2 / (bits**2 + _HALF_BITS**2)
    kind = _OF_NUMBERS if numbers else 1.0
    return float(np.mean(weights)) * beyond * evidence * _BY_CARDINALITY[cardinality] * kind


def chance_of_whole_numbers(common: Array, theirs: Array, step: int = 1) -> float:
    """How likely a column contains any number in the range of the common ones: how full it is there.

    A column of the row numbers 1 to 9,000 contains every year. `theirs` is every `step`-th of its numbers.
    """
    if not len(common):
        return 0.0
    low, high = common.min(), common.max()
    inside = step * np.count_nonzero((theirs >= low) & (theirs <= high))
    return float(min(1.0, inside / (high - low + 1)))


def chance_of_codes(distinct: int, length: int) -> float:
    """How likely a column contains any code of that length: 300 codes of two letters are half of them."""
    return float(min(1.0, distinct / _LETTERS**length)) if 0 < length <= _SHORT else 0.0


def rarity(frequency: Any, number: int) -> Any:
    """How informative a value is that `frequency` of `number` columns have: 1 if only one does."""
    return np.log1p(number / frequency) / np.log1p(number)
