"""JOSIE: the k columns that share most values with mine.

Erkang Zhu, Dong Deng, Fatemeh Nargesian, Renée J. Miller: JOSIE: Overlap Set Similarity Search for Finding Joinable
Tables in Data Lakes. SIGMOD 2019. doi:10.1145/3299869.3300065. Equations are those of Zhu's thesis, chapter 3.

| paper | here |
|---|---|
| Q, X; k | `values`, a column of the lake; `k` |
| λ, posting lists of a batch | `batch` |
| MergeList-D, ProbeSet-D, JOSIE (Algorithm 2) | `ALGORITHMS` |
| i_X,0; j_X,0; j_X | `Candidates.first`, `first_position`, `position` |
| S(x), L(x), Equation 3.15 | `JosieCosts`, measured when the index is built |

Guarantee: exact. All columns with at least the k-th largest overlap are found in a segment; of an index of several, the
k best by overlap, then by name.

Departures: duplicate groups of tokens are one token with a weight, bounds are strict so that ties are found, and the
candidate with the least net cost is found in two passes. docs/algorithms/josie.md has the product's own search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.indexes.josie.core import ColumnSets, JosieCosts, OverlapWork, PostingLists, Scratch
from dovetail.indexes.josie.kernels import merge_list
from dovetail.papers import josie_kernels
from dovetail.papers.arguments import (
    Answer,
    ColumnMatch,
    Index,
    best_first,
    column_matches,
    column_of,
    live_columns,
    segments_of,
    total,
)

Algorithm = Literal["josie", "merge_list", "probe_set"]
ALGORITHMS: tuple[Algorithm, ...] = ("josie", "merge_list", "probe_set")
BATCH = 20


def top_k(
    index: Index, values: Iterable[Any], k: int = 10, *, algorithm: Algorithm = "josie", batch: int = BATCH
) -> Answer[ColumnMatch, OverlapWork]:
    """The k columns of the lake that share most distinct values with mine, and the lists and sets that were read."""
    segments = segments_of(index)
    column = column_of(values, segments)
    matches: list[ColumnMatch] = []
    works = [OverlapWork(0, 0, 0, 0)]
    for segment in segments:
        found = segment.josie.search(column.tokens, k, 1, live_columns(segment), kernel_of(algorithm, batch))
        matches += column_matches(segment, found.columns, found.overlaps)
        works.append(found.work)
    return Answer(best_first(matches)[:k], total(works))


def kernel_of(algorithm: Algorithm = "josie", batch: int = BATCH) -> Callable[..., int]:
    """The algorithm as `JosieReader.search` takes it, for one segment."""
    kernels = partial(josie_kernels.josie, batch), _merge_list, josie_kernels.probe_set
    if algorithm not in ALGORITHMS or batch < 1:
        raise InputError(f"The algorithms are {', '.join(ALGORITHMS)}, and `batch` is at least 1.")
    return kernels[ALGORITHMS.index(algorithm)]


def _merge_list(
    postings: PostingLists, sets: ColumnSets, groups: Array, weights: Array, k: int, floor: int, allowed: Array,
    costs: JosieCosts, scratch: Scratch, work: Array,
) -> int:  # fmt: skip
    return merge_list(postings, groups, weights, k, floor, allowed, scratch, work)
