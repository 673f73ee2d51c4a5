"""The best predicates of some tables, with the columns' names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dovetail._deadline import Deadline
from dovetail._text import table_lines
from dovetail.catalog.decisions import NO_DECISIONS, Decision, TableDecisions
from dovetail.errors import InputError
from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.groups import TwoCoded
from dovetail.join.best_predicate.scores import DEFAULT, Joined, Preferred, preference_of
from dovetail.join.best_predicate.search import best_predicates
from dovetail.join.compete import compete
from dovetail.join.judge import NamedColumns
from dovetail.join.request import SECONDS
from dovetail.results import html_table
from dovetail.tables.input_table import InputTable

PROBABILITY = "probability"
"""The name of the score where no preference is given: how likely a person would accept the join."""
_DIGITS = 4


@dataclass(frozen=True)
class ColumnPair:
    """Two columns that must be equal; tables are numbered from 0."""

    left_table: int
    left: str
    right_table: int
    right: str

    def to_dict(self) -> dict[str, Any]:
        return {"left": self.left, "right": self.right, "left_table": self.left_table, "right_table": self.right_table}


@dataclass(frozen=True)
class NamedPredicate:
    """Pairs of columns to join on, with the score and the counts of the join."""

    pairs: tuple[ColumnPair, ...]
    score: float
    joined: Joined
    decided: str | None = None  # when a person decided that these columns join
    declared: bool = False  # whether a database declares that they do

    def __str__(self) -> str:
        return self.written(("left", "right"))

    def written(self, tables: Sequence[str]) -> str:
        """In one line; with the tables' names if there are more than two."""
        decided = " (decided)" if self.decided else " (declared)" if self.declared else ""
        if len(self.joined.sizes) == 2:
            return " and ".join(f"{pair.left} = {pair.right}" for pair in self.pairs) + decided
        return " and ".join(
            f"{tables[pair.left_table]}.{pair.left} = {tables[pair.right_table]}.{pair.right}" for pair in self.pairs
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": [pair.to_dict() for pair in self.pairs],
            "score": self.score,
            "joined_rows": self.joined.rows,
            "matched_rows": list(self.joined.matched),
            "groups": self.joined.groups,
            "decided": self.decided,
            "declared": self.declared,
        }


