"""The two optimisations of LSH Ensemble: where to cut the sizes into partitions, and how to ask each of them.

Kernels, with their plain form as `.py_func`.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log2
from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_NODES = 32
_STEPS_AN_OCTAVE = 8


@compiled
def cut_sizes(sizes: Array, counts: Array, parts: int) -> Array:
    """Cut ascending distinct `sizes`, `counts[i]` sets of each, into at most `parts` runs of least total cost.

    The cost of a run is its expected number of false positives, Σ count · (1 − size / greatest size) (Equation 2.18).
    It satisfies the quadrangle inequality, so the best last cut never moves left when the end moves right: divide and
    conquer over the ends is exact and takes O(parts · n log n) instead of O(parts · n²). Returns where the runs begin,
    and len(sizes) at the end.
    """
    n = len(sizes)
    parts = min(parts, n)
    sets = np.zeros(n + 1)
    tokens = np.zeros(n + 1)
    for i in range(n):
        sets[i + 1] = sets[i] + counts[i]
        tokens[i + 1] = tokens[i] + counts[i] * sizes[i]
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    begins = np.zeros((parts + 1, n + 1), np.int64)
    for part in range(1, parts + 1):
        best = _one_more(best, begins[part], part, sizes, sets, tokens)
    cuts = np.empty(parts + 1, np.int64)
    cuts[parts] = n
    for part in range(parts, 0, -1):
        cuts[part - 1] = begins[part, cuts[part]]
    return cuts


@compiled
def _one_more(best: Array, begins: Array, part: int, sizes: Array, sets: Array, tokens: Array) -> Array:
    """The least cost of `part` runs over every beginning of the sizes, from that of one run less."""
    n = len(sizes)
    costs = np.full(n + 1, np.inf)
    stack = np.empty((128, 4), np.int64)
    stack[0] = np.array([part, n, part - 1, n - 1])
    open_ranges = 1
    while open_ranges:
        open_ranges -= 1
        low, high, first, last = stack[open_ranges]
        if low > high:
            continue
        end = (low + high) // 2
        at = first
        for begin in range(first, min(last, end - 1) + 1):
            run = sets[end] - sets[begin] - (tokens[end] - tokens[begin]) / sizes[end - 1]
            if best[begin] + run < costs[end]:
                costs[end] = best[begin] + run
                at = begin
        begins[end] = at
        stack[open_ranges] = np.array([low, end - 1, first, at])
        stack[open_ranges + 1] = np.array([end + 1, high, at, last])
        open_ranges += 2
    return costs


class Tuning(NamedTuple):
    """How a partition is asked: `bands` of `rows` values, 0 where no choice reaches the recall."""

    bands: int
    rows: int


@lru_cache(maxsize=1 << 14)
def _tuned(threshold: float, octave_steps: int, permutations: int, depth: int, recall: float) -> Tuning:
    ratio = 2.0 ** (octave_steps / _STEPS_AN_OCTAVE)
    bands, rows = tune(threshold, ratio, permutations, depth, recall)
    return Tuning(int(bands), int(rows))


def tuning(upper: int, threshold: float, size: int, permutations: int, depth: int, recall: float) -> Tuning:
    """The choice for sets of up to `upper` tokens and a query of `size`.

    Ratios of sizes are rounded up to an eighth of an octave, towards more recall, so that answers are found again.
    """
    return _tuned(threshold, ceil(_STEPS_AN_OCTAVE * log2(upper / size)), permutations, depth, recall)


@compiled
def tune(threshold: float, ratio: float, permutations: int, depth: int, recall: float) -> tuple[int, int]:
    """(bands, rows) of the least FP + FN among those that find a set at the threshold with probability `recall`.

    `ratio` is |X| / |Q|. The integrals of Equations 2.23 and 2.24 are midpoint sums; powers come by multiplication.
    """
    errors = np.zeros((depth + 1, permutations + 1))
    greatest = min(1.0, ratio)
    edge = min(threshold, greatest)
    for node in range(_NODES):
        place = (node + 0.5) / _NODES
        _add_error(errors, place * edge, ratio, edge / _NODES, True)
        if greatest > edge:
            _add_error(errors, edge + place * (greatest - edge), ratio, (greatest - edge) / _NODES, False)
    least, bands, rows = np.inf, 0, 0
    similarity = edge / (ratio + 1.0 - edge)
    power = 1.0
    for r in range(1, depth + 1):
        power *= similarity
        missed = 1.0
        for b in range(1, permutations // r + 1):
            missed *= 1.0 - power
            if 1.0 - missed >= recall and errors[r, b] < least:
                least, bands, rows = errors[r, b], b, r
    return bands, rows


@compiled
def _add_error(errors: Array, containment: float, ratio: float, weight: float, below: bool) -> None:
    """Add to every (rows, bands) how often a set of this containment is wrongly found, or wrongly missed."""
    similarity = containment / (ratio + 1.0 - containment)
    power = 1.0
    for r in range(1, errors.shape[0]):
        power *= similarity
        missed = 1.0
        for b in range(1, (errors.shape[1] - 1) // r + 1):
            missed *= 1.0 - power
            errors[r, b] += weight * (1.0 - missed if below else missed)
