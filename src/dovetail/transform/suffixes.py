"""The suffix array of a column, and the longest q-grams that the values of one column share with another.

Values are compared by their plain text (normalise.plain), so that case and accents do not hide a match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dovetail.transform.suffix_kernels import best_qgrams, whole_value_ranges

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SuffixArray:
    """All suffixes of distinct values in order. Values follow each other in `codes`; a suffix ends with its value."""

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
    """For each source value its best q-gram: q (0: none), how often either side has it, where in the target."""

    q: Ints
    in_source: Ints
    in_target: Ints
    first: Ints  # the range of the target's order whose suffixes start with the q-gram


def best_matches(source: SuffixArray, target: SuffixArray, least_q: int) -> BestMatches:
    size = len(source.starts) - 1
    found = BestMatches(*(np.zeros(size, dtype=np.int64) for _ in range(4)))
    best_qgrams(
        source.codes, source.ends, source.starts, source.order, target.codes, target.ends, target.order, least_q,
        found.q, found.in_source, found.in_target, found.first,
    )  # fmt: skip
    return found


def whole_ranges(source: SuffixArray, target: SuffixArray) -> tuple[Ints, Ints]:
    """For each source value, the range of the target's order whose suffixes start with all of it."""
    low, high = (np.zeros(len(source.starts) - 1, dtype=np.int64) for _ in range(2))
    whole_value_ranges(source.codes, source.starts, target.codes, target.ends, target.order, low, high)
    return low, high
