"""Kernels over the joining groups of two tables. A row's group is a number from 0; -1 where it joins nothing."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_SHIFT = 32
_SEVERAL = 255


@compiled
def rows_by_code(codes: Array, size: int) -> Array:
    """The rows that have a code, by code and then as they come."""
    starts = np.zeros(size + 1, np.int64)
    for row in range(len(codes)):
        if codes[row] >= 0:
            starts[codes[row] + 1] += 1
    for code in range(size):
        starts[code + 1] += starts[code]
    rows = np.empty(starts[size], np.int32)
    for row in range(len(codes)):
        if codes[row] >= 0:
            rows[starts[codes[row]]] = row
            starts[codes[row]] += 1
    return rows


@compiled
def split_rows(by_code: Array, codes: Array, groups: Array, number: int) -> tuple[Array, Array, Array]:
    """The groups' rows by group and code: the rows, and for each run of equal ones its key and its start.

    The key is group and code in one number. The starts have one item more than the keys.
    """
    starts = np.zeros(number + 1, np.int64)
    for i in range(len(by_code)):
        group = groups[by_code[i]]
        if group >= 0:
            starts[group + 1] += 1
    for group in range(number):
        starts[group + 1] += starts[group]
    rows = np.empty(starts[number], np.int32)
    for i in range(len(by_code)):
        group = groups[by_code[i]]
        if group >= 0:
            rows[starts[group]] = by_code[i]
            starts[group] += 1
    keys = np.empty(len(rows), np.int64)
    runs = np.empty(len(rows) + 1, np.int64)
    found = 0
    last = np.int64(-1)
    for i in range(len(rows)):
        key = (np.int64(groups[rows[i]]) << _SHIFT) | np.int64(codes[rows[i]])
        if key != last:
            keys[found] = key
            runs[found] = i
            found += 1
            last = key
    runs[found] = len(rows)
    return rows, keys[:found], runs[: found + 1]


@compiled
def children(
    keys: Array, counts: Array, ends: Array, left_width: int, wanted: Array, numbers: Array, spreads: Array
) -> None:
    """Count the join on every wanted pair of columns, all at once: a multi-way merge of the columns' sorted keys.

    Column c has keys and counts from ends[c] to ends[c + 1]; the left table's columns come first. `numbers` gets for
    each pair: left rows, right rows, joined rows, groups, and the sum over the groups of the smaller side.
    """
    width = len(ends) - 1
    heads = ends[:-1].copy()
    here = np.empty(width, np.int64)
    while True:
        least = np.int64(np.iinfo(np.int64).max)
        for column in range(width):
            if heads[column] < ends[column + 1] and keys[heads[column]] < least:
                least = keys[heads[column]]
        if least == np.iinfo(np.int64).max:
            return
        found, of_left = 0, 0
        for column in range(width):
            if heads[column] < ends[column + 1] and keys[heads[column]] == least:
                here[found] = column
                found += 1
                of_left += column < left_width
                heads[column] += 1
        for i in range(of_left):
            r = counts[heads[here[i]] - 1]
            for k in range(of_left, found):
                a, b = here[i], here[k] - left_width
                if wanted[a, b]:
                    s = counts[heads[here[k]] - 1]
                    numbers[a, b, 0] += r
                    numbers[a, b, 1] += s
                    numbers[a, b, 2] += r * s
                    numbers[a, b, 3] += 1
                    numbers[a, b, 4] += min(r, s)
                    spreads[a, b] += r * s * np.log2(r * s)


@compiled
def common_groups(
    left: tuple[Array, Array, Array], right: tuple[Array, Array, Array], left_groups: Array, right_groups: Array
) -> int:
    """Write the groups that two split columns have in common, numbered by key; returns how many there are."""
    left_groups[:] = -1
    right_groups[:] = -1
    found, i, k = 0, 0, 0
    while i < len(left[1]) and k < len(right[1]):
        if left[1][i] < right[1][k]:
            i += 1
        elif left[1][i] > right[1][k]:
            k += 1
        else:
            for place in range(left[2][i], left[2][i + 1]):
                left_groups[left[0][place]] = found
            for place in range(right[2][k], right[2][k + 1]):
                right_groups[right[0][place]] = found
            found += 1
            i += 1
            k += 1
    return found


@compiled
def first_rows(groups: Array, number: int) -> Array:
    """A row of each group."""
    rows = np.full(number, -1, np.int64)
    for row in range(len(groups) - 1, -1, -1):
        if groups[row] >= 0:
            rows[groups[row]] = row
    return rows


@compiled
def holds(codes: Array, groups: Array, other: Array, firsts: Array) -> bool:
    """Whether every row of the groups has the code that `other` has in the first row of the same group."""
    for row in range(len(codes)):
        if groups[row] >= 0 and (codes[row] < 0 or codes[row] != other[firsts[groups[row]]]):
            return False
    return True


@compiled
def own(hashes: Array, table: int, owners: Array) -> None:
    """Note for each hash's place which table (from 1) has it, or that several have."""
    mask = np.uint64(len(owners) - 1)
    for i in range(len(hashes)):
        place = hashes[i] & mask
        if owners[place] == 0:
            owners[place] = table
        elif owners[place] != table:
            owners[place] = _SEVERAL


@compiled
def shared(hashes: Array, owners: Array) -> Array:
    """Which of the hashes more than one table may have."""
    mask = np.uint64(len(owners) - 1)
    found = np.empty(len(hashes), np.int64)
    number = 0
    for i in range(len(hashes)):
        if owners[hashes[i] & mask] == _SEVERAL:
            found[number] = i
            number += 1
    return found[:number]
