"""More than two tables, one after the other, on the best predicate that connects them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import NamedPredicate, named_predicates
from dovetail.join.equi import equi_join
from dovetail.join.joined import Joined
from dovetail.join.sql import result_names
from dovetail.join.two_tables import Asked
from dovetail.tables.frames import of_kind, typed
from dovetail.tables.side import Side


@dataclass(frozen=True)
class ManyTables:
    """Tables joined in the order in which each connects to those before."""

    sides: tuple[Side, ...] = field(repr=False)
    steps: tuple[Joined, ...] = field(repr=False)  # each joins one more table
    order: tuple[int, ...]  # of the tables, from 0
    predicate: NamedPredicate
    how: str
    prefer: str
    why: str
    complete: bool
    seconds: float = 0.0
    way: str = "equal"

    @property
    def rows(self) -> int:
        return self.steps[-1].rows

    @property
    def table(self) -> pa.Table:
        """The joined rows as text."""
        return self.steps[-1].table

    @property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that the first table is, with types."""
        return of_kind(self.sides[0].data, typed(self.table))

    @property
    def report(self) -> dict[str, Any]:
        return {
            "way": self.way,
            "why": self.why,
            "prefer": self.prefer,
            "score": self.predicate.score,
            "complete": self.complete,
            "predicate": [pair.to_dict() for pair in self.predicate.pairs],
            "how": self.how,
            "rows": self.rows,
            "order": self.order,
            "seconds": self.seconds,
            "report": [step.facts() for step in self.steps],
        }


def join_many(sides: Sequence[Side], asked: Asked) -> ManyTables:
    if asked.how in ("semi", "anti"):
        raise InputError(f"A {asked.how} join is of two tables.")
    if asked.on is not None or asked.by not in (None, "equal"):
        raise InputError("More than two tables are joined on equal values that are found: leave out --on and --by.")
    found = named_predicates([side.query for side in sides], asked.prefer, 1, asked.seconds)
    if not len(found):
        raise InputError("Nothing joins: no columns of equal values connect all tables.")
    order, steps = _steps(sides, found[0], asked)
    why = f"No other columns that connect all tables do better by {found.prefer}: {found[0].score:g}."
    if not found.complete:
        why = f"The best by {found.prefer} that was found in {asked.seconds:g} seconds: {found[0].score:g}."
    return ManyTables(tuple(sides), steps, order, found[0], asked.how, found.prefer, why, found.complete)


def _steps(
    sides: Sequence[Side], predicate: NamedPredicate, asked: Asked
) -> tuple[tuple[int, ...], tuple[Joined, ...]]:
    """Each table is joined as soon as it connects to those before, on all pairs with them."""
    order = [0]
    whole = sides[0]
    name_of = {(0, name): name for name in sides[0].names}
    steps: list[Joined] = []
    while len(order) < len(sides):
        for table in (table for table in range(len(sides)) if table not in order):
            on = [(name_of[other], column) for other, column in _pairs_with(predicate, table) if other[0] in order]
            if on:
                break
        step = equi_join(whole, sides[table], on, asked.how, None, asked.most_rows)
        names = sides[table].names
        name_of |= {(table, name): new for name, new in zip(names, result_names(whole.names, names), strict=True)}
        whole = Side(step.table, "joined")
        order.append(table)
        steps.append(step)
    return tuple(order), tuple(steps)


def _pairs_with(predicate: NamedPredicate, table: int) -> list[tuple[tuple[int, str], str]]:
    """The pairs of a table: the other table with its column, and the own column."""
    forth = [((pair.left_table, pair.left), pair.right) for pair in predicate.pairs if pair.right_table == table]
    back = [((pair.right_table, pair.right), pair.left) for pair in predicate.pairs if pair.left_table == table]
    return forth + back
