"""Kernels that write and read cells. Inputs are C arrays; offsets were checked before."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array


@compiled
def write_cells(
    cells: Array,
    pieces: Array,
    token_offsets: Array,
    ids: Array,
    code_offsets: Array,
    codes: Array,
    set_group_offsets: Array,
    set_groups: Array,
    group_tokens: Array,
    place_of: Array,
) -> None:
    """Write the cells of some pieces, each of them (column, first byte, bytes to the next row, bytes of a cell).

    `ids` are the tokens of the pieces one after another, `codes` their rows; `place_of` has room for every token.
    """
    for piece in range(len(pieces)):
        column, at, stride, width = pieces[piece]
        place = 1
        for i in range(set_group_offsets[column], set_group_offsets[column + 1]):
            for token in range(group_tokens[set_groups[i]], group_tokens[set_groups[i] + 1]):
                place_of[token] = place
                place += 1
        first = token_offsets[piece]
        for row in range(code_offsets[piece], code_offsets[piece + 1]):
            if codes[row] >= 0:
                cell = place_of[ids[first + codes[row]]]
                for byte in range(width):
                    cells[at + byte] = (cell >> (8 * byte)) & 255
            at += stride


@compiled
def read_codes(cells: Array, at: int, stride: int, width: int, rows: int) -> Array:
    """The places in the column's set of the tokens of some rows, from the first one's cell on; -1 for null."""
    codes = np.empty(rows, np.int32)
    for row in range(rows):
        cell = 0
        for byte in range(width):
            cell |= int64(cells[at + byte]) << (8 * byte)
        codes[row] = cell - 1
        at += stride
    return codes
