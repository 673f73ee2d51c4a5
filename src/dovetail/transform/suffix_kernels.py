"""Kernels over the suffix arrays of two columns."""

from __future__ import annotations

from typing import Any

from dovetail._compile import compiled


@compiled
def common_prefix(a: Any, start: int, end: int, b: Any, other: int, other_end: int) -> int:
    """The length of the common prefix of two suffixes."""
    size = min(end - start, other_end - other)
    for k in range(size):
        if a[start + k] != b[other + k]:
            return k
    return size


@compiled
def suffix_range(a: Any, start: int, q: int, codes: Any, ends: Any, order: Any, upper: bool) -> int:
    """The first place in `order` whose suffix is not below (`upper`: is above) the q-gram that starts at `start`."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        place = order[middle]
        k = common_prefix(a, start, start + q, codes, place, ends[place])
        if k == q:
            below = upper
        elif place + k >= ends[place]:
            below = True
        else:
            below = codes[place + k] < a[start + k]
        if below:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def best_qgrams(
    codes: Any, ends: Any, starts: Any, order: Any, t_codes: Any, t_ends: Any, t_order: Any, least_q: int,
    best_q: Any, in_source: Any, in_target: Any, first: Any,
) -> None:  # fmt: skip
    for value in range(len(starts) - 1):
        best = 1 << 62
        for start in range(starts[value], starts[value + 1] - least_q + 1):
            end = ends[start]
            # The neighbours in sorted order share the longest prefix: q* of the paper's binary search.
            place = suffix_range(codes, start, end - start, t_codes, t_ends, t_order, False)
            q = 0
            for near in (place - 1, place):
                if 0 <= near < len(t_order):
                    other = t_order[near]
                    q = max(q, common_prefix(codes, start, end, t_codes, other, t_ends[other]))
            if q < least_q:
                continue
            low = suffix_range(codes, start, q, t_codes, t_ends, t_order, False)
            m = suffix_range(codes, start, q, t_codes, t_ends, t_order, True) - low
            if m > best:
                continue
            n = suffix_range(codes, start, q, codes, ends, order, True) - suffix_range(
                codes, start, q, codes, ends, order, False
            )
            if n * m < best or (n * m == best and q > best_q[value]):
                best = n * m
                best_q[value], in_source[value], in_target[value], first[value] = q, n, m, low


@compiled
def whole_value_ranges(codes: Any, starts: Any, t_codes: Any, t_ends: Any, t_order: Any, low: Any, high: Any) -> None:
    for value in range(len(starts) - 1):
        start, size = starts[value], starts[value + 1] - starts[value]
        low[value] = suffix_range(codes, start, size, t_codes, t_ends, t_order, False)
        high[value] = suffix_range(codes, start, size, t_codes, t_ends, t_order, True)
