"""Joins cells that hold several values: by their parts, where that is evident.

A join by parts is the join of the table with a row for each part, in which each pair of rows counts once. So it is
judged by the same models, and made by the same executor, as any other join on equal values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail._deadline import Deadline
from dovetail.catalog.decisions import TableDecisions
from dovetail.join.compete import Judged, compete
from dovetail.join.keys import JoinKeys, equal_keys
from dovetail.join.matches import Matches
from dovetail.join.result import JoinResult
from dovetail.normalise.parts import described
from dovetail.tables.column_names import Pair
from dovetail.tables.exploded import Exploded, explode, separator_of, whole
from dovetail.tables.input_table import InputTable


@dataclass(frozen=True)
class PartsJoin:
    """Two tables of which at least one is exploded, and what their cells hold."""

    sides: tuple[Exploded, Exploded]
    why: str
    """That cells hold several values, in a sentence."""

    @property
    def tables(self) -> tuple[InputTable, InputTable]:
        return self.sides[0].table, self.sides[1].table

    def of_cells(self, result: JoinResult, left: InputTable, right: InputTable) -> JoinResult:
        """The join of the exploded tables as that of the tables themselves: each pair of rows once."""
        rows = [side.rows[found] for side, found in zip(self.sides, result.matches[:2], strict=True)]
        pairs = np.unique(rows[0] * np.int64(max(right.rows, 1)) + rows[1])
        mine, theirs = np.divmod(pairs, max(right.rows, 1))
        matched = len(np.unique(mine)), len(np.unique(theirs))
        return replace(result, left=left, right=right, matches=Matches(mine, theirs), matched=matched)

    def keys(self, pairs: list[Pair]) -> JoinKeys:
        return equal_keys(*self.tables, pairs)


def parts_of(left: InputTable, right: InputTable, pair: Pair) -> PartsJoin | None:
    """The tables by the parts of these columns; None where the cells of neither hold several values."""
    separators = [separator_of(table.column(name)) for table, name in zip((left, right), pair, strict=True)]
    if not any(separators):
        return None
    sides = tuple(
        explode(table, name, separator) if separator else whole(table)
        for table, name, separator in zip((left, right), pair, separators, strict=True)
    )
    return PartsJoin((sides[0], sides[1]), several_values(left, right, [pair]))


def several_values(left: InputTable, right: InputTable, on: Sequence[Pair]) -> str:
    """Which of the columns hold several values in a cell, in sentences; nothing where none does."""
    columns = [(table, name) for pair in on for table, name in zip((left, right), pair, strict=True)]
    found = ((table, name, separator_of(table.column(name))) for table, name in columns)
    return " ".join(_sentence(table, name, separator) for table, name, separator in found if separator)


def likely_by_parts(
    left: InputTable, right: InputTable, deadline: Deadline, decisions: TableDecisions
) -> tuple[PartsJoin, Judged] | None:
    """The likeliest join on the parts of one column that holds several values."""
    found = [
        (join, judged)
        for join, side, name in _exploded(left, right)
        if not deadline.is_over
        for judged in compete(*join.tables, deadline, "equal", decisions).judged
        if name in judged.candidate.columns[side]
    ]
    return max(found, key=lambda each: each[1].probability, default=None)


def _exploded(left: InputTable, right: InputTable) -> Iterator[tuple[PartsJoin, int, str]]:
    """Either table by the parts of each of its columns that hold several values."""
    for side, table in enumerate((left, right)):
        for name in table.names:
            separator = separator_of(table.column(name))
            if separator:
                parts, other = explode(table, name, separator), whole(right if side == 0 else left)
                sides = (other, parts) if side else (parts, other)
                yield PartsJoin(sides, _sentence(table, name, separator)), side, name


def _sentence(table: InputTable, name: str, separator: str) -> str:
    return f"Cells of {table.name}.{name} hold several values, {described(separator)}."
