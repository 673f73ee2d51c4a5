"""The suffix array of a column, and the longest q-grams that the values of one column share with another.

Values are compared by their plain text (text.py), so that case and accents do not hide a match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SuffixArray:
    """All suffixes of distinct values in order. Values lie end to end in `codes`; a suffix ends with its value."""

    codes: Ints  # code points
    ends: Ints  # for each place in codes, where its value ends
    starts: Ints  # where each value starts, and the end of the last
    order: Ints  # places in codes, sorted by the suffix that starts there
    owner: Ints  # for each place in codes, its value's number


def suffix_array(values: Sequence[str]) -> SuffixArray:
    """By doubling: ranks of prefixes of length 1, 2, 4, … until all differ or values are that short."""
    lengths = np.array([len(value) for value in values], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    codes = np.frombuffer("".join(values).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    owner = np.repeat(np.arange(len(values), dtype=np.int64), lengths)
    ends = starts[1:][owner] if len(owner) else np.zeros(0, dtype=np.int64)
    rank = np.unique(codes, return_inverse=True)[1].astype(np.int64) + 1
    places = np.arange(len(codes), dtype=np.int64)
    order = np.argsort(rank, kind="stable")
    step, longest = 1, int(lengths.max(initial=0))
    while step < longest:
        ahead = places + step
        second = np.where(ahead < ends, rank[np.minimum(ahead, len(codes) - 1)], 0)
        key = rank * (len(codes) + 2) + second
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        fresh = np.concatenate([[1], (ordered[1:] != ordered[:-1]).astype(np.int64)])
        rank = np.empty_like(rank)
        rank[order] = np.cumsum(fresh)
        step *= 2
    return SuffixArray(codes, ends, starts, order, owner)


@dataclass(frozen=True)
class BestMatches:
    """For each source value its best q-gram: q (0: none), how often it stands on either side, where in the target."""

    q: Ints
    in_source: Ints
    in_target: Ints
    first: Ints  # the range of the target's order whose suffixes start with the q-gram


def best_matches(source: SuffixArray, target: SuffixArray, least_q: int) -> BestMatches:
    size = len(source.starts) - 1
    found = BestMatches(*(np.zeros(size, dtype=np.int64) for _ in range(4)))
    _best(
        source.codes, source.ends, source.starts, source.order, target.codes, target.ends, target.order, least_q,
        found.q, found.in_source, found.in_target, found.first,
    )  # fmt: skip
    return found


def whole_ranges(source: SuffixArray, target: SuffixArray) -> tuple[Ints, Ints]:
    """For each source value, the range of the target's order whose suffixes start with all of it."""
    low, high = (np.zeros(len(source.starts) - 1, dtype=np.int64) for _ in range(2))
    _whole(source.codes, source.starts, target.codes, target.ends, target.order, low, high)
    return low, high


@compiled
def _common(a: Any, start: int, end: int, b: Any, other: int, other_end: int) -> int:
    """The length of the common prefix of two suffixes."""
    size = min(end - start, other_end - other)
    for k in range(size):
        if a[start + k] != b[other + k]:
            return k
    return size


@compiled
def _range(a: Any, start: int, q: int, codes: Any, ends: Any, order: Any, upper: bool) -> int:
    """The first place in `order` whose suffix is not below (`upper`: is above) the q-gram that starts at `start`."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        place = order[middle]
        k = _common(a, start, start + q, codes, place, ends[place])
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
def _best(
    codes: Any, ends: Any, starts: Any, order: Any, t_codes: Any, t_ends: Any, t_order: Any, least_q: int,
    best_q: Any, in_source: Any, in_target: Any, first: Any,
) -> None:  # fmt: skip
    for value in range(len(starts) - 1):
        best = 1 << 62
        for start in range(starts[value], starts[value + 1] - least_q + 1):
            end = ends[start]
            # The neighbours in sorted order share the longest prefix: q* of the paper's binary search.
            place = _range(codes, start, end - start, t_codes, t_ends, t_order, False)
            q = 0
            for near in (place - 1, place):
                if 0 <= near < len(t_order):
                    other = t_order[near]
                    q = max(q, _common(codes, start, end, t_codes, other, t_ends[other]))
            if q < least_q:
                continue
            low = _range(codes, start, q, t_codes, t_ends, t_order, False)
            m = _range(codes, start, q, t_codes, t_ends, t_order, True) - low
            if m > best:
                continue
            n = _range(codes, start, q, codes, ends, order, True) - _range(codes, start, q, codes, ends, order, False)
            if n * m < best or (n * m == best and q > best_q[value]):
                best = n * m
                best_q[value], in_source[value], in_target[value], first[value] = q, n, m, low


@compiled
def _whole(codes: Any, starts: Any, t_codes: Any, t_ends: Any, t_order: Any, low: Any, high: Any) -> None:
    for value in range(len(starts) - 1):
        start, size = starts[value], starts[value + 1] - starts[value]
        low[value] = _range(codes, start, size, t_codes, t_ends, t_order, False)
        high[value] = _range(codes, start, size, t_codes, t_ends, t_order, True)