@dataclass(frozen=True, repr=False)
class Predicates:
    """The best predicates by a preference, best first."""

    prefer: str
    predicates: tuple[NamedPredicate, ...]
    complete: bool  # False if the time ran out before all others were ruled out

    def __len__(self) -> int:
        return len(self.predicates)

    def __getitem__(self, place: int) -> NamedPredicate:
        return self.predicates[place]

    def shown(self, tables: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
        """Headings, and a row of cells for each predicate; `tables` are the names of the tables."""
        names = tables or [f"table_{number + 1}" for number in range(self._tables)]
        rows = [[f"{each.score:,.6g}", f"{each.joined.rows:,}", each.written(names)] for each in self.predicates]
        return [self.prefer, "joined rows", "predicate"], rows

    @property
    def _tables(self) -> int:
        return len(self.predicates[0].joined.sizes) if self.predicates else 0

    def __repr__(self) -> str:
        headings, rows = self.shown()
        return "\n".join(table_lines(headings, rows, headings[:2])) if rows else "no columns of equal values"

    def _repr_html_(self) -> str:
        return html_table(*self.shown())


def named_predicates(
    tables: Sequence[InputTable],
    prefer: Preferred | None = None,
    k: int = 5,
    seconds: float = SECONDS,
    decisions: Sequence[TableDecisions] = (),
) -> Predicates:
    """The k best predicates; without a preference, of two tables those that a person would most likely accept.

    `decisions` are those about every two tables, in the order of `itertools.combinations`: none that a person rejected
    is offered, and without a preference, those that a person accepted come first.
    """
    preference = preference_of(DEFAULT if prefer is None else prefer)
    if k < 1:
        raise InputError(f"`k` is {k}; it must be at least 1.")
    if prefer is None and len(tables) == 2:
        return _likely(tables, k, seconds, *decisions)
    coded = code_tables(tables)
    names = [
        [table.columns[place].name for place in each.columns] for table, each in zip(tables, coded.tables, strict=True)
    ]
    decided = dict(zip(itertools.combinations(range(len(tables)), 2), decisions, strict=bool(decisions)))
    more = sum(len(of.rejected) for of in decided.values())  # those of several columns are left out afterwards
    coded = replace(coded, excluded=frozenset(_excluded(names, decided)))
    best = best_predicates(coded, preference, k + more, seconds)
    found = []
    for each in best.predicates:
        pairs = tuple(ColumnPair(x, names[x][a], y, names[y][b]) for x, a, y, b in each.pairs)
        said = [(of, *_columns(pairs, *two)) for two, of in decided.items()]
        if not any(of.rejects(mine, theirs) for of, mine, theirs in said):
            accepted = said[0][0].accepts(*said[0][1:]) if len(said) == 1 else None
            found.append(NamedPredicate(pairs, each.score, each.joined, *_author(accepted)))
    return Predicates(preference.name, tuple(found[:k]), best.complete)


def _excluded(
    names: list[list[str]], decided: Mapping[tuple[int, int], TableDecisions]
) -> Iterator[tuple[int, int, int, int]]:
    """The pairs of single columns that a person rejected, as far as they are coded."""
    for (x, y), decisions in decided.items():
        for decision in decisions.rejected:
            (mine, *more), theirs = decision.left_columns, decision.right_columns[0]
            if not more and mine in names[x] and theirs in names[y]:
                yield x, names[x].index(mine), y, names[y].index(theirs)


def _columns(pairs: Sequence[ColumnPair], x: int, y: int) -> tuple[list[str], list[str]]:
    """The columns of two of the tables."""
    some = [pair for pair in pairs if (pair.left_table, pair.right_table) == (x, y)]
    return [pair.left for pair in some], [pair.right for pair in some]


def _likely(
    tables: Sequence[InputTable], k: int, seconds: float, decisions: TableDecisions = NO_DECISIONS
) -> Predicates:
    left, right = tables
    choice = compete(left, right, Deadline(seconds), "equal", decisions)
    offered: list[tuple[NamedColumns, float, Joined]] = []
    for judged in choice.judged:
        assert judged.candidate.counts is not None  # every equal candidate has them
        offered.append((judged.candidate.columns, round(judged.probability, _DIGITS), judged.candidate.counts))
    known = {frozenset(zip(*columns, strict=True)) for columns, _, _ in offered}
    missing = [each for each in decisions.accepted if each.pairs not in known]
    offered += _counted(left, right, missing)
    first, others = [], []
    for columns, score, joined in offered:
        accepted = decisions.accepts(*columns)
        pairs = tuple(ColumnPair(0, a, 1, b) for a, b in zip(*columns, strict=True))
        if accepted:
            first.append(NamedPredicate(pairs, 1.0, joined, *_author(accepted)))
        else:
            others.append(NamedPredicate(pairs, score, joined))
    first.sort(key=lambda each: each.declared)  # a person's word comes first
    return Predicates(PROBABILITY, tuple([*first, *others][:k]), choice.complete)


def _author(decision: Decision | None) -> tuple[str | None, bool]:
    """When a person decided, and whether a database declares it."""
    return (None, False) if decision is None else (decision.when, decision.declared)


def _counted(
    left: InputTable, right: InputTable, decisions: Sequence[Decision]
) -> Iterator[tuple[NamedColumns, float, Joined]]:
    """Columns that did not compete, with the counts of their joins, where anything joins."""
    if not decisions:
        return
    coded = code_tables((left, right))
    mine, theirs = (
        {table.names[place]: number for number, place in enumerate(each.columns)}
        for table, each in zip((left, right), coded.tables, strict=True)
    )
    for each in decisions:
        if set(each.left_columns) <= set(mine) and set(each.right_columns) <= set(theirs):
            joined = TwoCoded(coded).joined([(0, mine[a], 1, theirs[b]) for a, b in each.pairs])
            if joined is not None:
                yield (each.left_columns, each.right_columns), 1.0, joined
