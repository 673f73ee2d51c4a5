"""The kernel that keeps the best targets of each column."""

from __future__ import annotations

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def keep_best(
    dependent: Array,
    referenced: Array,
    overlap: Array,
    scores: Array,
    table_of: Array,
    best: Array,
    targets: Array,
    overlaps: Array,
    counts: Array,
) -> None:
    """Put each pair among the best of its dependent column, if it is one, a table once; of equals the first stays."""
    for p in range(len(dependent)):
        column, table = dependent[p], table_of[referenced[p]]
        counts[column] += 1
        last = best.shape[1] - 1  # the place that is given up: the same table's, else the worst
        for k in range(best.shape[1]):
            if best[column, k] >= 0 and table_of[targets[column, k]] == table:
                last = k
        if best[column, last] >= scores[p]:
            continue
        place = last
        while place > 0 and best[column, place - 1] < scores[p]:
            best[column, place] = best[column, place - 1]
            targets[column, place], overlaps[column, place] = targets[column, place - 1], overlaps[column, place - 1]
            place -= 1
        best[column, place] = scores[p]
        targets[column, place], overlaps[column, place] = referenced[p], overlap[p]
