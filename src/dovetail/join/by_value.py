"""Two tables whose keys are written differently: by a transformation, and by likeness for what that leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.joined import MOST_ROWS, Joined, Matches
from dovetail.join.semantic import SemanticPairs
from dovetail.similar.columns import likely_ways, together
from dovetail.similar.matching import fuzzy_matches
from dovetail.tables.side import Side
from dovetail.transform.discover import Discovery
from dovetail.transform.text import join_keys
from dovetail.transform.transformation import Transformation

Columns = dict[str, list[str | None]]


def known(way: Transformation, sides: tuple[Columns, Columns]) -> Discovery:
    for names, side in ((way.columns, sides[way.reversed]), ([way.target], sides[not way.reversed])):
        for name in names:
            _require(name, side)
    return Discovery(way.programs, way.columns[0], way.target, way.reversed, way.key)


def _require(name: str, side: Columns) -> None:
    if name not in side:
        raise UnknownName(unknown("There is no column", name, list(side)))


def equal_columns(equal: str | tuple[str, str] | None, sides: tuple[Columns, Columns]) -> tuple[str, str] | None:
    if equal is None:
        return None
    pair = (equal, equal) if isinstance(equal, str) else equal
    require_columns(pair, sides)
    return pair


def require_columns(pair: tuple[str, str] | None, sides: tuple[Columns, Columns]) -> None:
    for name, side in zip(pair, sides, strict=True) if pair else ():
        _require(name, side)


class Found:
    """Pairs of rows by transformation and likeness. The source is transformed; the target has the key."""

    def __init__(self, sides: tuple[Columns, Columns], equal: tuple[str, str] | None) -> None:
        self.sides = sides
        self.equal = equal
        self.discovery: Discovery | None = None
        self.pairs: list[tuple[int, int]] = []  # source, target
        self.alike = 0
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

    @property
    def plain(self) -> bool:
        """Whether the programs leave the column as it is: equal values."""
        return self.discovery is not None and all(program.is_identity for program in self.discovery.programs)

    def joined(self, sides: tuple[Side, Side], how: str) -> Joined:
        pairs = np.array(sorted((b, a) if self.reversed else (a, b) for a, b in self.pairs), np.int64).reshape(-1, 2)
        of_source, of_target = self.columns if self.pairs else ((), ())
        reads = (of_target, of_source) if self.reversed else (of_source, of_target)
        matches = Matches(pairs[:, 0].copy(), pairs[:, 1].copy())
        matched = len(np.unique(matches.left)), len(np.unique(matches.right))
        return Joined(sides[0], sides[1], matches, tuple(zip(*reads, strict=False)), how, matched, None, reads)


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


def text_columns(side: Side) -> Columns:
    return {name: side.table.column(name).to_pylist() for name in side.names}
