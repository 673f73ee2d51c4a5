"""Kernels over the joining groups of several tables.

A class of a table is the rows that agree in all columns of the predicate; a joining group is a key of one class of each
table. A row is in one class, and a class may be in many groups. The rows of a column by class and code are those of
`split_rows`: sorted numbers of class and code, how many rows have each, and where each class begins.
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._search_kernels import gallop
from dovetail._types import Array

_SHIFT = 32
_CODE = (1 << _SHIFT) - 1
_VARIES = -2


@compiled
def count_pair(
    left: tuple[Array, Array, Array], right: tuple[Array, Array, Array], combinations: Array, weights: Array,
    logs: Array, shares: Array, times: Array, left_marks: Array, right_marks: Array, mark: int, joins: Array,
) -> tuple[float, float, float, float, float, float]:  # fmt: skip
    """Count the join after adding a pair of columns.

    Returns rows, groups, spread, the groups that further columns could make at most, and the rows of both tables with a
    match. `combinations` are the classes of both tables that are in a group together, in `times` groups; over these,
    `weights` sums the products of the other tables' rows, `logs` these products times their logarithms, and `shares`
    these products without their largest factor. `joins` says which combinations still join; the marks keep a class of
    rows from being counted twice.
    """
    left_keys, left_counts, left_starts = left
    right_keys, right_counts, right_starts = right
    rows, groups, spread, most, left_rows, right_rows = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(combinations)):
        c, d = np.int64(combinations[i, 0]), np.int64(combinations[i, 1])
        a, b, found = left_starts[c], right_starts[d], False
        while a < left_starts[c + 1] and b < right_starts[d + 1]:
            x, y = left_keys[a] & _CODE, right_keys[b] & _CODE
            if x < y:
                a = gallop(left_keys, a, left_starts[c + 1], (c << _SHIFT) | y)
            elif y < x:
                b = gallop(right_keys, b, right_starts[d + 1], (d << _SHIFT) | x)
            else:
                product = float(left_counts[a]) * right_counts[b]
                rows += weights[i] * product
                groups += times[i]
                # A key is known from the rows of all tables but one: each of its values is in two tables.
                most += min(shares[i] * product, weights[i] * min(left_counts[a], right_counts[b]))
                spread += logs[i] * product + weights[i] * product * np.log2(product)
                if left_marks[a] != mark:
                    left_marks[a] = mark
                    left_rows += left_counts[a]
                if right_marks[b] != mark:
                    right_marks[b] = mark
                    right_rows += right_counts[b]
                found = True
                a += 1
                b += 1
        joins[i] = found
    return rows, groups, spread, most, left_rows, right_rows


@compiled
def join_keys(
    keys: Array, left: int, right: int, left_split: tuple[Array, Array, Array], right_split: tuple[Array, Array, Array],
    joined: Array,
) -> int:  # fmt: skip
    """Write the keys that also agree on a pair of columns; the classes of both tables become places in their splits."""
    left_keys, _, left_starts = left_split
    right_keys, _, right_starts = right_split
    found = 0
    for k in range(len(keys)):
        c, d = np.int64(keys[k, left]), np.int64(keys[k, right])
        a, b = left_starts[c], right_starts[d]
        while a < left_starts[c + 1] and b < right_starts[d + 1]:
            x, y = left_keys[a] & _CODE, right_keys[b] & _CODE
            if x < y:
                a = gallop(left_keys, a, left_starts[c + 1], (c << _SHIFT) | y)
            elif y < x:
                b = gallop(right_keys, b, right_starts[d + 1], (d << _SHIFT) | x)
            else:
                joined[found] = keys[k]
                joined[found, left], joined[found, right] = a, b
                found += 1
                a += 1
                b += 1
    return found


@compiled
def classes_of_rows(rows: Array, runs: Array, places: Array, size: int) -> Array:
    """The class of each of `size` rows: the number of its run of split rows among `places`, or -1."""
    classes = np.full(size, -1, np.int32)
    for number in range(len(places)):
        for i in range(runs[places[number]], runs[places[number] + 1]):
            classes[rows[i]] = number
    return classes


@compiled
def renumber(classes: Array, numbers: Array) -> Array:
    """Other numbers for classes; -1 stays."""
    found = np.full(len(classes), -1, np.int32)
    for row in range(len(classes)):
        if classes[row] >= 0:
            found[row] = numbers[classes[row]]
    return found


@compiled
def codes_of_classes(codes: Array, classes: Array, number: int) -> Array:
    """The code that all rows of each class have; negative where they have none, or several."""
    found = np.full(number, -1, np.int32)
    for row in range(len(codes)):
        c = classes[row]
        if c >= 0:
            if found[c] == -1:
                found[c] = codes[row] if codes[row] >= 0 else _VARIES
            elif found[c] != codes[row]:
                found[c] = _VARIES
    return found
