"""Two tables, no hint: on equal values, by a learned transformation, or by likeness."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.equi import MOST_ROWS, Joined
from dovetail.join.fuzzy.columns import likely_ways, together
from dovetail.join.fuzzy.constrained import fuzzy_matches
from dovetail.join.semantic import SemanticPairs, semantic_pairs
from dovetail.join.transform.composite import discover_composite
from dovetail.join.transform.discover import Discovery, discover
from dovetail.join.transform.explain import explained, in_words
from dovetail.join.transform.operators import Program
from dovetail.join.transform.text import join_keys
from dovetail.join.transformation import Transformation
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
    key: Program | None = None  # what is taken of the other side's key, where it is composite

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
            "key": in_words(self.key) if self.key else None,
            "pairs": self.pairs.num_rows,
            **{name: getattr(self, name) for name in counts},
        }


def join(
    left: Any,
    right: Any,
    by: str | Transformation | None = None,
    equal: str | tuple[str, str] | None = None,
    on: tuple[str, str] | None = None,
) -> TwoTables:
    """Join two tables (paths or frames) whose columns nobody names; for `by="semantic"`, `on` may name them.

    `by` allows one way only: equal values, a learned transformation, likeness, or near vectors (semantic). Without it,
    a transformation (which may be none at all: equal values) is looked for, and likeness joins the rows that it leaves.
    With likeness alone, `equal` names a column (of both, or one of each) that must be equal beside it. `by` may also be
    a transformation that was learned before: then nothing is looked for.
    """
    if isinstance(by, str) and by not in WAYS:
        raise InputError(f"There is no way {by!r}. The ways are: {', '.join(WAYS)}.")
    if on is not None and by != "semantic":
        raise InputError("Columns are named for a semantic join of two tables, or for a join with a table of the lake.")
    begun = time.perf_counter()
    tables = [_rows(data) for data in (left, right)]
    sides = _columns(tables[0]), _columns(tables[1])
    for name, side in zip(on or (), sides, strict=False):
        if name not in side:
            raise UnknownName(unknown("There is no column", name, list(side)))
    found = _Found(sides, _equal_columns(equal, by, sides))
    if isinstance(by, Transformation):
        found.transform(_known(by, sides))
    elif by == "semantic":
        found.semantic(semantic_pairs(*sides, on))
    elif by != "fuzzy":
        learned = discover(*sides, only_equal=by == "equal")
        found.transform(learned or (None if by == "equal" else discover_composite(*sides)))
    if by in (None, "fuzzy"):
        found.fuzzy(_LEAST_ALIKE if by is None else 0.0)
    data = None if isinstance(left, str | Path) else left
    return replace(found.result(tables[0], tables[1], data), seconds=round(time.perf_counter() - begun, 3))


def _known(way: Transformation, sides: tuple[Columns, Columns]) -> Discovery:
    for names, side in ((way.columns, sides[way.reversed]), ([way.target], sides[not way.reversed])):
        for name in names:
            _require(name, side)
    return Discovery(way.programs, way.columns[0], way.target, way.reversed, way.key)


def _require(name: str, side: Columns) -> None:
    if name not in side:
        raise UnknownName(unknown("There is no column", name, list(side)))


def _equal_columns(
    equal: str | tuple[str, str] | None, by: Any, sides: tuple[Columns, Columns]
) -> tuple[str, str] | None:
    if equal is None:
        return None
    if by != "fuzzy":
        raise InputError("A column that must be equal goes with likeness: add --by fuzzy.")
    pair = (equal, equal) if isinstance(equal, str) else equal
    for name, side in zip(pair, sides, strict=True):
        _require(name, side)
    return pair


class _Found:
    """What has been found so far. The source is transformed; the target has the key."""

    def __init__(self, sides: tuple[Columns, Columns], equal: tuple[str, str] | None) -> None:
        self.sides = sides
        self.equal = equal
        self.discovery: Discovery | None = None
        self.pairs: list[tuple[int, int]] = []  # source, target
        self.alike = 0
        self.way: str | None = None  # where it is known from the start
        self.reversed = False
        self.columns: tuple[tuple[str, ...], tuple[str, ...]] = (), ()  # of source and target

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
        self.columns = tuple(read), (discovery.target,)
        rows_of = {key: rows for (_, key), rows in _places(join_keys(discovery.keys_of(self.target))).items()}
        waiting = list(range(len(self.source[discovery.source])))
        for program in discovery.programs:
            part = {name: [self.source[name][row] for row in waiting] for name in program.columns}
            keys = dict(zip(waiting, join_keys(program.apply(part)), strict=True))
            self._add((row, rows_of[key]) for row, key in keys.items() if key in rows_of)
            waiting = [row for row, key in keys.items() if key not in rows_of]

    def semantic(self, pairs: SemanticPairs | None) -> None:
        if pairs is not None:
            self.columns = (pairs.left_column,), (pairs.right_column,)
            self._add((row, [other]) for row, other in pairs.rows)
        self.way = "semantic"

    def fuzzy(self, least: float) -> None:
        """Joins the rows that are left, by what the best program makes of them, or else by the likeliest columns.

        In the second case nothing is joined where less than a share of the values is alike: that may be chance.
        """
        if self.discovery is not None:
            values, keys = self._made(self.discovery), self.discovery.keys_of(self.target)
        else:
            ways = likely_ways(*self.sides)
            if ways is None:
                return
            self.reversed, self.columns = ways.reversed, (ways.source, ways.target)
            values, keys = together(self.source, ways.source), together(self.target, ways.target)
        joined, met = ({pair[side] for pair in self.pairs} for side in (0, 1))
        rows_of = _places([None if row in joined else value for row, value in enumerate(values)], self.blocks(0))
        keys_of = _places(keys, self.blocks(1))
        taken = [place for place, rows in enumerate(keys_of.values()) if not met.isdisjoint(rows)]
        matches = fuzzy_matches(
            [text for _, text in rows_of], [text for _, text in keys_of], taken, _numbers(rows_of, keys_of)
        )
        if self.discovery is None and len(matches) < least * len(rows_of):
            return
        before = len(self.pairs)
        of_value, of_key = list(rows_of.values()), list(keys_of.values())
        for value, key in matches:
            self._add((row, of_key[key]) for row in of_value[value])
        self.alike = len(self.pairs) - before

    def blocks(self, side: int) -> list[str | None] | None:
        """What must be equal beside the likeness, for each row of the source (0) or the target (1)."""
        if self.equal is None:
            return None
        return join_keys(self.sides[side != self.reversed][self.equal[side != self.reversed]])

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
        of_source, of_target = self.columns if pairs else ((), ())
        columns = (of_target, of_source) if self.reversed else (of_source, of_target)
        programs = self.discovery.programs if self.discovery else ()
        plain = bool(programs) and all(program.is_identity for program in programs)
        way = self.way or ("fuzzy" if not programs else "equal" if plain else "transform")
        side = ("right" if self.reversed else "left") if programs and not plain else None
        shown = () if plain else programs
        key = self.discovery.key if self.discovery else None
        return TwoTables(left, right, data, table, way, columns[0], columns[1], shown, side, self.alike, 0.0, key)


Places = dict[tuple[str | None, str], list[int]]


def _places(texts: Sequence[str | None], blocks: Sequence[str | None] | None = None) -> Places:
    """The rows of each text, and of each block that it stands in. A row without text, or without block, has none."""
    places: Places = {}
    for row, text in enumerate(texts):
        block = blocks[row] if blocks else None
        if text and (block or not blocks):
            places.setdefault((block, text), []).append(row)
    return places


def _numbers(values: Places, keys: Places) -> tuple[Any, Any]:
    """The blocks as numbers that mean the same on both sides."""
    number: dict[str | None, int] = {}
    sides = [[number.setdefault(block, len(number)) for block, _ in side] for side in (values, keys)]
    return np.array(sides[0], np.int64), np.array(sides[1], np.int64)


def _rows(data: Any) -> pa.Table:
    if not isinstance(data, str | Path):
        return pa.Table.from_batches(as_batches(data))
    if not Path(data).is_file():
        raise InputError(f"There is no file {data}.")
    return pa.Table.from_batches(read_file(Path(data)))


def _columns(table: pa.Table) -> Columns:
    return {name: table.column(name).to_pylist() for name in table.column_names}
