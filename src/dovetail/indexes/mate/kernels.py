"""Kernels over row postings and rows. Inputs are read-only C arrays; offsets were checked before.

The compiled functions keep their plain Python form as `.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

_MOST = 0xFFFFFFFF


@compiled
def count_rows(sets: Any, set_offsets: Array, set_counts: Array, tokens: int) -> Array:
    """How many cells hold each token; what does not fit into 32 bits is the most that does."""
    found = np.zeros(tokens, np.int64)
    for column in range(len(set_offsets) - 1):
        entry = set_offsets[column]
        for i in range(sets.group_offsets[column], sets.group_offsets[column + 1]):
            for token in range(sets.group_tokens[sets.groups[i]], sets.group_tokens[sets.groups[i] + 1]):
                found[token] += set_counts[entry]
                entry += 1
    return np.minimum(found, _MOST).astype(np.uint32)


@compiled
def sum_items(set_counts: Array, every: int) -> Array:
    """The sums of the counts before entry 0, `every`, 2 · `every`, …"""
    sums = np.zeros(len(set_counts) // every + 1, np.int64)
    total = int64(0)
    for entry in range(len(set_counts)):
        if entry % every == 0:
            sums[entry // every] = total
        total += set_counts[entry]
    if len(set_counts) % every == 0:
        sums[-1] = total
    return sums


@compiled
def fill_postings(
    postings: Array, columns: tuple[int, int], starts: Array, store: Any, row_bytes: Array, set_offsets: Array,
    set_counts: Array,
) -> None:  # fmt: skip
    """For each of some columns the rows of every token, ascending: a counting sort of its cells."""
    base = starts[columns[0]]
    for column in range(columns[0], columns[1]):
        table = store.table_of[column]
        size = set_offsets[column + 1] - set_offsets[column]
        cursor = np.empty(size, np.int64)
        width = row_bytes[table]
        place = starts[column] - base
        for i in range(size):
            cursor[i] = place
            place += width * set_counts[set_offsets[column] + i]
        at = store.starts[table] + store.offsets[column]
        for row in range(store.first_rows[table + 1] - store.first_rows[table]):
            cell = int64(0)
            for byte in range(store.widths[column]):
                cell |= int64(store.cells[at + byte]) << (8 * byte)
            at += store.strides[table]
            if cell:
                for byte in range(width):
                    postings[cursor[cell - 1] + byte] = (row >> (8 * byte)) & 255
                cursor[cell - 1] += width
