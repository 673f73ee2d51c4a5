"""Kernels that search and compare arrays, shared by all kernels over posting lists and sets."""

from __future__ import annotations

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def lower_bound(values: Array, low: int, high: int, value: int) -> int:
    """The first place in values[low:high] that is not below the value, or `high`: a binary search."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def gallop(values: Array, low: int, high: int, value: int) -> int:
    """The same by steps that double, then a binary search: fast where the place is near `low`."""
    step = 1
    while low + step < high and values[low + step] < value:
        low += step
        step *= 2
    return lower_bound(values, low, min(low + step, high), value)


@compiled
def first_below(falling: Array, low: int, value: float) -> int:
    """The first place from `low` on where an array that never rises is below the value, or its last place."""
    high = len(falling) - 1
    while low < high:
        middle = (low + high) >> 1
        if falling[middle] < value:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def same_run(one: Array, one_start: int, other: Array, other_start: int, length: int) -> bool:
    """Whether two arrays hold the same items, `length` of them from these places on."""
    k = 0
    while k < length and one[one_start + k] == other[other_start + k]:
        k += 1
    return bool(k == length)
