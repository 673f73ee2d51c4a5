"""Two tables, no hint: on equal values, by a learned transformation, or by likeness."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.equi import MOST_ROWS, Joined
from dovetail.join.fuzzy.constrained import fuzzy_matches
from dovetail.join.semantic import SemanticPairs, semantic_pairs
from dovetail.join.transform.discover import Discovery, discover, likely_columns
from dovetail.join.transform.explain import explained
from dovetail.join.transform.operators import Extract, Program
from dovetail.join.transform.text import join_keys
from dovetail.search.query import as_batches, read_file

WAYS = ("equal", "transform", "fuzzy", "semantic")
_LEAST_ALIKE = 0.3  # of the values, where nothing but likeness joins two tables and nobody asked for it
Columns = dict[str, list[str | None]]


@dataclass(frozen=True)
class TwoTables:
    """Two tables joined, and how: `way` is one of WAYS. Likeness also joins what the first two leave."""

    left: pa.Table = field(repr=False)
    right: pa.Table = field(repr=False)
    data: Any = field(repr=False)  # what the left table was made of; null where it was a file
    pairs: pa.Table = field(repr=False)  # left_row and right_row, counted from 0
    way: str
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    programs: tuple[Program, ...]
    transformed: str | None  # the side that the programs read: left or right
    fuzzy_pairs: int  # how many of the pairs are joined by likeness only
    seconds: float

    @property
    def program(self) -> Program | None:
        """The best of the programs; null where the values are equal, or only alike."""
        return self.programs[0] if self.programs else None

    @property
    def matched_left(self) -> int:
        return len(self.pairs["left_row"].unique())

    @property
    def matched_right(self) -> int:
        return len(self.pairs["right_row"].unique())

    @cached_property
    def table(self) -> pa.Table:
        """The joined rows as text: an inner join, the right table's columns after the left one's."""
        return self._joined.table

    @cached_property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that went in."""
        return self._joined.frame

    @property
    def _joined(self) -> Joined:
        places = self.pairs.rename_columns(["left", "right"])
        on = tuple(zip(self.left_columns, self.right_columns, strict=False))
        return Joined(self.left, self.right, places, self.data, on, "inner", self.matched_left, self.matched_right, ())

    @property
    def report(self) -> dict[str, Any]:
        names = ("way", "left_columns", "right_columns", "transformed")
        counts = ("fuzzy_pairs", "matched_left", "matched_right", "seconds")
        return {
            **{name: getattr(self, name) for name in names},
            "program": [{"steps": program.to_json(), **explained(program)} for program in self.programs],
            "pairs": self.pairs.num_rows,
            **{name: getattr(self, name) for name in counts},
        }


def join(left: Any, right: Any, by: str | None = None, on: tuple[str, str] | None = None) -> TwoTables:
    """Join two tables (paths or frames) whose columns nobody names; for `by="semantic"`, `on` may name them.

    `by` allows one way only: equal values, a learned transformation, likeness, or near vectors (semantic). Without it,
    a transformation (which may be none at all: equal values) is looked for, and likeness joins the rows that it leaves.
    """
    if by is not None and by not in WAYS:
        raise InputError(f"There is no way {by!r}. The ways are: {', '.join(WAYS)}.")
    if on is not None and by != "semantic":
        raise InputError("Columns are named for a semantic join of two tables, or for a join with a table of the lake.")
    begun = time.perf_counter()
    tables = [_rows(data) for data in (left, right)]
    sides = _columns(tables[0]), _columns(tables[1])
    for name, side in zip(on or (), sides, strict=False):
        if name not in side:
            raise UnknownName(unknown("There is no column", name, list(side)))
    found = _Found(sides)
    if by == "semantic":
        found.semantic(semantic_pairs(*sides, on))
    if by not in ("fuzzy", "semantic"):
        found.transform(discover(*sides, only_equal=by == "equal"))
    if by in (None, "fuzzy"):
        found.fuzzy(_LEAST_ALIKE if by is None else 0.0)
    data = None if isinstance(left, str | Path) else left
    return replace(found.result(tables[0], tables[1], data), seconds=round(time.perf_counter() - begun, 3))


