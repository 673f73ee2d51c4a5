"""The kernel that compares names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled

Array = npt.NDArray[Any]


@compiled
def _common(offsets: Array, numbers: Array, one: int, others: Array, start: int, stop: int, weights: Array) -> float:
    """The weight of the words that two ascending lists have in common."""
    weight = 0.0
    i, k = offsets[one], start
    while i < offsets[one + 1] and k < stop:
        if numbers[i] == others[k]:
            weight += weights[numbers[i]]
            i += 1
            k += 1
        elif numbers[i] < others[k]:
            i += 1
        else:
            k += 1
    return weight


@compiled
def total_weights(offsets: Array, numbers: Array, weights: Array) -> Array:
    """The weight of all words of each name."""
    totals = np.zeros(len(offsets) - 1)
    for name in range(len(totals)):
        for i in range(offsets[name], offsets[name + 1]):
            totals[name] += weights[numbers[i]]
    return totals


@compiled
def alike(offsets: Array, numbers: Array, weights: Array, totals: Array, ones: Array, others: Array) -> Array:
    """For pairs of names the weight of their common words, as a share of that of all their words."""
    shares = np.zeros(len(ones))
    for p in range(len(ones)):
        start, stop = offsets[others[p]], offsets[others[p] + 1]
        common = _common(offsets, numbers, ones[p], numbers, start, stop, weights)
        every = totals[ones[p]] + totals[others[p]] - common
        shares[p] = common / every if every > 0 else 0.0
    return shares


@compiled
def named_after(
    offsets: Array,
    numbers: Array,
    table_offsets: Array,
    table_numbers: Array,
    weights: Array,
    totals: Array,
    table_totals: Array,
    ones: Array,
    others: Array,
    tables: Array,
) -> Array:
    """For pairs of column names how much the first tells of the second, or of the second's table and name together.

    The greater of two: the share of common words of both names, as far as they are more than words of any key; and the
    share of the first name's words that the second or its table has, as far as the first has the table's words.
    """
    shares = np.zeros(len(ones))
    for p in range(len(ones)):
        one, other, table = ones[p], others[p], tables[p]
        mine, whole = totals[one], table_totals[table]
        start, stop = offsets[other], offsets[other + 1]
        common = _common(offsets, numbers, one, numbers, start, stop, weights)
        every = mine + totals[other] - common
        same = common / every * min(1.0, common) if every > 0 else 0.0
        begin, end = table_offsets[table], table_offsets[table + 1]
        of_table = _common(offsets, numbers, one, table_numbers, begin, end, weights)
        union = of_table + common
        i, k = start, begin  # words of both the table and the column were counted twice
        while i < stop and k < end:
            if numbers[i] == table_numbers[k]:
                for m in range(offsets[one], offsets[one + 1]):
                    if numbers[m] == numbers[i]:
                        union -= weights[numbers[i]]
                i += 1
                k += 1
            elif numbers[i] < table_numbers[k]:
                i += 1
            else:
                k += 1
        told = (union / mine) * (of_table / whole) if mine > 0 and whole > 0 else 0.0
        shares[p] = max(same, told)
    return shares
