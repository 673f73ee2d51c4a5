"""The result of a join: the joined table, and a report of how its rows joined."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._text import table_lines
from dovetail.errors import InputError
from dovetail.join.compete import Judged
from dovetail.join.keys import DECIDED, EQUAL, SIMILAR, THROUGH, TRANSFORMED
from dovetail.join.matches import SAMPLE, Matches, least_certain, of_pairs, unmatched_values
from dovetail.join.request import SUFFIX
from dovetail.join.sql import join_sql, result_names
from dovetail.join.through_sql import Carrier, Crossing, through_sql
from dovetail.methods.registry import LABELS
from dovetail.results import html_table
from dovetail.tables.frames import like
from dovetail.tables.input_table import InputTable, open_table
from dovetail.through.mapping import ValueMapping
from dovetail.transform.explain import explained
from dovetail.transform.program import Program
from dovetail.transform.transformation import Transformation

_INDICATOR = ("similarity", "origin")
_SHOWN_ROWS, _SHOWN_COLUMNS = 10, 8  # of the joined table, in a notebook or at the prompt


@dataclass(frozen=True, repr=False)
class JoinResult:
    """The result of a join: `frame` and `table` have its rows, `report` says how they joined.

    Rows are in the order of the left table, then of the right one; unmatched rows of the right table come last.
    """

    left: InputTable
    right: InputTable
    matches: Matches
    columns: tuple[tuple[str, ...], tuple[str, ...]]  # of the left and of the right table, that decided
    how: str
    by: str  # the method: equal, parts, transform, similar, semantic or through
    matched: tuple[int, int]  # rows of either table with a match
    why: str = ""
    probability: float | None = None  # that a person would accept it; None if the columns or the method were named
    decided: str | None = None  # when a person decided that these columns join
    declared: bool = False  # whether a database declares that these columns join
    runners_up: tuple[Judged, ...] = ()  # other ways to join, and how likely they are
    transformation: Transformation | None = None  # learned or given; None for other methods
    mapping: ValueMapping | None = None  # of values, by tables of the lake; None for other methods
    carriers: tuple[Carrier, ...] = ()  # tables of the lake that hold all pairs of the mapping
    prefer: str | None = None
    score: float | None = None  # of the columns, by the preference
    by_hand: bool = False  # whether decisions about values have changed who joins
    complete: bool = True  # False if the search for columns ran out of time
    seconds: float = 0.0
    first: int | None = None  # only so many rows are wanted
    suffix: str = SUFFIX
    indicator: bool = False  # columns with the similarity and the origin of each joined row
    both_keys: bool = False  # whether key columns of the same name appear twice though they are equal
    steps: tuple[JoinResult, ...] = ()  # of more than two tables: each joins one more
    order: tuple[int, ...] = (0, 1)  # in which the tables were joined

    @property
    def on(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns; empty if their numbers differ, as after a transformation of several into one."""
        mine, theirs = self.columns
        return tuple(zip(mine, theirs, strict=True)) if len(mine) == len(theirs) else ()

    @property
    def left_columns(self) -> tuple[str, ...]:
        return self.columns[0]

    @property
    def right_columns(self) -> tuple[str, ...]:
        return self.columns[1]

    @property
    def matched_left(self) -> int:
        return self.matched[0]

    @property
    def matched_right(self) -> int:
        return self.matched[1]

    @property
    def is_made(self) -> bool:
        """Whether the tables were joined on some columns, though perhaps no row has a match."""
        return bool(self.columns[0])

    @property
    def rows(self) -> int:
        """The number of joined rows."""
        return int(self._places.num_rows)

    @property
    def pairs(self) -> pa.Table:
        """The row numbers of each joined pair, from 0, with similarity and origin (a name of ORIGINS).

        The similarity of values that join through the lake is the probability that they belong together.
        """
        return self.matches.to_arrow()

    def pairs_by(self, origin: int) -> int:
        """The number of pairs of one origin."""
        return self.matches.number_by(origin)

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of the transformation, each for the rows that those before it leave; empty without one."""
        return self.transformation.programs if self.transformation else ()

    @property
    def program(self) -> Program | None:
        """The first program of the transformation; None without one."""
        return self.programs[0] if self.programs else None

    @property
    def transformed(self) -> str | None:
        """The table that the programs read: left or right."""
        return None if self.transformation is None else "right" if self.transformation.reversed else "left"

    @property
    def cardinality(self) -> str:
        """From the left table to the right one: 1:1, N:1, 1:N or N:M."""
        pairs = len(self.matches.left)
        several = pairs > self.matched_right, pairs > self.matched_left
        return {(False, False): "1:1", (True, False): "N:1", (False, True): "1:N", (True, True): "N:M"}[several]

    @cached_property
    def _places(self) -> pa.Table:
        """For each joined row, the left and the right row; null if there is none."""
        return self.matches.places(self.how, self.left.rows, self.right.rows).slice(0, self.first)

    @cached_property
    def table(self) -> pa.Table:
        """The joined rows as an Arrow table of text, as in the files."""
        return self._joined(self.left.text, self.right.text, pa.string())

    @cached_property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that the left table is, an Arrow table for a file; all with their types.

        Columns have the types of the frame or of the file; those of text files have the types of their values.
        """
        mine = self.left.typed if self.left.data is None else self.left.data
        return self._joined(mine, self.right.typed, pa.float64())

    @cached_property
    def common_keys(self) -> tuple[str, ...]:
        """The key columns that appear once: of the same name, and with equal values in all pairs of rows."""
        if self.by != "equal" or self.both_keys or self.pairs_by(EQUAL) < len(self.matches.left):
            return ()
        return tuple(mine for mine, theirs in self.on if mine == theirs)

    def _joined(self, mine: Any, theirs: pa.Table, number: pa.DataType) -> Any:
        """My rows beside those of the right table, which also fill keys that appear once."""
        if "right" not in self._places.column_names:
            return like(mine, self._places["left"], pa.table({}))
        joined = theirs.rename_columns(self.right.names).take(self._places["right"])
        keys = joined.select(list(self.common_keys))
        return like(
            mine, self._places["left"], self._of_right(joined.drop_columns(list(self.common_keys)), number), keys
        )

    def _of_right(self, joined: pa.Table, number: pa.DataType) -> pa.Table:
        """The right table's columns as they are called; with `indicator`, how similar the pair is and why it joined."""
        if self.indicator:
            for name in _INDICATOR:
                column = of_pairs(self.pairs[name], self._places)
                joined = joined.append_column(name, column.cast(number) if name == "similarity" else column)
        return joined.rename_columns(result_names(self.left.names, joined.column_names, self.suffix))

    @cached_property
    def unmatched_left(self) -> tuple[str, ...]:
        """A sample of the left table's values without a match."""
        return unmatched_values(self.left, self.left_columns, self.matches.left)

    @cached_property
    def unmatched_right(self) -> tuple[str, ...]:
        """A sample of the right table's values without a match."""
        return unmatched_values(self.right, self.right_columns, self.matches.right)

    @cached_property
    def least_similar(self) -> list[dict[str, Any]]:
        """The joined pairs of values that are least similar: those to look at first."""
        return self._least_certain((SIMILAR,), SAMPLE)

    def uncertain(self, most: int) -> list[dict[str, Any]]:
        """Pairs of values that join though they are not equal and nobody decided so, the least certain first."""
        return self._least_certain((SIMILAR, THROUGH), most)

    def _least_certain(self, origins: tuple[int, ...], most: int) -> list[dict[str, Any]]:
        return least_certain(self.matches, origins, (self.left, self.right), self.columns, most)

    @cached_property
    def sql(self) -> str | None:
        """A DuckDB query that gives the same rows; None if no short one does."""
        for carrier in self.carriers:
            if found := self._sql_through(carrier):
                return found
        equal = self.by == "equal" and not self.pairs_by(SIMILAR) and not self.by_hand
        pairs = self.matches.left, self.matches.right
        return join_sql(self.left, self.right, pairs, self.columns, self.how, equal, self.suffix, self.common_keys)

    def sql_over(self, mapping: str | Path) -> str | None:
        """A DuckDB query that joins the mapping of a join through the lake, written to a file, in between.

        The file has the columns `value` and `partner`, as `--mapping` writes it. None if it does not give the rows.
        """
        if self.mapping is None:
            raise InputError("Only a join through the lake has a mapping.")
        types = self.left.column(self.left_columns[0]).type, self.right.column(self.right_columns[0]).type
        return self._sql_through((Crossing(open_table(mapping), "value", "partner", types),))

    def _sql_through(self, carrier: Carrier) -> str | None:
        pairs, columns = (self.matches.left, self.matches.right), (self.left_columns[0], self.right_columns[0])
        return through_sql(self.left, self.right, pairs, columns, carrier, self.how, self.suffix)

    @property
    def report(self) -> dict[str, Any]:
        """Everything about the join except its rows, as `dovetail join --json` prints it."""
        pairs = len(self.matches.left)
        programs = [{"steps": program.to_json(), **explained(program)} for program in self.programs]
        key = self.transformation.key if self.transformation else None
        return {
            "by": self.by,
            "how": self.how,
            "on": [{"left": left, "right": right} for left, right in self.on],
            "left_columns": list(self.left_columns),
            "right_columns": list(self.right_columns),
            "why": self.why,
            "probability": None if self.probability is None else round(self.probability, 4),
            "decided": self.decided,
            "declared": self.declared,
            "runners_up": [each.to_dict() for each in self.runners_up],
            "rows": self.rows,
            "pairs": pairs,
            "equal_pairs": self.pairs_by(EQUAL),
            "transformed_pairs": self.pairs_by(TRANSFORMED),
            "similar_pairs": self.pairs_by(SIMILAR),
            "through_pairs": self.pairs_by(THROUGH),
            "decided_pairs": self.pairs_by(DECIDED),
            "cardinality": self.cardinality,
            "left_rows": self.left.rows,
            "right_rows": self.right.rows,
            "matched_left": self.matched_left,
            "matched_right": self.matched_right,
            "unmatched_left": self.left.rows - self.matched_left,
            "unmatched_right": self.right.rows - self.matched_right,
            "repeated_left": pairs - self.matched_left,
            "repeated_right": pairs - self.matched_right,
            "unmatched_left_sample": list(self.unmatched_left),
            "unmatched_right_sample": list(self.unmatched_right),
            "least_similar": self.least_similar,
            "prefer": self.prefer,
            "score": self.score,
            "complete": self.complete,
            "transformed": self.transformed,
            "programs": programs,
            "bridges": [] if self.mapping is None else self.mapping.tables.to_dicts(),
            "disputed": [] if self.mapping is None else [pair.to_dict() for pair in self.mapping.disputed],
            "key": key.words if key else None,
            "sql": self.sql,
            "order": list(self.order),
            "steps": [step.report for step in self.steps],
            "seconds": self.seconds,
        }

    @property
    def condition(self) -> str:
        """The columns in one line."""
        if self.on:
            return " and ".join(f"{left} = {right}" for left, right in self.on)
        return " = ".join(" and ".join(names) for names in self.columns)

    @property
    def sentence(self) -> str:
        """The join in one sentence: rows, kind, columns, method, cardinality and matched rows."""
        if not len(self.matches.left):
            tried = f": no row matches on {self.condition} ({LABELS[self.by]})" if self.is_made else ""
            return f"Nothing joins{tried}. {self.why}".rstrip()
        method = LABELS[self.by]
        similar = self.pairs_by(SIMILAR) if self.by in ("equal", "transform") else 0
        also = f", {similar:,} of the {len(self.matches.left):,} pairs by similarity" if similar else ""
        return (
            f"{self.rows:,} rows: {self.how} join on {self.condition} ({method}{also}), "
            f"{self.cardinality}. {self.matched_left:,} of {self.left.rows:,} rows on the left match "
            f"{self.matched_right:,} of {self.right.rows:,} on the right."
        )

    def __repr__(self) -> str:
        names, rows = self.shown()
        return "\n".join([f"<{self.sentence}>", *(table_lines(names, rows) if rows else ())])

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>" + html_table(*self.shown())

    def shown(self) -> tuple[list[str], list[list[str]]]:
        """The first rows and columns of the joined table."""
        names = self.table.column_names[:_SHOWN_COLUMNS]
        more = len(self.table.column_names) - len(names)
        rows = [
            [value or "" for value in row.values()] + ([""] if more else [])
            for row in self.table.select(names).slice(0, _SHOWN_ROWS).to_pylist()
        ]
        return [*names, f"(+{more})"] if more else names, rows
