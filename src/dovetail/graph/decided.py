"""Decisions about pairs of columns as numbers of columns, and what they make of foreign keys and dependencies.

Kept keys stay as they were found; decisions are applied to each answer, and a new one counts at once. Declared keys are
applied with them: they have a direction, which a person's word has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.decisions import JOINS, Decision
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.foreign_keys import DECIDED, DECLARED, ForeignKeyTable
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.row_tuples import Columns, RowTuples
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import holder_of

_Pairs = frozenset[tuple[int, int]]
CERTAIN = 1.0
"""The score of what a person accepted, or a database declares."""


class DecidedColumns:
    """Decisions about columns that the lake has, in both directions."""

    def __init__(self, columns: LakeColumns, decisions: Iterable[Decision]) -> None:
        self._columns = columns
        self._joins: dict[_Pairs, Decision] = {}
        self._never: dict[_Pairs, Decision] = {}
        self._accepted: list[tuple[Columns, Columns, bool]] = []  # as they were written, and whether a database did
        self._turned: set[_Pairs] = set()  # declared keys from the other side, which refers to nothing
        decisions = tuple(decisions)
        numbers = columns.numbers_of({name for d in decisions for name in (d.left_table, d.right_table)})
        for decision in decisions:
            left = _known(numbers.get(decision.left_table, {}), decision.left_columns)
            right = _known(numbers.get(decision.right_table, {}), decision.right_columns)
            if left and right:
                self._add(decision, left, right)
        mentioned = [pair for pairs in (*self._joins, *self._never, *self._turned) for pair in pairs]
        self._codes = self._code(*np.array(mentioned, np.int64).reshape(-1, 2).T)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return len(self._codes) > 0

    def _add(self, decision: Decision, left: Columns, right: Columns) -> None:
        of = self._joins if decision.verdict == JOINS else self._never
        of[frozenset(zip(left, right, strict=True))] = decision
        turned = frozenset(zip(right, left, strict=True))
        if decision.declared:
            self._turned.add(turned)
        else:
            of[turned] = decision
        if decision.verdict == JOINS:
            self._accepted.append((left, right, decision.declared))

    def accepts(self, dependent: Sequence[int], referenced: Sequence[int]) -> Decision | None:
        """The decision that exactly these columns join."""
        return self._joins.get(frozenset(zip(dependent, referenced, strict=True)))

    def rejects(self, dependent: Sequence[int], referenced: Sequence[int]) -> bool:
        """Whether all or some of these columns never join, and nobody accepted exactly these."""
        pairs = frozenset(zip(dependent, referenced, strict=True))
        return pairs not in self._joins and any(never <= pairs for never in self._never)

    def judge(self, pairs: ColumnPairs, scores: Array) -> tuple[ColumnPairs, Array]:
        """Pairs of single columns and their scores, without rejected ones, and with certainty for accepted ones."""
        if not self:
            return pairs, scores
        kept, scores = np.ones(len(pairs), bool), scores.copy()
        for place in np.flatnonzero(self._mentions(pairs.dependent, pairs.referenced)).tolist():
            one, other = [int(pairs.dependent[place])], [int(pairs.referenced[place])]
            kept[place] = not self.rejects(one, other)
            if self.accepts(one, other):
                scores[place] = CERTAIN
        return ColumnPairs(pairs.dependent[kept], pairs.referenced[kept], pairs.overlap[kept]), scores[kept]

    def judge_keys(self, found: ForeignKeyTable) -> ForeignKeyTable:
        """Foreign keys without rejected ones; accepted ones come first, also those that nothing but a person found."""
        if not self:
            return found
        kept, score, evidence = np.ones(len(found), bool), found.score.copy(), found.evidence.copy()
        seen: set[_Pairs] = set()
        mentioned = running_sum(self._mentions(found.dependent, found.referenced))[found.offsets]
        for place in np.flatnonzero(np.diff(mentioned)).tolist():
            span = slice(found.offsets[place], found.offsets[place + 1])
            one, other = found.dependent[span].tolist(), found.referenced[span].tolist()
            pairs = frozenset(zip(one, other, strict=True))
            kept[place] = not self.rejects(one, other) and (pairs not in self._turned or pairs in self._joins)
            decision = self.accepts(one, other)
            if decision:
                score[place] = CERTAIN
                evidence[place] |= DECLARED if decision.declared else DECIDED
                seen |= {frozenset(zip(one, other, strict=True)), frozenset(zip(other, one, strict=True))}
        kept &= ~self._has_declared_target(found) | (evidence & (DECIDED | DECLARED) > 0)
        judged = replace(found, score=score, evidence=evidence).take(np.flatnonzero(kept))
        missing = [each for each in self._accepted if frozenset(zip(*each[:2], strict=True)) not in seen]
        judged = ForeignKeyTable.join([judged, self._keys_of(missing)])
        authors = (judged.evidence & DECIDED > 0, judged.evidence & DECLARED > 0)
        order = np.lexsort((np.arange(len(judged)), ~authors[1], ~authors[0]))
        return judged.take(order)

    def _has_declared_target(self, found: ForeignKeyTable) -> Array:
        """Whether the database of the columns declares what they refer to, and these refer to something else there.

        Of 773 columns with a declared target in the databases of `benchmarks/judgement/declared.py`, one has two.
        """
        declared = {frozenset(one) for one, _, by_database in self._accepted if by_database}
        dependent = np.array(sorted(column for one in declared for column in one), np.int64)
        mentioned = running_sum(np.isin(found.dependent, dependent))[found.offsets]
        has = np.zeros(len(found), bool)
        for place in np.flatnonzero(np.diff(mentioned)).tolist():
            span = slice(found.offsets[place], found.offsets[place + 1])
            holders = (self._holder(int(side[span][0])) for side in (found.dependent, found.referenced))
            has[place] = frozenset(found.dependent[span].tolist()) in declared and next(holders) == next(holders)
        return has

    def _holder(self, column: int) -> str:
        return holder_of(self._columns.table_names[int(self._columns.table_of[column])].as_py())

    def _keys_of(self, pairs: list[tuple[Columns, Columns, bool]]) -> ForeignKeyTable:
        """Accepted pairs as foreign keys; of those that a person accepted, the side that identifies its rows is the one
        that is referred to."""
        rows = RowTuples(self._columns)
        turned = [(right, left) if not declared and _is_key(rows, left) and not _is_key(rows, right) else (left, right)
                  for left, right, declared in pairs]  # fmt: skip
        overlaps = [rows.overlap(*pair) for pair in turned]
        numbers = np.array([(o.dependent, o.referenced, o.common) for o in overlaps], np.int64).reshape(-1, 3)
        nothing = np.zeros(len(pairs), np.int64)
        evidence = [DECLARED if declared else DECIDED for *_, declared in pairs]
        return ForeignKeyTable(
            running_sum(np.array([len(one) for one, _ in turned], np.int64)),
            np.array([column for one, _ in turned for column in one], np.int64),
            np.array([column for _, other in turned for column in other], np.int64),
            numbers[:, 0], numbers[:, 1], numbers[:, 2],
            np.full(len(pairs), CERTAIN), np.array(evidence, np.int64), nothing, nothing,
        )  # fmt: skip

    def when(self, tables: tuple[Array, Array], names: tuple[Array, Array], score: Array) -> pa.Array:
        """For single columns by table and name, when they were accepted; only certain ones are looked up."""
        known = dict(self._named_times())
        if not known:
            return pa.nulls(len(score), pa.string())
        found: list[str | None] = [None] * len(score)
        for place in np.flatnonzero(score >= CERTAIN).tolist():
            ends = (int(each[place]) for each in (tables[0], names[0], tables[1], names[1]))
            found[place] = known.get(tuple(ends))
        return pa.array(found, pa.string())

    def _named_times(self) -> Iterator[tuple[tuple[int, ...], str]]:
        table_of, name_of = self._columns.table_of, self._columns.name_of
        for pairs, decision in self._joins.items():
            if len(pairs) == 1:
                ((one, other),) = pairs
                ends = table_of[one], name_of[one], table_of[other], name_of[other]
                yield tuple(map(int, ends)), decision.decided

    def _mentions(self, dependent: Array, referenced: Array) -> Array:
        found: Array = np.isin(self._code(dependent, referenced), self._codes)
        return found

    def _code(self, dependent: Array, referenced: Array) -> Array:
        """A number for each pair of columns."""
        code: Array = dependent.astype(np.int64) * len(self._columns) + referenced
        return code


def _known(numbers: dict[str, int], names: Sequence[str]) -> Columns:
    """The numbers of the columns; empty if one of them is not there."""
    return tuple(numbers[name] for name in names) if set(names) <= set(numbers) else ()


def _is_key(rows: RowTuples, columns: Columns) -> bool:
    distinct, filled = rows.distinct(columns)
    return 0 < distinct == filled
