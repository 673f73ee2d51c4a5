"""The verbs as tools of the Model Context Protocol, for AI assistants.

Answers are small: the best few, with the reasons, and how to get the rest. A joined table is kept by the server under a
name, so that its rows need not pass through the assistant.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from dovetail import __version__
from dovetail._cancel import Cancelled
from dovetail.methods.registry import JoinBy, SearchBy
from dovetail.search.hit import Hit
from dovetail.serve.problems import explained
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.work import Workers

T = TypeVar("T")
Answer = dict[str, Any]
_SAMPLE, _NAMES, _CELL = 5, 12, 120  # rows, column names and characters of a cell that an assistant sees at once
_INSTRUCTIONS = """Dovetail finds, explains and makes joins in a data lake: a collection of tables.
Start with `search` to find tables that join with a table of the lake, or `find` to look for a value or a column name.
`give_table` hands over a table of the user. `join` makes a table that is kept under a name: `rows`, `sql`, `search` and
`join` take that name. Probabilities say how likely a person who knows both tables would accept the join."""

Table = Annotated[
    str, Field(description="A table of the lake by its id, or a name that give_table, join or sql returned.")
]
Offset = Annotated[int, Field(ge=0, description="How many to leave out: to see more.")]
K = Annotated[int, Field(ge=1, le=50, description="How many to return.")]


class Tools:
    """The tools over one service."""

    def __init__(self, service: Service, workers: Workers, read_only: bool = True) -> None:
        self._service, self._workers = service, workers
        self.server = MCPServer("dovetail", title="Dovetail", instructions=_INSTRUCTIONS, version=__version__,
                                log_level="WARNING")  # fmt: skip
        asking = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        for tool in (
            self.search, self.union, self.join, self.sql, self.map, self.predicates, self.keys, self.foreign_keys,
            self.inds, self.paths, self.graph, self.tables, self.columns, self.find, self.rows, self.give_table,
        ):  # fmt: skip
            self.server.add_tool(tool, annotations=asking, structured_output=True)
        if not read_only:
            self.server.add_tool(self.decide, annotations=ToolAnnotations(read_only_hint=False), structured_output=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await _told(self._workers.run(work))

    async def _run_on_lake(self, work: Callable[[], T]) -> T:
        return await _told(self._workers.run_on_lake(work))

    async def _ask(self, verb: str, **options: Any) -> Any:
        return await _told(self._workers.ask(Question(verb, options)))

    async def search(
        self, table: Table, on: str | None = None, k: K = 5, offset: Offset = 0,
        by: SearchBy = "equal",
    ) -> Answer:  # fmt: skip
        """Find tables of the lake that join with a table. `on` names a column of it, or several with commas between."""
        hits = await self._ask("search", table=table, on=on, k=offset + k, by=by)
        return {"hits": [_hit(hit) for hit in hits[offset:]], "exact": hits.exact, "sentence": hits.sentence,
                "more": _more(len(hits) == offset + k, offset + k)}  # fmt: skip

    async def union(self, table: Table, k: K = 5) -> Answer:
        """Find tables of the lake whose rows could be appended to a table."""
        hits = await self._ask("union", table=table, k=k)
        return {"hits": [_without(hit.to_dict(), "only_theirs") for hit in hits]}

    async def join(
        self, table: Table, other: Table, on: str | None = None,
        how: Literal["inner", "left", "right", "outer", "semi", "anti"] = "inner",
        by: JoinBy | None = None,
    ) -> Answer:  # fmt: skip
        """Join two tables, on left=right, or several of these with commas between; or on the best columns it finds."""
        found = await self._ask("join", table=table, other=other, rows=_SAMPLE, on=on, how=how, by=by)
        told = ("sentence", "why", "probability", "rows", "cardinality", "matched_left", "matched_right",
                "unmatched_left_sample", "table", "sql")  # fmt: skip
        words = [program["words"] for program in found["programs"]]
        return {name: found[name] for name in told} | {"programs": words, **_preview(found)}

    async def sql(self, table: Table, query: str) -> Answer:
        """Run a SELECT of DuckDB over a table, which is called `result` in the query."""
        found = await self._ask("sql", table=table, query=query, rows=_SAMPLE)
        return {"table": found["table"], "rows": found["rows"], **_preview(found)}

    async def map(self, table: Table, column: str, examples: dict[str, str], k: K = 20) -> Answer:
        """Find what belongs to each value of a column, from examples such as {"Japan": "Tokyo"}."""
        written = [f"{value}={partner}" for value, partner in examples.items()]
        found = await self._ask("map", table=table, column=column, examples=written)
        return {"pairs": found["pairs"][:k], "mapped": len(found["pairs"]), "values": found["values"],
                "tables": found["tables"][:_SAMPLE]}  # fmt: skip

    async def predicates(self, table: Table, other: Table, k: K = 5) -> Answer:
        """Rank the columns on which two tables join."""
        found: Answer = await self._ask("predicates", tables=[table, other], k=k)
        return found

    async def keys(self, tables: str = "*", k: K = 10) -> Answer:
        """Columns that identify the rows of their table; `tables` is a glob."""
        return {"keys": await self._run_on_lake(lambda: self._service.keys(tables, k))}

    async def foreign_keys(self, tables: str = "*", k: K = 10) -> Answer:
        """Columns that likely refer to a key of another table, with reasons; `tables` is a glob."""
        return {"foreign_keys": await self._run_on_lake(lambda: self._service.foreign_keys(tables, None, k))}

    async def inds(self, k: K = 10) -> Answer:
        """Columns whose values all occur in a column of another table."""
        return {"dependencies": await self._run_on_lake(lambda: self._service.inds(k))}

    async def paths(self, start: Table, end: Table, hops: Annotated[int, Field(ge=1, le=5)] = 3, k: K = 3) -> Answer:
        """How two tables of the lake can be joined over others, with SQL."""
        found = await self._run_on_lake(lambda: self._service.paths(start, end, hops, k))
        return {"paths": found.to_dicts()}

    async def graph(self, k: K = 10) -> Answer:
        """Which tables are connected by likely foreign keys, and around which columns."""
        graph = await self._run_on_lake(self._service.graph)
        components = graph.components()
        return {
            "tables": len(graph.tables), "edges": len(graph.edges), "components": len(components),
            "largest": [part[:_NAMES] for part in components[:_SAMPLE]], "hubs": graph.hubs().to_dicts()[:k],
        }  # fmt: skip

    async def tables(self, pattern: str = "*", k: K = 20, offset: Offset = 0) -> Answer:
        """List tables of the lake whose id matches a glob."""
        lines = await self._run(lambda: self._service.lake.tables(pattern))
        part = [line.to_dict() for line in lines[offset : offset + k]]
        return {"total": len(lines), "tables": part, "more": _more(len(lines) > offset + k, offset + k)}

    async def columns(self, table: Table) -> Answer:
        """The columns of a table of the lake, with their profiles."""
        found = await self._run(lambda: self._service.lake.table(table))
        told = ("column", "type", "distinct", "nulls", "key", "min", "max", "sample")
        columns = [{name: column.to_dict()[name] for name in told} for column in found.columns]
        return {"table": table, "rows": found.rows, "columns": columns}

    async def find(self, value: str | None = None, column: str | None = None, k: K = 20) -> Answer:
        """Find the columns that contain a value, or those whose name matches a glob."""
        found = await self._run(lambda: self._service.find(value, column))
        return {"total": len(found), "columns": [each.to_dict() for each in found[:k]]}

    async def rows(self, table: Table, offset: Offset = 0, k: K = 10) -> Answer:
        """Some rows of a table."""
        found = await self._run(lambda: self._service.rows(table, offset, k))
        return {"total": found["rows"], **_preview(found, k), "more": _more(found["rows"] > offset + k, offset + k)}

    async def give_table(self, content: Annotated[str, Field(max_length=5_000_000)], name: str = "table.csv") -> Answer:
        """Hand over a table of the user as CSV; returns the name by which the other tools take it."""

        def keep() -> Any:
            with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
                place = Path(folder) / "upload.csv"
                place.write_text(content, encoding="utf-8")
                return self._service.upload(place, name)

        kept = await self._run(keep)
        return {"table": kept.name, "rows": kept.rows, "columns": list(kept.columns[:_NAMES])}

    async def decide(
        self, left: Table, right: Table, on: str, verdict: Literal["joins", "never"], note: str = "",
        values: Annotated[tuple[str, str] | None, Field(description="A value of each column: only these.")] = None,
    ) -> Answer:  # fmt: skip
        """Keep with the index that columns of two tables of the lake join, or never do. Only what the user decided."""
        kept = await self._run(lambda: self._service.lake.decide(left, right, on, verdict, note, values=values))
        return kept.to_dict()


async def _told(answer: Awaitable[T]) -> T:
    """What goes wrong is a sentence for the assistant."""
    try:
        return await answer
    except Cancelled:
        raise
    except Exception as error:
        raise ToolError(str(explained(error, "a tool"))) from error


def _hit(hit: Hit) -> Answer:
    """What an assistant needs to choose, and to join."""
    return {
        "table": hit.table,
        "on": ",".join(f"{mine}={theirs}" for mine, theirs in zip(hit.on, hit.columns * len(hit.on), strict=False)),
        "by": hit.by,
        "probability": None if hit.probability is None else round(hit.probability, 3),
        "covers": f"{hit.overlap:,} of {hit.query_size:,} values",
        "cardinality": hit.cardinality,
        "joined_rows": hit.joined_rows,
        "reasons": list(hit.reasons),
        "objections": list(hit.objections),
        "matched": list(hit.matched[:_SAMPLE]),
        "unmatched": list(hit.unmatched[:_SAMPLE]),
        "brings": list(hit.brings[:_NAMES]),
        "copies": len(hit.copies),
    }


def _preview(found: Answer, rows: int = _SAMPLE) -> Answer:
    """The first rows, with long cells and most of many columns cut off."""
    cut = [[cell[:_CELL] if isinstance(cell, str) else cell for cell in row[:_NAMES]] for row in found["data"][:rows]]
    return {"columns": found["columns"][:_NAMES], "column_count": len(found["columns"]), "preview": cut}


def _more(there_is: bool, offset: int) -> str | None:
    return f"Ask again with offset={offset}." if there_is else None


def _without(body: Answer, *names: str) -> Answer:
    return {name: value for name, value in body.items() if name not in names}
