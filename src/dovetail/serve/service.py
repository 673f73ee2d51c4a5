"""The verbs of the library for clients of a server: over one index, with limits, on tables by name.

A table is a table of the lake by its id, an upload or a result. No name is ever taken for a path of the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._cancel import check_cancelled
from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.graph.join_graph import JoinGraph
from dovetail.indexes.open_segment import find_table
from dovetail.join.result import JoinResult
from dovetail.results import Rows
from dovetail.search.hits import Hits
from dovetail.serve.kept import KeptTable, KeptTables, Step, is_kept, result_name
from dovetail.serve.limits import Limits
from dovetail.serve.problems import TOO_LARGE, Refused
from dovetail.serve.question import Question
from dovetail.serve.sql import run_sql
from dovetail.tables.frames import typed
from dovetail.tables.input_table import InputTable, lake_table, only_column
from dovetail.transform.transformation import Transformation

_UNCERTAIN = 20  # pairs of values to look at; arbitrary, as many as a person looks through
_GRAPHS = 2  # that are kept: one of each kind of edges
_LOOK = 1.0  # seconds between two looks for a new generation of the index


class Service:
    """An index that is served: what every face of the server asks."""

    def __init__(self, index: str, folder: Path, limits: Limits | None = None) -> None:
        self.index = index
        self.limits = limits or Limits()
        self.kept = KeptTables(folder, self.limits)
        self._lake = Lake(index)
        self._looked = time.monotonic()
        self._lock = threading.Lock()
        self._graphs: dict[tuple[str, float | None, str], JoinGraph] = {}

    @property
    def lake(self) -> Lake:
        """The newest generation; questions that are under way keep theirs."""
        with self._lock:
            if time.monotonic() - self._looked > _LOOK:
                self._lake, self._looked = self._lake.newest(), time.monotonic()
            return self._lake

    def state(self, generation: int = 0) -> str:
        """What an answer depends on besides the question: the generation, at least the given one, and the decisions."""
        with self._lock:
            if self._lake.generation < generation:
                self._lake = self._lake.newest()
        return self.lake.state

    def catch_up(self, state: str | None) -> None:
        """Look for a new generation at once if another process has answered over a state that is not known here.

        Otherwise whoever got that answer could be given an older one next. None: the state changed meanwhile.
        """
        if state != self.lake.state:
            with self._lock:
                self._lake, self._looked = self._lake.newest(), time.monotonic()

    def answers(self, question: Question, generation: int = 0) -> Generator[Any, None, str | None]:
        """The answers to a question, one after another, over the given generation or a newer one.

        Returns the state of the index that they belong to, or None if it has changed meanwhile.
        """
        before = self.state(generation)
        found = getattr(self, question.verb)(**question.options)
        yield from found if isinstance(found, Iterator) else (found,)
        return before if before == self.state() else None

    def warm_up(self) -> None:
        """Load what the first question would wait for."""
        self.lake.search({"warm": ["up"], "values": ["now"]}, k=1)

    # Tables

    def open(self, name: str, lake: Lake | None = None) -> InputTable:
        """A table of the lake, an upload or a result."""
        if not is_kept(name):
            return lake_table(*find_table((lake or self.lake).segments, name, "There is no table"))
        kept = self.kept.open(name)
        if kept is None:
            self._again(name)
            kept = self.kept.open(name)
            assert kept is not None  # it was just made
        return kept

    def title(self, name: str) -> str:
        """What people call a table."""
        return self.kept.describe(name).title if is_kept(name) else name

    def upload(self, file: Path, title: str) -> KeptTable:
        return self.kept.keep_upload(file, title)

    def rows(self, name: str, offset: int = 0, limit: int = 100) -> dict[str, Any]:
        """Some rows of a table, with values of their types."""
        table = self.open(name)
        part = _typed(table.text.slice(offset, min(limit, self.limits.shown_rows)))
        return {"table": name, "title": self.title(name), "rows": table.rows, "columns": table.names,
                "offset": offset, "data": _cells(part)}  # fmt: skip

    def content(self, name: str) -> pa.Table:
        """All rows of a table, with values of their types."""
        table = self.open(name)
        return _typed(table.text if table.data is None else table.data)

    def history(self, name: str) -> list[dict[str, Any]]:
        """How a table was made, from its first table on; a table of the lake is its own whole history."""
        found: list[dict[str, Any]] = []
        while is_kept(name):
            kept = self.kept.describe(name)
            found.append(kept.to_dict())
            if kept.step is None:
                return found[::-1]
            name = kept.step["table"]
        table = self.open(name)
        return [{"table": name, "title": name, "rows": table.rows, "columns": table.names, "step": None}, *found[::-1]]

    # Questions about tables

    def search(self, table: str, **options: Any) -> Hits:
        lake = self.lake
        return lake.search(self.open(table, lake), **self._checked(options))

    def search_stages(self, table: str, **options: Any) -> Iterator[Hits]:
        lake = self.lake
        yield from lake.search_iter(self.open(table, lake), **self._checked(options))

    def union(self, table: str, k: int = 10, tables: Sequence[str] = ()) -> Any:
        lake = self.lake
        return lake.union(self.open(table, lake), min(k, self.limits.hits), tables=tables)

    def join(self, table: str, other: str, rows: int = 100, **options: Any) -> dict[str, Any]:
        """The report of a join; with `rows`, the joined table is made and kept, and its first rows are returned."""
        step = {"verb": "join", "table": table, "with": other, **_given(options), "state": self.lake.state}
        joined = self._joined(step)
        program = joined.transformation.to_json() if joined.transformation else None
        uncertain = {"uncertain": joined.uncertain(_UNCERTAIN)}
        report = {**joined.report, "sentence": joined.sentence, "program": program, **uncertain}
        if not rows:
            return {**report, "table": None, "columns": [], "data": []}
        kept = self._keep_join(step, joined)
        part = self.rows(kept.name, 0, rows)
        return {**report, "table": kept.name, "columns": part["columns"], "data": part["data"]}

    def sql(self, table: str, query: str, rows: int = 100) -> dict[str, Any]:
        """The answer to a SELECT over a table, which is kept; and its first rows."""
        step = {"verb": "sql", "table": table, "query": query}
        name = result_name(step)
        if not self._has(name):
            self._keep_sql(step)
        return self.rows(name, 0, rows)

    def predicates(self, tables: Sequence[str], prefer: str | None = None, k: int = 5) -> dict[str, Any]:
        lake = self.lake
        opened = [self.open(name, lake) for name in tables]
        found = lake.predicates(*opened, prefer=prefer, k=min(k, self.limits.hits))
        listed = [predicate.to_dict() for predicate in found.predicates]
        return {"prefer": found.prefer, "complete": found.complete, "predicates": listed}

    def map(
        self, table: str, column: str | None = None, to: str | None = None, to_column: str | None = None,
        examples: Sequence[str] = (),
    ) -> dict[str, Any]:  # fmt: skip
        if bool(examples) == bool(to):
            raise InputError("Give either `to`, a table with the values to choose from, or `example` pairs.")
        lake = self.lake
        mine = self.open(table, lake)
        target: Any = dict(map(_pair, examples))
        if to:
            target = only_column(self.open(to, lake), to_column).written.to_pylist()
        found = lake.map(mine, target, column=column)
        size = only_column(mine, column).size
        return {"pairs": found.to_dicts(), "tables": found.tables.to_dicts(), "values": size}

    # Questions about the lake

    def graph(self, min_score: float | None = None, edges: str = "keys") -> JoinGraph:
        """The join graph, made once for a state of the index."""
        lake = self.lake
        key = lake.state, min_score, edges
        graph = self._graphs.get(key)
        if graph is None:
            graph = lake.graph(min_score, edges=edges, progress=_cancellable)
            self._graphs = {**{of: made for of, made in self._graphs.items() if of[0] == key[0]}, key: graph}
            while len(self._graphs) > _GRAPHS:
                del self._graphs[next(iter(self._graphs))]
        return graph

    def foreign_keys(self, tables: str | None, min_score: float | None, k: int) -> list[dict[str, Any]]:
        found = self.lake.foreign_keys(min_score, tables=tables, progress=_cancellable)
        return found.to_dicts(min(k, self.limits.shown_rows))

    def find(self, value: str | None, column: str | None) -> Rows[Any]:
        """The columns that contain a value, or whose name matches a glob."""
        if (value is None) == (column is None):
            raise InputError("Give either `value` or `column`.")
        return self.lake.find(value) if value is not None else self.lake.find_columns(str(column))

    def keys(self, tables: str | None, k: int) -> list[dict[str, Any]]:
        return self.lake.keys(tables=tables, progress=_cancellable).to_dicts(min(k, self.limits.shown_rows))

    def inds(self, k: int, **options: Any) -> list[dict[str, Any]]:
        return self.lake.inds(**options, progress=_cancellable).to_dicts(min(k, self.limits.shown_rows))

    def paths(self, start: str, end: str, hops: int = 3, k: int = 5) -> Rows[Any]:
        lake = self.lake
        for name in (start, end):
            find_table(lake.segments, name, "There is no table")
        return lake.paths(start, end, hops, k, progress=_cancellable)

    # Results and their steps

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        if (options.get("k") or 0) > self.limits.hits:
            raise InputError(f"`k` is {options['k']}; it must be at most {self.limits.hits:,}.")
        if options.get("threshold") is not None and options.get("k") is None:
            return {**options, "k": self.limits.hits}
        return options

    def _joined(self, step: Step) -> JoinResult:
        options = {name: value for name, value in step.items() if name not in ("verb", "table", "with", "state")}
        if "program" in options:
            options["by"] = Transformation.from_json(options.pop("program"))
        lake = self.lake
        left, right = self.open(step["table"], lake), self.open(step["with"], lake)
        limit = min(self.limits.rows, options.pop("max_rows", self.limits.rows))
        return lake.join(left, right, max_rows=limit, **options)

    def _keep_join(self, step: Step, joined: JoinResult) -> KeptTable:
        row = sum(side.text.nbytes / max(1, side.rows) for side in (joined.left, joined.right))
        if joined.rows * row > self.limits.table_bytes:
            raise Refused(TOO_LARGE, f"The joined table needs more than {self.limits.table_mb:,} MB of memory.")
        check_cancelled()
        title = f"{joined.left.name} + {joined.right.name.rpartition('/')[2]}"
        return self.kept.keep_result(step, title, joined.table)

    def _keep_sql(self, step: Step) -> KeptTable:
        found = run_sql(self.content(step["table"]), step["query"], self.limits)
        return self.kept.keep_result(step, f"{self.title(step['table'])}, by SQL", found)

    def _has(self, name: str) -> bool:
        try:
            return self.kept.open(name) is not None
        except Refused:
            return False

    def _again(self, name: str) -> None:
        """Take the step of a result whose rows had to make room."""
        step = self.kept.describe(name).step
        assert step is not None  # uploads are there, or gone for good
        if step["verb"] == "join":
            self._keep_join(step, self._joined(step))
        else:
            self._keep_sql(step)


def _cancellable(stage: str, done: int, total: int) -> None:
    """Progress of a long question, which ends here if nobody waits for it."""
    check_cancelled()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value not in (None, False, ())}


def _pair(written: str) -> tuple[str, str]:
    value, sign, partner = written.partition("=")
    if not (value and sign and partner):
        raise InputError(f"`example` is {written!r}; it must be of the form value=partner.")
    return value, partner


def _typed(table: pa.Table) -> pa.Table:
    """With numbers, dates and booleans instead of text; the answer to a query has its types already."""
    return typed(table) if all(pa.types.is_string(kind) for kind in table.schema.types) else table


def _cells(table: pa.Table) -> list[list[Any]]:
    """Rows of plain values: what JSON has no type for becomes text."""
    columns = [[_cell(value) for value in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
