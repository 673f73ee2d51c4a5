"""The kernel that keeps the best targets of each column."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dovetail._compile import compiled

Array = npt.NDArray[Any]


@compiled
def keep_best(
    dependent: Array,
    referenced: Array,
    overlap: Array,
    scores: Array,
    best: Array,
    targets: Array,
    overlaps: Array,
    counts: Array,
) -> None:
    """Put each pair among the best of its dependent column, if it is one; of equals the one that came first stays."""
    for p in range(len(dependent)):
        column = dependent[p]
        counts[column] += 1
        place = best.shape[1]
        while place > 0 and best[column, place - 1] < scores[p]:
            place -= 1
        for k in range(best.shape[1] - 1, place, -1):
            best[column, k] = best[column, k - 1]
            targets[column, k], overlaps[column, k] = targets[column, k - 1], overlaps[column, k - 1]
        if place < best.shape[1]:
            best[column, place] = scores[p]
            targets[column, place], overlaps[column, place] = referenced[p], overlap[p]
