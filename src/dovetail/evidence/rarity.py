"""How informative a value is, by the number of columns that have it."""

from __future__ import annotations

from typing import Any

import numpy as np


def rarity(frequency: Any, number: int) -> Any:
    """How informative a value is that `frequency` of `number` columns have: 1 if only one does."""
    return np.log1p(number / frequency) / np.log1p(number)
