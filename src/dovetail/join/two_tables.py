"""Two tables, and as much or as little said as one likes: on given columns, on equal values, by a learned
transformation, by likeness, or by near vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import SECONDS, NamedPredicate, Predicates, named_predicates
from dovetail.join.by_value import Found, equal_columns, known, require_columns, text_columns
from dovetail.join.equi import equi_join
from dovetail.join.joined import MOST_ROWS, Joined, check_kind
from dovetail.join.semantic import semantic_pairs
from dovetail.tables.column_names import Names, column_pairs
from dovetail.tables.side import Side
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.explain import explained, in_words
from dovetail.transform.operators import Program
from dovetail.transform.transformation import Transformation

WAYS = ("equal", "transform", "fuzzy", "semantic")
_LEAST_ALIKE = 0.3  # of the values, where nothing but likeness joins two tables and nobody asked for it
_LEAST_EQUAL = 0.3  # of the rows of one table, where they neither show a key nor cover both tables
_MANY_PARTNERS = 10  # joined rows for each row of the larger table


@dataclass(frozen=True)
class Asked:
    """What a user may say about a join. Without columns (`on`) or a way (`by`), the values decide."""

    on: Names | None = None
    how: str = "inner"
    by: str | Transformation | None = None
    prefer: str | None = None
    seconds: float = SECONDS
    most_rows: int = MOST_ROWS
    equal: str | tuple[str, str] | None = None  # beside likeness

    def check(self) -> None:
        check_kind(self.how)
        if self.seconds <= 0 or self.most_rows < 1:
            raise InputError("The seconds and the most rows of a join must be more than 0.")
        if isinstance(self.by, str) and self.by not in WAYS:
            raise InputError(f"There is no way {self.by!r}. The ways are: {', '.join(WAYS)}.")
        if self.on is not None and (self.by not in (None, "semantic") or self.prefer):
            raise InputError("The columns are given: there is nothing to prefer, and no way to choose but semantic.")
        if self.prefer is not None and self.by not in (None, "equal"):
            raise InputError(f"A preference is for joins on equal values, not for the way {self.by}.")
        if self.equal is not None and self.by != "fuzzy":
            raise InputError("A column that must be equal goes with likeness: add --by fuzzy.")


@dataclass(frozen=True)
class TwoTables:
    """Two tables joined, and how: `way` is given, equal, transform, fuzzy or semantic.

    Likeness also joins the rows that a transformation leaves.
    """

    joined: Joined = field(repr=False)
    way: str
    why: str
    programs: tuple[Program, ...] = ()
    transformed: str | None = None  # the side that the programs read: left or right
    fuzzy_pairs: int = 0  # how many of the pairs are joined by likeness only
    chosen: NamedPredicate | None = None
    prefer: str | None = None
    complete: bool = True  # false where the time was over before every other predicate had been ruled out
    seconds: float = 0.0
    key: Program | None = None  # what is taken of the other side's key, where it is composite

    @property
    def left(self) -> pa.Table:
        return self.joined.left.table

    @property
    def right(self) -> pa.Table:
        return self.joined.right.table

    @property
    def pairs(self) -> pa.Table:
        """left_row and right_row of every pair that joins, counted from 0."""
        return pa.table({"left_row": self.joined.matches.left, "right_row": self.joined.matches.right})

    @property
    def left_columns(self) -> tuple[str, ...]:
        return self._columns(0)

    @property
    def right_columns(self) -> tuple[str, ...]:
        return self._columns(1)

    def _columns(self, place: int) -> tuple[str, ...]:
        if self.joined.reads is not None:
            return self.joined.reads[place]
        return tuple(dict.fromkeys(pair[place] for pair in self.joined.on))

    @property
    def program(self) -> Program | None:
        """The best of the programs; null where the values are equal, or only alike."""
        return self.programs[0] if self.programs else None

    @property
    def transformation(self) -> Transformation | None:
        """The programs and what they reach, as a value that can be saved and used again."""
        if self.transformed is None:
            return None
        turned = self.transformed == "right"
        return Transformation(self.programs, turned, (self.left_columns if turned else self.right_columns)[0], self.key)

    @property
    def predicate(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns whose values are equal; empty for the other ways."""
        return self.joined.on if self.way in ("given", "equal") else ()

    @property
    def how(self) -> str:
        return self.joined.how

    @property
    def rows(self) -> int:
        return self.joined.rows

    @property
    def matched_left(self) -> int:
        return self.joined.matched_left

    @property
    def matched_right(self) -> int:
        return self.joined.matched_right

    @property
    def table(self) -> pa.Table:
        """The joined rows as text, the right table's columns after the left one's."""
        return self.joined.table

    @property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that went in."""
        return self.joined.frame

    @property
    def sql(self) -> str | None:
        return self.joined.sql

    @property
    def report(self) -> dict[str, Any]:
        return {
            "way": self.way,
            "why": self.why,
            "prefer": self.prefer,
            "score": self.chosen.score if self.chosen else None,
            "complete": self.complete,
            "predicate": [{"left": left, "right": right} for left, right in self.predicate],
            "how": self.how,
            "rows": self.rows,
            "left_columns": self.left_columns,
            "right_columns": self.right_columns,
            "transformed": self.transformed,
            "program": [{"steps": program.to_json(), **explained(program)} for program in self.programs],
            "key": in_words(self.key) if self.key else None,
            "pairs": len(self.joined.matches.left),
            "fuzzy_pairs": self.fuzzy_pairs,
            "matched_left": self.matched_left,
            "matched_right": self.matched_right,
            "seconds": self.seconds,
            "report": self.joined.facts(),
        }


def join_two(left: Side, right: Side, asked: Asked) -> TwoTables:
    sides = left, right
    if asked.by == "semantic":
        return _semantic(sides, asked)
    if asked.on is not None:
        return _given(sides, asked)
    if asked.by not in (None, "equal"):
        return _by_value(sides, asked)
    found = named_predicates([left.query, right.query], asked.prefer, 1, asked.seconds)
    best = found[0] if len(found) else None
    if best and (asked.by or asked.prefer or best.is_believed):
        return _equal(sides, asked, found, best)
    if asked.by is None:
        answer = _by_value(sides, asked)
        if len(answer.joined.matches.left) or best is None or max(best.shares) < _LEAST_EQUAL:
            return answer
    return _equal(sides, asked, found, best) if best else _nothing(sides, asked)


def _given(sides: tuple[Side, Side], asked: Asked) -> TwoTables:
    pairs = column_pairs(asked.on or (), sides[0].names, sides[1].names)
    joined = equi_join(*sides, pairs, asked.how, None, asked.most_rows)
    return TwoTables(joined, "given", "The columns were given.")


def _equal(sides: tuple[Side, Side], asked: Asked, found: Predicates, best: NamedPredicate) -> TwoTables:
    pairs = [(pair.left, pair.right) for pair in best.pairs]
    joined = equi_join(*sides, pairs, asked.how, None, asked.most_rows)
    late = "" if found.complete else f" The {asked.seconds:g} seconds were over: there may be a better way."
    shares = " and ".join(
        f"{mine:,} of {size:,}" for mine, size in zip(best.joined.matched, best.joined.sizes, strict=True)
    )
    if asked.prefer:
        why = f"No other columns do better by {found.prefer}: {best.score:g}."
    elif best.is_key:
        why = f"One side is a key, and rows have a partner on the other: {shares}."
    elif best.is_believed:
        why = f"Nearly all rows of both tables have a partner: {shares}."
    else:
        why = f"Nothing better was found, and equal values are few: {shares} rows have a partner."
    if best.joined.rows > _MANY_PARTNERS * max(best.joined.sizes):
        why += " Rows have many partners on both sides: this may be no key at all."
    return TwoTables(joined, "equal", why + late, chosen=best, prefer=found.prefer, complete=found.complete)


def _by_value(sides: tuple[Side, Side], asked: Asked) -> TwoTables:
    """By a transformation, and by likeness for what that leaves, or by one of them only."""
    columns = text_columns(sides[0]), text_columns(sides[1])
    found = Found(columns, equal_columns(asked.equal, columns))
    if isinstance(asked.by, Transformation):
        found.transform(known(asked.by, columns))
    elif asked.by != "fuzzy":
        found.transform(discover(*columns) or discover_composite(*columns))
    if asked.by in (None, "fuzzy"):
        found.fuzzy(_LEAST_ALIKE if asked.by is None else 0.0)
    joined = found.joined(sides, asked.how)
    programs = found.discovery.programs if found.discovery and not found.plain else ()
    if not len(joined.matches.left):
        return TwoTables(joined, "fuzzy" if not found.discovery else "transform", "Nothing joins.")
    if not found.discovery:
        why = "No columns of equal values and no transformation join enough rows; the values are alike."
        return TwoTables(joined, "fuzzy", why, fuzzy_pairs=found.alike)
    alike = f" {found.alike:,} more pairs of rows are alike." if found.alike else ""
    if found.plain:
        if not found.alike:
            joined = equi_join(*sides, joined.on, asked.how, None, asked.most_rows)
        return TwoTables(joined, "equal", "Most values of a key are equal." + alike, fuzzy_pairs=found.alike)
    why = "Equal values join too few rows; a transformation of one table's values gives the other's key." + alike
    side = "right" if found.reversed else "left"
    if isinstance(asked.by, Transformation):
        why = "The transformation was given."
    return TwoTables(joined, "transform", why, programs, side, found.alike, key=found.discovery.key)


def _semantic(sides: tuple[Side, Side], asked: Asked) -> TwoTables:
    columns = text_columns(sides[0]), text_columns(sides[1])
    named = column_pairs(asked.on, sides[0].names, sides[1].names) if asked.on is not None else [None]
    if len(named) > 1:
        raise InputError("By near vectors, one pair of columns is joined on.")
    require_columns(named[0], columns)
    found = Found(columns, None)
    found.semantic(semantic_pairs(*columns, named[0]))
    return TwoTables(found.joined(sides, asked.how), "semantic", "Near vectors were asked for.")


def _nothing(sides: tuple[Side, Side], asked: Asked) -> TwoTables:
    return TwoTables(Found(({}, {}), None).joined(sides, asked.how), "equal", "Nothing joins.")
