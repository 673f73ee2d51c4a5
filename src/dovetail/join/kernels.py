"""Kernels that make joined rows of the codes of two keys; -1 is null."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def matches(left: Array, starts: Array, rows: Array, size: int) -> tuple[Array, Array]:
    """The pairs of rows with equal codes, by left row and then by right row.

    The right rows with code c are `rows` from starts[c] to starts[c + 1], ascending; there are `size` pairs.
    """
    lefts = np.empty(size, np.int64)
    rights = np.empty(size, np.int64)
    found = 0
    for row in range(len(left)):
        code = left[row]
        if code >= 0:
            for place in range(starts[code], starts[code + 1]):
                lefts[found] = row
                rights[found] = rows[place]
                found += 1
    return lefts, rights


@compiled
def with_unmatched(lefts: Array, rights: Array, left_rows: int, right_rows: int, keep: Array) -> tuple[Array, Array]:
    """The pairs by left row, and the rows without a pair: -1 for the missing side.

    keep[0]: those of the left table, each in its place; keep[1]: those of the right table, at the end.
    """
    seen = np.zeros(right_rows, np.bool_)
    for place in range(len(rights)):
        seen[rights[place]] = True
    room = len(lefts) + (left_rows if keep[0] else 0) + (right_rows if keep[1] else 0)
    out_left = np.empty(room, np.int64)
    out_right = np.empty(room, np.int64)
    found, place = 0, 0
    for row in range(left_rows):
        if keep[0] and (place == len(lefts) or lefts[place] != row):
            out_left[found], out_right[found] = row, -1
            found += 1
        while place < len(lefts) and lefts[place] == row:
            out_left[found], out_right[found] = row, rights[place]
            found += 1
            place += 1
    if keep[1]:
        for row in range(right_rows):
            if not seen[row]:
                out_left[found], out_right[found] = -1, row
                found += 1
    return out_left[:found], out_right[:found]
