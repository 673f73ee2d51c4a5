"""The best predicates of some tables, with the columns' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail._deadline import Deadline
from dovetail._text import table_lines
from dovetail.errors import InputError
from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.scores import DEFAULT, PREFERENCES, Joined
from dovetail.join.best_predicate.search import best_predicates
from dovetail.join.compete import compete
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

    def __str__(self) -> str:
        return self.written(("left", "right"))

    def written(self, tables: Sequence[str]) -> str:
        """In one line; with the tables' names if there are more than two."""
        if len(self.joined.sizes) == 2:
            return " and ".join(f"{pair.left} = {pair.right}" for pair in self.pairs)
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
    tables: Sequence[InputTable], prefer: str | None = None, k: int = 5, seconds: float = SECONDS
) -> Predicates:
    """The k best predicates; without a preference, of two tables those that a person would most likely accept."""
    if prefer is not None and prefer not in PREFERENCES:
        raise InputError(f"`prefer` is {prefer!r}; it must be one of {', '.join(PREFERENCES)}.")
    if k < 1:
        raise InputError(f"`k` is {k}; it must be at least 1.")
    if prefer is None and len(tables) == 2:
        return _likely(tables, k, seconds)
    coded = code_tables(tables)
    names = [
        [table.columns[place].name for place in each.columns] for table, each in zip(tables, coded.tables, strict=True)
    ]
    best = best_predicates(coded, PREFERENCES[prefer or DEFAULT], k, seconds)
    found = [
        NamedPredicate(
            tuple(ColumnPair(x, names[x][a], y, names[y][b]) for x, a, y, b in each.pairs), each.score, each.joined
        )
        for each in best.predicates
    ]
    return Predicates(prefer or DEFAULT, tuple(found), best.complete)


def _likely(tables: Sequence[InputTable], k: int, seconds: float) -> Predicates:
    left, right = tables
    choice = compete(left, right, Deadline(seconds), "equal")
    found = []
    for judged in choice.judged[:k]:
        pairs = tuple(ColumnPair(0, a, 1, b) for a, b in zip(*judged.candidate.columns, strict=True))
        assert judged.candidate.counts is not None  # every equal candidate has them
        found.append(NamedPredicate(pairs, round(judged.probability, _DIGITS), judged.candidate.counts))
    return Predicates(PROBABILITY, tuple(found), choice.complete)
