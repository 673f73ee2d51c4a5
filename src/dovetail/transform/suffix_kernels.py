"""Kernels over the suffix arrays of two columns."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from typing import Any

from dovetail._compile import compiled, compiled_beside


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


def _texts(codes: Any, ends: Any, order: Any) -> tuple[list[str], list[str]]:
    """The suffixes at all places, and the same in order."""
    text, stops = "".join(map(chr, codes.tolist())), ends.tolist()
    suffixes = [text[start:stop] for start, stop in enumerate(stops)]
    return suffixes, [suffixes[place] for place in order.tolist()]


def _common_length(one: str, other: str) -> int:
    """The length of the common prefix."""
    size = min(len(one), len(other))
    return next((k for k in range(size) if one[k] != other[k]), size)


def _range(ordered: list[str], gram: str) -> tuple[int, int]:
    """The suffixes that start with a q-gram."""
    low = bisect_left(ordered, gram)
    return low, bisect_right(ordered, gram, lo=low, key=lambda suffix: suffix[: len(gram)])


def _best_qgrams(
    codes: Any, ends: Any, starts: Any, order: Any, t_codes: Any, t_ends: Any, t_order: Any, least_q: int,
    best_q: Any, in_source: Any, in_target: Any, first: Any,
) -> None:  # fmt: skip
    (suffixes, ordered), (_, theirs) = _texts(codes, ends, order), _texts(t_codes, t_ends, t_order)
    for value, (begin, stop) in enumerate(itertools.pairwise(starts.tolist())):
        best = 1 << 62
        for suffix in suffixes[begin : max(begin, stop - least_q + 1)]:
            place = bisect_left(theirs, suffix)
            near = theirs[max(place - 1, 0) : place + 1]
            q = max((_common_length(suffix, other) for other in near), default=0)
            if q < least_q:
                continue
            low, high = _range(theirs, suffix[:q])
            if high - low > best:
                continue
            mine = _range(ordered, suffix[:q])
            n, m = mine[1] - mine[0], high - low
            if n * m < best or (n * m == best and q > best_q[value]):
                best = n * m
                best_q[value], in_source[value], in_target[value], first[value] = q, n, m, low


@compiled_beside(_best_qgrams)
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
