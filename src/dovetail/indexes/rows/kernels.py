"""Kernels that write and read cells. Inputs are C arrays; offsets were checked before."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._storage.packing_kernels import bits_at, put_bits
from dovetail._types import Array


@compiled
def write_cells(
    cells: Array,
    chunks: Array,
    token_offsets: Array,
    ids: Array,
    code_offsets: Array,
    codes: Array,
    set_group_offsets: Array,
    set_groups: Array,
    group_tokens: Array,
    place_of: Array,
) -> None:
    """Write the cells of some chunks, each of them (column, first bit, bits to the next row). `cells` must be zero.

    `ids` are the tokens of the chunks one after another, `codes` their rows; `place_of` has room for every token.
    """
    for chunk in range(len(chunks)):
        column, at, stride = chunks[chunk]
        place = 1
        for i in range(set_group_offsets[column], set_group_offsets[column + 1]):
            for token in range(group_tokens[set_groups[i]], group_tokens[set_groups[i] + 1]):
                place_of[token] = place
                place += 1
        first = token_offsets[chunk]
        for row in range(code_offsets[chunk], code_offsets[chunk + 1]):
            if codes[row] >= 0:
                put_bits(cells, at, int64(place_of[ids[first + codes[row]]]))
            at += stride


@compiled
def read_codes(cells: Array, at: int, stride: int, width: int, rows: int) -> Array:
    """The places in the column's set of the tokens of some rows, from the first one's cell on; -1 for null."""
    codes = np.empty(rows, np.int32)
    for row in range(rows):
        codes[row] = bits_at(cells, at, width) - 1
        at += stride
    return codes
