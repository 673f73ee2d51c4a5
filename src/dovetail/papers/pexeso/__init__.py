"""PEXESO: the columns in which many of my values have a similar value, by block and verify.

Yuyang Dong, Kunihiro Takeoka, Chuan Xiao, Masafumi Oyamada: Efficient Joinable Table Discovery in Data Lakes: A
High-Dimensional Similarity-Based Approach. ICDE 2021. doi:10.1109/ICDE51399.2021.00046.

| paper | here |
|---|---|
| Q, q; τ; T | `values`; `min_similarity`, and the radius that follows from it; `threshold` |
| P, \\|P\\|; m | `pivots`; `levels`; 0 has its cost model choose |
| HG_Q, HG_SV; I | `HierarchicalGrid`; `Inverted` |
| Algorithms 1 to 3, Lemmas 1 to 7 | `ColumnGrid.joinable`, `block`, `verify` |
| partitions of columns on disk, JSD (section IV) | `Partitions`; `clustering` |

Guarantee: exact. Blocking never rules out a joinable column; the columns that are left are counted in float64.

The product blocks too, where that pays: `ColumnGrid` is in `dovetail.indexes.pexeso`, and here it runs always.
Partitions and their clustering are the paper's alone. Departures: docs/algorithms/pexeso.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dovetail._types import Array
from dovetail.embedders.protocol import Sparse
from dovetail.errors import InputError
from dovetail.indexes.lsh_ensemble.core import as_ratio, least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.block_and_verify import dense_rows
from dovetail.indexes.pexeso.core import radius_of
from dovetail.indexes.pexeso.grid import MOST_LEVELS, MOST_PIVOTS
from dovetail.papers.arguments import Answer, Index, column_of, live_columns, segments_of, total
from dovetail.papers.pexeso.column_clusters import CLUSTERINGS
from dovetail.papers.pexeso.partitions import Partitions
from dovetail.search.semantic.match import RowCount, TextQuery, equal_codes, similar


@dataclass(frozen=True)
class Grids:
    """|P| and m, 0 for those that the cost model chooses; in how many partitions the columns are, 0 for none."""

    pivots: int = 0
    levels: int = 0
    partitions: int = 0
    clustering: Literal["divergence", "random"] = "divergence"

    def __post_init__(self) -> None:
        for name, most in (("pivots", MOST_PIVOTS), ("levels", MOST_LEVELS)):
            if not 0 <= getattr(self, name) <= most:
                raise InputError(f"{name} is {getattr(self, name)}; it must be from 0 to {most}.")
        if self.partitions < 0:
            raise InputError(f"partitions is {self.partitions}; it must be 0 or more.")
        if self.clustering not in CLUSTERINGS:
            raise InputError(f"clustering is {self.clustering!r}; it must be one of {', '.join(CLUSTERINGS)}.")


BY_COST = Grids()


@dataclass(frozen=True)
class BlockingWork:
    """Distances that were computed to rule columns out, and the columns that were left."""

    distances: int
    candidates: int


class SimilarColumn(NamedTuple):
    """A column of the lake, and how many of my rows and of my distinct values have a match in it."""

    table: str
    column: str
    rows: int
    values: int


def joinable(
    index: Index,
    values: Iterable[Any],
    threshold: Fraction | float | str = 0.6,
    min_similarity: float | None = None,
    grids: Grids = BY_COST,
) -> Answer[SimilarColumn, BlockingWork]:
    """The columns in which at least `threshold` of my values have a match, a repeated value counting as often."""
    segments = segments_of(index)
    if not segments:
        return Answer([], BlockingWork(0, 0))
    space = segments[0].texts.space
    column = column_of(values, segments)
    asked, matching = TextQuery.of(column, space), space.matching(min_similarity)
    least = max(1, least_overlap(as_ratio(threshold), int(column.counts.sum())))
    works, masks = [], []
    for segment in segments:
        mask, distances = candidates(segment, asked, matching.least_cosine, least, live_columns(segment), grids)
        masks.append(mask)
        works.append(BlockingWork(distances, int(mask.sum())))
    found = [
        SimilarColumn(match.table, match.segment.catalog.column(match.column).column, match.rows, match.values)
        for match in similar(segments, asked, matching, None, least, masks)
    ]
    return Answer(found, total(works))


def candidates(
    segment: OpenSegment, asked: TextQuery, least_cosine: float, least: int, allowed: Array, grids: Grids = BY_COST
) -> tuple[Array, int]:
    """Which columns of a segment may have `least` rows with a match, and how many distances that took."""
    reader, weights = segment.texts, asked.column.counts[asked.texts]
    if not reader.texts or not len(weights):
        return allowed, 0
    count, radius = RowCount(segment, asked.column.counts), radius_of(least_cosine)
    count.add(equal_codes(segment, asked))
    blocking = (
        Partitions(reader, grids.partitions, grids.clustering, grids.pivots, grids.levels)
        if grids.partitions
        else reader.grid(radius, grids.pivots, grids.levels)
    )
    vectors = asked.vectors.vectors
    dense = dense_rows(vectors, reader.dimension) if isinstance(vectors, Sparse) else vectors
    return blocking.joinable(dense, weights, radius, least, count.rows, allowed)
