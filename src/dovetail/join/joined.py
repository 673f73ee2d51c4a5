"""What joined: pairs of rows, made into a table of the kind of join that was asked for, and the report on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.join.pair_kernels import with_unmatched
from dovetail.join.sql import join_sql, result_names
from dovetail.tables.frames import like, typed
from dovetail.tables.side import Side

KINDS = ("inner", "left", "right", "outer", "semi", "anti")
MOST_ROWS = 50_000_000
_SHOWN = 5


def check_kind(how: str) -> None:
    if how not in KINDS:
        raise InputError(f"There is no join {how!r}. The kinds are: {', '.join(KINDS)}.")


class Matches(NamedTuple):
    """Pairs of rows that join, counted from 0, by left row and then by right row."""

    left: Array
    right: Array


@dataclass(frozen=True)
class Joined:
    """What joined. Rows are in the order of the left table, then of the right one; its unmatched rows come last."""

    left: Side = field(repr=False)
    right: Side = field(repr=False)
    matches: Matches = field(repr=False)
    on: tuple[tuple[str, str], ...]  # pairs of a left and a right column
    how: str
    matched: tuple[int, int]  # rows of either table with a partner
    first: int | None = None  # only so many rows are wanted
    reads: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # the columns that decide, where none need be equal

    @property
    def left_rows(self) -> int:
        return self.left.rows

    @property
    def right_rows(self) -> int:
        return self.right.rows

    @property
    def matched_left(self) -> int:
        return self.matched[0]

    @property
    def matched_right(self) -> int:
        return self.matched[1]

    @property
    def rows(self) -> int:
        return int(self.places.num_rows)

    @cached_property
    def places(self) -> pa.Table:
        """For each joined row, which of the left and which of the right table; null where there is none."""
        if self.how in ("semi", "anti"):
            has_partner = np.zeros(self.left_rows, bool)
            has_partner[self.matches.left] = True
            return pa.table({"left": np.flatnonzero(has_partner == (self.how == "semi"))}).slice(0, self.first)
        keep = np.array([self.how in ("left", "outer"), self.how in ("right", "outer")])
        rows: tuple[Array, ...] = self.matches
        if keep.any():
            rows = with_unmatched(*self.matches, self.left_rows, self.right_rows, keep)
        sides = {side: pa.array(each, mask=each < 0) for side, each in zip(("left", "right"), rows, strict=True)}
        return pa.table(sides).slice(0, self.first)

    @cached_property
    def table(self) -> pa.Table:
        """The joined rows as text, as it stands in the files."""
        return like(self.left.table, self.places["left"], self._of_right(self.right.table))

    @cached_property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that went in, with its types; an Arrow table for a file."""
        mine = typed(self.left.table) if self.left.data is None else self.left.data
        return like(mine, self.places["left"], self._of_right(typed(self.right.table)))

    def _of_right(self, columns: pa.Table) -> pa.Table:
        if "right" not in self.places.column_names:
            return pa.table({})
        names = result_names(self.left.names, columns.column_names)
        return columns.take(self.places["right"]).rename_columns(names)

    @property
    def unmatched(self) -> tuple[str, ...]:
        """A sample of the left table's keys."""
        return self._unmatched(self.left, self.matches.left, 0)

    @property
    def unmatched_right(self) -> tuple[str, ...]:
        return self._unmatched(self.right, self.matches.right, 1)

    def _unmatched(self, side: Side, matched: Array, place: int) -> tuple[str, ...]:
        names = list(self.reads[place] if self.reads else dict.fromkeys(pair[place] for pair in self.on))
        if not names:
            return ()
        alone = np.ones(side.rows, bool)
        alone[matched] = False
        for name in names:
            alone &= side.column(name).codes() >= 0
        lost = side.table.select(names).filter(pa.array(alone))
        keys = pc.binary_join_element_wise(*lost.columns, " | ") if len(names) > 1 else lost.column(0)
        return tuple(pc.unique(keys).slice(0, _SHOWN).to_pylist())

    @property
    def cardinality(self) -> str:
        """From the left table to the right one: 1:1, N:1, 1:N or N:M."""
        pairs = len(self.matches.left)
        several = pairs > self.matched_right, pairs > self.matched_left
        return {(False, False): "1:1", (True, False): "N:1", (False, True): "1:N", (True, True): "N:M"}[several]

    @cached_property
    def sql(self) -> str | None:
        """A query for DuckDB that gives the same rows; null where no short one does."""
        return join_sql(self.left, self.right, self.matches, self.on, self.how, self.reads)

    def facts(self) -> dict[str, Any]:
        pairs = len(self.matches.left)
        return {
            "left_rows": self.left_rows,
            "right_rows": self.right_rows,
            "matched_left": self.matched_left,
            "matched_right": self.matched_right,
            "unmatched_left": self.left_rows - self.matched_left,
            "unmatched_right": self.right_rows - self.matched_right,
            "cardinality": self.cardinality,
            "repeated_left": pairs - self.matched_left,
            "repeated_right": pairs - self.matched_right,
            "unmatched_left_sample": self.unmatched,
            "unmatched_right_sample": self.unmatched_right,
            "sql": self.sql,
        }

    def report(self) -> dict[str, Any]:
        names = ("on", "how", "left_rows", "right_rows", "matched_left", "matched_right", "unmatched", "rows")
        return {**{name: getattr(self, name) for name in names}, "report": self.facts()}
