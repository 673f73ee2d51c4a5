"""Kernels that make one dictionary of several buckets. The compiled functions keep their plain form as `.py_func`."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def merge_groups(
    order: Array, lengths: Array, firsts: Array, hashes: Array, starts: Array, columns: Array
) -> tuple[Array, Array]:
    """Number the groups of all buckets, in `order` of length, first column and hash; the same list, the same number.

    Group i has the columns from `starts[i]` on. Returns the number of each group, and a group that stands for each
    number. Where hashes meet, the columns decide.
    """
    numbers = np.empty(len(order), np.int64)
    examples = np.empty(len(order), np.int64)
    found, alike = (
        0,
        0,
    )  # numbers given, and the first of those whose length, first column and hash are the present ones
    for i in range(len(order)):
        one = order[i]
        if i > 0:
            last = order[i - 1]
            if lengths[one] != lengths[last] or firsts[one] != firsts[last] or hashes[one] != hashes[last]:
                alike = found
        number = alike
        while number < found and not _same_columns(columns, starts[examples[number]], starts[one], lengths[one]):
            number += 1
        if number == found:
            examples[found] = one
            found += 1
        numbers[one] = number
    return numbers, examples[:found]


@compiled
def _same_columns(columns: Array, one: int, other: int, length: int) -> bool:
    k = 0
    while k < length and columns[one + k] == columns[other + k]:
        k += 1
    return k == length


@compiled
def take_lists(starts: Array, lengths: Array, members: Array, order: Array) -> tuple[Array, Array]:
    """The lists at `order`, as offsets and members."""
    offsets = np.zeros(len(order) + 1, np.int64)
    for i in range(len(order)):
        offsets[i + 1] = offsets[i] + lengths[order[i]]
    taken = np.empty(offsets[-1], members.dtype)
    for i in range(len(order)):
        for k in range(lengths[order[i]]):
            taken[offsets[i] + k] = members[starts[order[i]] + k]
    return offsets, taken


@compiled
def copy_runs(
    target: Array, target_offsets: Array, base: int, firsts: Array, content: Array, offsets: Array, locals_: Array
) -> None:
    """Copy a bucket's strings to where they belong in `target`, which begins at byte `base` of all content.

    Run i has the strings `locals_[i]` to `locals_[i + 1]` of the bucket; they become the strings from firsts[i] on.
    """
    for i in range(len(firsts)):
        at = target_offsets[firsts[i]] - base
        for k in range(offsets[locals_[i]], offsets[locals_[i + 1]]):
            target[at] = content[k]
            at += 1
