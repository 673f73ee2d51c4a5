"""Inclusion dependencies of several columns together, level by level from those of one column, exact.

Rows with a null do not count, and every part of a dependency has to be a dependency, too; without nulls it always is
(Marchi, Lopes, Petit: Efficient Algorithms for Mining Inclusion Dependencies, EDBT 2002). So each level tries what two
dependencies of the level before make together, if they differ in their last pair of columns only, and the rows decide.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from dovetail._progress import Progress, silent
from dovetail.catalog.decisions import Decision
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.arrow_answer import ArrowAnswer, named_lists
from dovetail.graph.composite_keys import CompositeForeignKey, Pairing, score_composites
from dovetail.graph.decided import CERTAIN, DecidedColumns
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder, InclusionQuery, eligible
from dovetail.graph.row_tuples import RowTuples, TupleOverlap
from dovetail.graph.score import Scorer
from dovetail.indexes.tokens.format import running_sum

ColumnMap = tuple[tuple[int, int], ...]  # pairs of a dependent and a referenced column, by the dependent ones

_AT_ONCE = 1 << 16  # rows in a batch


class NaryDependencies(ArrowAnswer):
    """Dependencies of several columns together, best first."""

    rows_are = "inclusion dependencies of several columns"

    def __init__(
        self,
        columns: LakeColumns,
        overlaps: Mapping[Pairing, TupleOverlap],
        decisions: Sequence[Decision] = (),
    ) -> None:
        self._columns = columns
        self._decided = DecidedColumns(columns, decisions)
        found = score_composites(columns, Scorer(columns, columns.distinct), overlaps)
        self._found = sorted(self._judged(found), key=lambda one: -one.score)

    def _judged(self, found: list[CompositeForeignKey]) -> Iterator[CompositeForeignKey]:
        """Without those that a person rejected, and certain of those that a person accepted."""
        for one in found:
            if self._decided.accepts(one.dependent, one.referenced):
                yield replace(one, score=CERTAIN)
            elif not self._decided.rejects(one.dependent, one.referenced):
                yield one

    def _when(self, one: CompositeForeignKey) -> str | None:
        decision = self._decided.accepts(one.dependent, one.referenced)
        return decision.decided if decision else None

    def __len__(self) -> int:
        return len(self._found)

    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), _AT_ONCE):
            part = self._found[start : start + _AT_ONCE]
            offsets = running_sum(np.array([len(one.dependent) for one in part]))
            ends = (
                np.array([column for one in part for column in one.dependent]),
                np.array([column for one in part for column in one.referenced]),
            )
            numbers = (
                [one.containment for one in part],
                [one.coverage for one in part],
                [one.score for one in part],
            )
            yield pa.RecordBatch.from_arrays(
                [
                    *(array for end in ends for array in named_lists(self._columns, end, offsets)),
                    *(pa.array(values, pa.float64()) for values in numbers),
                    pa.array([self._when(one) for one in part], pa.string()),
                ],
                schema=self.schema,
            )


@dataclass(frozen=True)
class NaryQuery:
    """Dependencies of two to `most` columns together, between columns that a query admits."""

    of_columns: InclusionQuery
    most: int

    def __post_init__(self) -> None:
        if self.of_columns.null_is_a_value:
            raise InputError("`nary` does not count rows with a null; drop `null_equal`.")
        if self.of_columns.containment != 1:
            raise InputError("`nary` finds whole dependencies only; drop `partial`.")

    @property
    def of_parts(self) -> InclusionQuery:
        """What the parts of a dependency have to be: filters on combinations come later."""
        filters = replace(self.of_columns.filters, non_unique=False, coverage=Fraction(0))
        return replace(self.of_columns, filters=filters)


def find_nary(columns: LakeColumns, query: NaryQuery, progress: Progress = silent) -> dict[Pairing, TupleOverlap]:
    """All dependencies of several columns of a lake, found in this process."""
    finder = InclusionFinder(columns, query.of_parts, os.cpu_count() or 1, progress=progress)
    return dict(grown_together(columns, query, finder, progress))


def grown_together(
    columns: LakeColumns, query: NaryQuery, blocks: Iterable[ColumnPairs], progress: Progress = silent
) -> Iterator[tuple[Pairing, TupleOverlap]]:
    """The dependencies that those of one column make together, and that pass the filters on combinations.

    `blocks` has all those of a table's columns, or none.
    """
    rows = RowTuples(columns)
    filters = query.of_columns.filters
    levels = list(_by_tables(columns, query, blocks))
    for number, level in enumerate(levels):
        progress("comparing rows", number, len(levels))
        for _ in range(2, query.most + 1):
            grown = _next_level(rows, level)
            level = list(grown)
            for column_map, overlap in grown.items():
                covers = Fraction(overlap.common, max(1, overlap.referenced)) >= filters.coverage
                one, other = tuple(p[0] for p in column_map), tuple(p[1] for p in column_map)
                if one == other or not covers:
                    continue
                distinct, filled = rows.distinct(other)
                if distinct == filled or not filters.non_unique:
                    yield (one, other), overlap


def _by_tables(columns: LakeColumns, query: NaryQuery, blocks: Iterable[ColumnPairs]) -> Iterator[list[ColumnMap]]:
    """The dependencies of one column, for each pair of tables."""
    by_tables: dict[tuple[int, int], list[ColumnMap]] = defaultdict(list)
    for pairs in blocks:
        tables = columns.table_of[pairs.dependent], columns.table_of[pairs.referenced]
        for place, key in enumerate(zip(*(table.tolist() for table in tables), strict=True)):
            by_tables[key].append(((int(pairs.dependent[place]), int(pairs.referenced[place])),))
    wanted, _ = eligible(columns, query.of_parts)
    for (one, other), maps in by_tables.items():
        if one == other:  # a column may refer to itself beside another that does not
            maps += [((column, column),) for column in np.flatnonzero(wanted & (columns.table_of == one)).tolist()]
        if len(maps) > 1:
            yield sorted(maps)


def _next_level(rows: RowTuples, level: list[ColumnMap]) -> dict[ColumnMap, TupleOverlap]:
    """What two of this level that differ in their last pair make together, if all parts and the rows agree."""
    known = set(level)
    kept = {}
    for at, one in enumerate(level):
        for other in level[at + 1 :]:
            if other[:-1] != one[:-1]:
                break
            if one[-1][0] == other[-1][0] or other[-1][1] in {referenced for _, referenced in one}:
                continue
            column_map = (*one, other[-1])
            if not all((*column_map[:i], *column_map[i + 1 :]) in known for i in range(len(column_map))):
                continue
            overlap = rows.overlap(tuple(p[0] for p in column_map), tuple(p[1] for p in column_map))
            if 0 < overlap.dependent == overlap.common:
                kept[column_map] = overlap
    return kept
