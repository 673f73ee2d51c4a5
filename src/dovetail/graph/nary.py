"""Inclusion dependencies of several columns together, level by level from those of one, exact.

A tuple with a null takes no part, and every part of a dependency has to be one, too; without nulls it always is
(Marchi, Lopes, Petit: Efficient Algorithms for Mining Inclusion Dependencies, EDBT 2002). So each level tries what two
of the level before, alike but for their last pair of columns, make together, and the rows decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from dovetail.errors import InputError
from dovetail.graph.answer import Answer, named_lists
from dovetail.graph.columns import LakeColumns
from dovetail.graph.composite import Composite, score_composite
from dovetail.graph.inclusion import Inclusions, Question, eligible
from dovetail.graph.score import Scorer
from dovetail.graph.tuples import RowTuples, Shared
from dovetail.indexes.tokens.format import running_sum

Pairing = tuple[tuple[int, int], ...]  # pairs of columns, dependent and referenced, by the dependent ones

_AT_ONCE = 1 << 16


class NaryDependencies(Answer):
    """Dependencies of two to `most` columns, best first."""

    def __init__(self, columns: LakeColumns, question: Question, most: int) -> None:
        if question.null_is_a_value:
            raise InputError("Null is no value in dependencies of several columns: leave --null-equal out.")
        if question.containment != 1:
            raise InputError("Dependencies of several columns are found where they are whole: leave --partial out.")
        self._columns = columns
        scorer = Scorer(columns, columns.distinct)
        rank = columns.rank
        found = _found(columns, question, most, scorer)
        self._found = sorted(found, key=lambda one: (-one.score, *rank[[*one.dependent, *one.referenced]].tolist()))

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self):,} inclusion dependencies of several columns>"

    def batches(self) -> Iterator[pa.RecordBatch]:
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
                [round(one.score, 4) for one in part],
            )
            yield pa.RecordBatch.from_arrays(
                [
                    *(array for end in ends for array in named_lists(self._columns, end, offsets)),
                    *(pa.array(values, pa.float64()) for values in numbers),
                ],
                schema=self.schema,
            )


def _found(columns: LakeColumns, question: Question, most: int, scorer: Scorer) -> Iterator[Composite]:
    """Those that pass the filters on tuples: a unique referenced side, and its coverage."""
    rows = RowTuples(columns)
    filters = question.filters
    for level in _by_tables(columns, question):
        for _ in range(2, most + 1):
            grown = _next_level(rows, level)
            level = list(grown)
            for pairing, shared in grown.items():
                covers = shared.common * filters.coverage.denominator >= shared.referenced * filters.coverage.numerator
                one, other = tuple(p[0] for p in pairing), tuple(p[1] for p in pairing)
                if one == other or not covers:
                    continue
                distinct, filled = rows.distinct(other)
                if distinct == filled or not filters.non_unique:
                    yield score_composite(columns, scorer, one, other, shared)


def _by_tables(columns: LakeColumns, question: Question) -> Iterator[list[Pairing]]:
    """Dependencies of one column, for each pair of tables; filters that speak of tuples wait until there are some."""
    loose = replace(question, filters=replace(question.filters, non_unique=False, coverage=Fraction(0)))
    by_tables: dict[tuple[int, int], list[Pairing]] = defaultdict(list)
    for pairs in Inclusions(columns, loose):
        tables = columns.table_of[pairs.dependent], columns.table_of[pairs.referenced]
        for place, key in enumerate(zip(*(table.tolist() for table in tables), strict=True)):
            by_tables[key].append(((int(pairs.dependent[place]), int(pairs.referenced[place])),))
    wanted, _ = eligible(columns, loose)
    for (one, other), pairings in by_tables.items():
        if one == other:  # a column stands for itself beside another that does not
            pairings += [((column, column),) for column in np.flatnonzero(wanted & (columns.table_of == one)).tolist()]
        if len(pairings) > 1:
            yield sorted(pairings)


def _next_level(rows: RowTuples, level: list[Pairing]) -> dict[Pairing, Shared]:
    """What two of this level that differ in their last pair only make together, if all parts and the rows agree."""
    known = set(level)
    kept = {}
    for at, one in enumerate(level):
        for other in level[at + 1 :]:
            if other[:-1] != one[:-1]:
                break
            if one[-1][0] == other[-1][0] or other[-1][1] in {referenced for _, referenced in one}:
                continue
            pairing = (*one, other[-1])
            if not all((*pairing[:i], *pairing[i + 1 :]) in known for i in range(len(pairing))):
                continue
            shared = rows.shared([p[0] for p in pairing], [p[1] for p in pairing])
            if 0 < shared.dependent == shared.common:
                kept[pairing] = shared
    return kept
