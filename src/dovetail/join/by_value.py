"""Two tables whose keys are written differently: by a learned transformation, and by likeness for what that leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dovetail.errors import InputError
from dovetail.join.fuzzy.constrained import fuzzy_matches
from dovetail.join.joined import MOST_ROWS, Joined, Matches
from dovetail.join.side import Side
from dovetail.join.transform.discover import Discovery, likely_columns
from dovetail.join.transform.operators import Extract, Program
from dovetail.join.transform.text import join_keys

Columns = dict[str, list[str | None]]


class Found:
    """Pairs of rows by transformation and likeness. The source is transformed; the target has the key."""

    def __init__(self, sides: tuple[Columns, Columns]) -> None:
        self.sides = sides
        self.discovery: Discovery | None = None
        self.pairs: list[tuple[int, int]] = []  # source, target
        self.alike = 0
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

    @property
    def plain(self) -> bool:
        """Whether the programs leave the column as it is: equal values."""
        return self.discovery is not None and all(_is_identity(program) for program in self.discovery.programs)

    def joined(self, sides: tuple[Side, Side], how: str) -> Joined:
        pairs = np.array(sorted((b, a) if self.reversed else (a, b) for a, b in self.pairs), np.int64).reshape(-1, 2)
        of_source, of_target = (self.columns[0], (self.columns[1],)) if self.columns and self.pairs else ((), ())
        reads = (of_target, of_source) if self.reversed else (of_source, of_target)
        matches = Matches(pairs[:, 0].copy(), pairs[:, 1].copy())
        matched = len(np.unique(matches.left)), len(np.unique(matches.right))
        return Joined(sides[0], sides[1], matches, tuple(zip(*reads, strict=False)), how, matched, None, reads)


def _is_identity(program: Program) -> bool:
    step = program.steps[0]
    return len(program.steps) == 1 and isinstance(step, Extract) and step == Extract(step.column, case=step.case)


def _places(keys: Sequence[str | None]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        if key:
            places.setdefault(key, []).append(row)
    return places


def text_columns(side: Side) -> Columns:
    return {name: side.table.column(name).to_pylist() for name in side.names}
