"""Kernels that bring the segments' tokens together. Inputs are read-only C arrays; offsets were checked before."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def meet(hashes: Array, groups: Array, content: Array, spans: Array) -> tuple[Array, Array, Array, Array]:
    """Tokens with equal hashes, of several segments: which are the same, by their bytes.

    Returns for each token that several groups hold the list of these (offsets and members, ascending as the segments
    come), ones as its weight, and the groups of those tokens that only seemed to meet.
    """
    number = len(hashes)
    offsets = np.zeros(number + 1, np.int64)
    members = np.empty(number, np.int64)
    lonely = np.empty(number, np.int64)
    taken = np.zeros(number, np.bool_)
    lists, filled, alone = 0, 0, 0
    for i in range(number):
        if taken[i]:
            continue
        members[filled] = groups[i]
        length = 1
        k = i + 1
        while k < number and hashes[k] == hashes[i]:
            if not taken[k] and _same(content, spans, i, k):
                taken[k] = True
                members[filled + length] = groups[k]
                length += 1
            k += 1
        if length == 1:
            lonely[alone] = groups[i]
            alone += 1
        else:
            filled += length
            lists += 1
            offsets[lists] = filled
    return offsets[: lists + 1], members[:filled], np.ones(lists, np.int64), lonely[:alone]


@compiled
def _same(content: Array, spans: Array, one: int, other: int) -> bool:
    length = spans[one, 1] - spans[one, 0]
    if spans[other, 1] - spans[other, 0] != length:
        return False
    k = 0
    while k < length and content[spans[one, 0] + k] == content[spans[other, 0] + k]:
        k += 1
    return bool(k == length)


@compiled
def expand_lists(
    offsets: Array, members: Array, posting_offsets: Array, posting_columns: Array, wanted: Array
) -> tuple[Array, Array]:
    """For each list of groups the wanted columns of all of them, in the groups' order."""
    new_offsets = np.zeros(len(offsets), np.int64)
    for i in range(len(offsets) - 1):
        length = 0
        for k in range(offsets[i], offsets[i + 1]):
            for p in range(posting_offsets[members[k]], posting_offsets[members[k] + 1]):
                length += wanted[posting_columns[p]]
        new_offsets[i + 1] = new_offsets[i] + length
    columns = np.empty(new_offsets[-1], np.uint32)
    at = 0
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            for p in range(posting_offsets[members[k]], posting_offsets[members[k] + 1]):
                if wanted[posting_columns[p]]:
                    columns[at] = posting_columns[p]
                    at += 1
    return new_offsets, columns
