"""LSH Ensemble: the columns that contain a share of my values, from sketches in partitions by size.

Erkang Zhu, Fatemeh Nargesian, Ken Q. Pu, Renée J. Miller: LSH Ensemble: Internet-Scale Domain Search. PVLDB 9(12),
2016. doi:10.14778/2994509.2994534. Equations are those of Zhu's thesis, chapter 2.

| paper | here |
|---|---|
| Q, t* | `values`, `threshold` |
| partition [l, u], Cost([l, u]) (Equation 2.18) | `optimal_partitions`, `expected_false_positives` |
| b, r minimising FP + FN (Equations 2.23 to 2.26) | chosen for each partition and query by `tune` |
| LSH forest | the trees of the index |

Guarantee: with `verify`, every answer is right; a column is missed with a probability below 0.05. Without, candidates
are returned as the paper's are, and what they share is not counted.

Departures: bands are chosen for a recall, not for the least FP + FN, and whole sketches are compared before anything is
a candidate. Columns with fewer values than a sketch has numbers have none: posting lists find them.
docs/algorithms/lsh_ensemble.md has the product's search, which takes posting lists wherever they cost less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dovetail.indexes.lsh_ensemble.core import as_ratio
from dovetail.indexes.lsh_ensemble.kernels import cut_sizes
from dovetail.indexes.lsh_ensemble.query import ContainmentWork
from dovetail.papers.arguments import (
    Answer,
    ColumnMatch,
    Index,
    best_first,
    column_matches,
    column_of,
    live_columns,
    segments_of,
)

Partition = tuple[int, int]
"""The least and the greatest size of the sets in it."""


def containing(
    index: Index, values: Iterable[Any], threshold: Fraction | float | str, *, verify: bool = False
) -> Answer[ColumnMatch, ContainmentWork]:
    """The columns that contain at least `threshold` of my distinct values; overlaps are -1 where nobody counted."""
    segments = segments_of(index)
    tokens = column_of(values, segments).tokens
    matches: list[ColumnMatch] = []
    work = ContainmentWork()
    for segment in segments:
        found = segment.sketches.search(tokens, as_ratio(threshold), live_columns(segment), verify, "sketches")
        matches += column_matches(segment, found.columns, found.overlaps)
        work += found.work
    return Answer(best_first(matches), work)


def optimal_partitions(sizes: Sequence[int], most: int) -> list[Partition]:
    """The sizes of sets in at most so many ranges, with the fewest false positives to be expected."""
    distinct, counts = np.unique(np.asarray(sizes, np.int64), return_counts=True)
    if not len(distinct):
        return []
    cuts = cut_sizes(distinct, counts, most)
    return [(int(distinct[a]), int(distinct[b - 1])) for a, b in itertools.pairwise(cuts)]


def expected_false_positives(sizes: Sequence[int], partitions: Sequence[Partition]) -> float:
    """The cost of partitions: each set counts with the share of its partition's upper bound that it lacks."""
    return sum(1 - size / upper for lower, upper in partitions for size in sizes if lower <= size <= upper)