class _Found:
    """What has been found so far. The source is transformed; the target has the key."""

    def __init__(self, sides: tuple[Columns, Columns]) -> None:
        self.sides = sides
        self.discovery: Discovery | None = None
        self.pairs: list[tuple[int, int]] = []  # source, target
        self.alike = 0
        self.way: str | None = None  # where it is known from the start
        self.reversed = False
        self.columns: tuple[tuple[str, ...], str] | None = None  # of source and target

    @property
    def source(self) -> Columns:
        return self.sides[self.reversed]

    @property
    def target(self) -> Columns:
        return self.sides[not self.reversed]

    def transform(self, discovery: Discovery | None) -> None:
        if discovery is None:
            return
        self.discovery, self.reversed = discovery, discovery.reversed
        read = dict.fromkeys(column for program in discovery.programs for column in program.columns)
        self.columns = tuple(read), discovery.target
        rows_of = _places(join_keys(self.target[discovery.target]))
        waiting = list(range(len(self.source[discovery.source])))
        for program in discovery.programs:
            part = {name: [self.source[name][row] for row in waiting] for name in program.columns}
            keys = dict(zip(waiting, join_keys(program.apply(part)), strict=True))
            self._add((row, rows_of[key]) for row, key in keys.items() if key in rows_of)
            waiting = [row for row, key in keys.items() if key not in rows_of]

    def semantic(self, pairs: SemanticPairs | None) -> None:
        if pairs is not None:
            self.columns = (pairs.left_column,), pairs.right_column
            self._add((row, [other]) for row, other in pairs.rows)
        self.way = "semantic"

    def fuzzy(self, least: float) -> None:
        """Joins the rows that are left, by what the best program makes of them, or else by the likeliest columns.

        In the second case nothing is joined where less than a share of the values is alike: that may be chance.
        """
        if self.discovery is not None:
            values = self._made(self.discovery)
            key = self.discovery.target
        else:
            likely = likely_columns(*self.sides)
            if likely is None:
                return
            column, key, self.reversed = likely
            values = self.source[column]
            self.columns = (column,), key
        joined = {row for row, _ in self.pairs}
        rows_of = _places([None if row in joined else value for row, value in enumerate(values)])
        keys_of = _places(self.target[key])
        met = {row for _, row in self.pairs}
        keys = list(keys_of)
        taken = [place for place, name in enumerate(keys) if not met.isdisjoint(keys_of[name])]
        before = len(self.pairs)
        texts = list(rows_of)
        matches = fuzzy_matches(texts, keys, taken)
        if self.discovery is None and len(matches) < least * len(texts):
            return
        for value, place in matches:
            self._add((row, keys_of[keys[place]]) for row in rows_of[texts[value]])
        self.alike = len(self.pairs) - before

    def _made(self, discovery: Discovery) -> list[str | None]:
        made = discovery.programs[0].apply(self.source)
        return [value or raw for value, raw in zip(made, self.source[discovery.source], strict=True)]

    def _add(self, matches: Iterable[tuple[int, Sequence[int]]]) -> None:
        for row, others in matches:
            self.pairs += [(row, other) for other in others]
            if len(self.pairs) > MOST_ROWS:
                raise InputError(f"Stopped: the join would have more than {MOST_ROWS:,} rows.")

    def result(self, left: pa.Table, right: pa.Table, data: Any) -> TwoTables:
        pairs = sorted((b, a) if self.reversed else (a, b) for a, b in self.pairs)
        schema = pa.schema([("left_row", pa.int64()), ("right_row", pa.int64())])
        table = pa.table([[pair[side] for pair in pairs] for side in (0, 1)], schema=schema)
        of_source, of_target = (self.columns[0], (self.columns[1],)) if self.columns and pairs else ((), ())
        columns = (of_target, of_source) if self.reversed else (of_source, of_target)
        programs = self.discovery.programs if self.discovery else ()
        plain = bool(programs) and all(_is_identity(program) for program in programs)
        way = self.way or ("fuzzy" if not programs else "equal" if plain else "transform")
        side = ("right" if self.reversed else "left") if programs and not plain else None
        shown = () if plain else programs
        return TwoTables(left, right, data, table, way, columns[0], columns[1], shown, side, self.alike, 0.0)


def _is_identity(program: Program) -> bool:
    step = program.steps[0]
    return len(program.steps) == 1 and isinstance(step, Extract) and step == Extract(step.column, case=step.case)


def _places(keys: Sequence[str | None]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        if key:
            places.setdefault(key, []).append(row)
    return places


def _rows(data: Any) -> pa.Table:
    if not isinstance(data, str | Path):
        return pa.Table.from_batches(as_batches(data))
    if not Path(data).is_file():
        raise InputError(f"There is no file {data}.")
    return pa.Table.from_batches(read_file(Path(data)))


def _columns(table: pa.Table) -> Columns:
    return {name: table.column(name).to_pylist() for name in table.column_names}
