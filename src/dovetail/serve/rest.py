"""REST: every verb at an address of its own that ends in `.json`; search also as a stream of events."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, File, Request, UploadFile
from fastapi.responses import Response, StreamingResponse

from dovetail._cancel import Cancelled
from dovetail.errors import DovetailError, InputError
from dovetail.graph.explorer import asset
from dovetail.serve import parameters as p
from dovetail.serve.descriptions import (
    BYTES,
    EVENT,
    PROBLEMS,
    AnyFile,
    DecisionBody,
    Events,
    as_json,
    description_of,
    media,
)
from dovetail.serve.downloads import WRITERS, Downloads, chunks
from dovetail.serve.kept import upload_suffix
from dovetail.serve.problems import NOT_FOUND, TOO_LARGE, Refused, status_of
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.work import Workers

T = TypeVar("T")
Answer = dict[str, Any]
Answers = list[dict[str, Any]]
_CHUNK = 1 << 20
_SAMPLE = 5  # rows of an upload that come back
_NONE: list[str] = []


class Rest:
    """The routes over one service."""

    def __init__(self, service: Service, workers: Workers, read_only: bool = False) -> None:
        self._service, self._workers, self._read_only = service, workers, read_only
        self._downloads = Downloads(service.kept.folder, service.limits.downloads)
        self.router = router = APIRouter(responses=PROBLEMS)
        questions: dict[str, Callable[..., Any]] = {
            "/search.json": self.search, "/union.json": self.union, "/join.json": self.join, "/sql.json": self.sql,
            "/map.json": self.map, "/predicates.json": self.predicates, "/keys.json": self.keys,
            "/foreign_keys.json": self.foreign_keys, "/inds.json": self.inds, "/paths.json": self.paths,
            "/graph.json": self.graph, "/tables.json": self.tables, "/rows.json": self.rows, "/find.json": self.find,
            "/history.json": self.history, "/decisions.json": self.decisions, "/info.json": self.info,
        }  # fmt: skip
        questions["/tables/{name:path}.json"] = self.table
        for path, answer in questions.items():
            router.get(path, tags=["ask"], **description_of(answer))(as_json(answer))
        events, files = media(EVENT, "text/event-stream"), media(BYTES, *(media for _, media in WRITERS.values()))
        router.get("/search.events", tags=["ask"], responses=events, response_class=Events)(self.search_events)
        router.get("/download.{suffix}", tags=["ask"], responses=files, response_class=AnyFile)(self.download)
        router.get("/explorer.json", include_in_schema=False, response_model=None)(as_json(self.explorer))
        router.get("/explorer/{name}", include_in_schema=False)(self.explorer_asset)
        router.post("/uploads.json", tags=["tell"], **description_of(self.upload))(as_json(self.upload))
        router.post("/decisions.json", tags=["tell"], **description_of(self.decide))(as_json(self.decide))
        router.delete("/decisions.json", tags=["tell"], **description_of(self.forget))(as_json(self.forget))

    async def _run(self, request: Request, work: Callable[[], T]) -> T:
        return await self._workers.run(work, request.is_disconnected)

    async def _run_on_lake(self, request: Request, work: Callable[[], T]) -> T:
        return await self._workers.run_on_lake(work, request.is_disconnected)

    async def _ask(self, request: Request, verb: str, **options: Any) -> Any:
        """A question about tables."""
        return await self._workers.ask(Question(verb, options), request.is_disconnected)

    async def search(
        self, request: Request, table: p.Table, on: p.On = None, k: p.K = None, by: p.SearchBy = "equal",
        threshold: p.Share = None, min_similarity: p.Share = None, tables: p.Globs = _NONE, min_overlap: p.Most = 1,
        include_self: bool = False, fast: bool = False, copies: bool | None = None, target: p.Column = None,
    ) -> Answer:  # fmt: skip
        """The tables that join with a table, best first, each with its reasons."""
        options = {
            "on": on, "k": k, "by": by, "threshold": threshold, "min_similarity": min_similarity, "tables": tables,
            "min_overlap": min_overlap, "include_self": include_self, "fast": fast, "copies": copies, "target": target,
        }  # fmt: skip
        hits = await self._ask(request, "search", table=table, **options)
        return {**hits.to_json(), "sentence": hits.sentence or None}

    async def search_events(
        self, request: Request, table: p.Table, on: p.On = None, k: p.K = None, by: p.SearchBy = "equal",
        threshold: p.Share = None, tables: p.Globs = _NONE,
    ) -> StreamingResponse:  # fmt: skip
        """The same as server-sent events: `hit` for each hit and what has changed, `end` after each stage."""
        options = {"on": on, "k": k, "by": by, "threshold": threshold, "tables": tables}
        question = Question("search_stages", {"table": table, **options})
        stages = self._workers.stages(question, request.is_disconnected)
        first = await anext(stages)  # what is wrong with the question has a status of its own

        async def events() -> AsyncIterator[str]:
            async for hits in _after(first, stages):
                stage = {"stage": "exact" if hits.exact else "approximate"}
                for change in hits.changes:
                    yield _event("hit", {**stage, **change.to_dict()})
                counts = {"hits": len(hits), "recall": hits.recall, "sentence": hits.sentence or None}
                yield _event("end", {**stage, **hits.to_json(), **counts})

        return Events(_told(events()), headers={"cache-control": "no-store"})

    async def union(self, request: Request, table: p.Table, k: p.K = 10, tables: p.Globs = _NONE) -> Answer:
        """The tables whose rows could be appended, best first, with their columns aligned."""
        hits = await self._ask(request, "union", table=table, k=k or 10, tables=tables)
        return {**hits.to_json(), "sentence": None if hits else hits.sentence}

    async def join(
        self, request: Request, table: p.Table, other: p.Other, on: p.OnPairs = None, how: p.How = "inner",
        by: p.JoinBy = None, prefer: p.Prefer = None, min_similarity: p.Share = None, one_to_one: bool = False,
        indicator: bool = False, program: p.Program = None, rows: p.Rows = 100,
    ) -> Answer:  # fmt: skip
        """Two tables joined: how, how well, and the first rows. The result is a table under the name in `table`."""
        options = {
            "on": on, "how": how, "by": by, "prefer": prefer, "min_similarity": min_similarity,
            "one_to_one": one_to_one, "indicator": indicator, "program": program_document(program),
        }  # fmt: skip
        found: Answer = await self._ask(request, "join", table=table, other=other, rows=rows, **options)
        return found

    async def sql(self, request: Request, table: p.Table, query: p.Sql, rows: p.Rows = 100) -> Answer:
        """A SELECT over a table, which is called `result` in it. The answer is a table under the name in `table`."""
        found: Answer = await self._ask(request, "sql", table=table, query=query, rows=rows)
        return found

    async def map(
        self, request: Request, table: p.Table, column: p.Column = None, to: p.Column = None,
        to_column: p.Column = None, example: p.Examples = _NONE,
    ) -> Answer:  # fmt: skip
        """The values that belong to those of a column, by tables of the lake that have both in one row."""
        found: Answer = await self._ask(
            request, "map", table=table, column=column, to=to, to_column=to_column, examples=example
        )
        return found

    async def predicates(self, request: Request, tables: p.Tables, prefer: p.Prefer = None, k: p.K = 5) -> Answer:
        """The best columns to join tables on."""
        found: Answer = await self._ask(request, "predicates", tables=tables, prefer=prefer, k=k or 5)
        return found

    async def keys(self, request: Request, tables: p.Glob = "*", k: p.Most = 100) -> Answers:
        """Columns, alone or together, that identify the rows of their table."""
        return await self._run_on_lake(request, lambda: self._service.keys(tables, k))

    async def foreign_keys(
        self, request: Request, tables: p.Glob = "*", min_score: p.Score = None, k: p.Most = 100
    ) -> Answers:
        """Columns that likely refer to a key of another table, with the reasons."""
        return await self._run_on_lake(request, lambda: self._service.foreign_keys(tables, min_score, k))

    async def inds(
        self, request: Request, partial: p.Share = 1, coverage: p.Score = 0.2, integers: bool = False,
        non_unique: bool = False, k: p.Most = 100,
    ) -> Answers:  # fmt: skip
        """Columns whose values all occur in another column."""
        options = {"partial": partial, "coverage": coverage, "integers": integers, "non_unique": non_unique}
        return await self._run_on_lake(request, lambda: self._service.inds(k, **options))

    async def paths(
        self, request: Request, start: p.Name, end: p.Name, hops: Annotated[int, p.Query(ge=1, le=5)] = 3, k: p.K = 5
    ) -> Answers:
        """The best ways to join one table of the lake with another over others."""
        found = await self._run_on_lake(request, lambda: self._service.paths(start, end, hops, k or 5))
        return found.to_dicts()

    async def graph(self, request: Request, min_score: p.Score = None, edges: p.Edges = "keys") -> Answer:
        """The join graph: tables, likely foreign keys between them, components and hubs."""
        return await self._run_on_lake(request, lambda: self._service.graph(min_score, edges).to_json())

    async def explorer(self, request: Request, edges: p.Edges = "keys") -> Answer:
        """What the page of the graph shows."""
        found = await self._run_on_lake(request, lambda: self._service.graph(edges=edges).explorer())
        return {**found, "link": "/tables/"}

    async def explorer_asset(self, name: Literal["explorer.js", "explorer.css"]) -> Response:
        return Response(asset(name), media_type="text/javascript" if name.endswith("js") else "text/css")

    async def tables(
        self, request: Request, pattern: p.Glob = "*", offset: p.Offset = 0, limit: p.Limit = 1_000
    ) -> Answer:
        """The tables of the lake by id."""
        lines = await self._run(request, lambda: self._service.lake.tables(pattern))
        return {"total": len(lines), "tables": [line.to_dict() for line in lines[offset : offset + limit]]}

    async def table(self, request: Request, name: p.TablePath) -> Answer:
        """A table of the lake, with the profiles of its columns."""
        return await self._run(request, lambda: _profile(self._service.lake.table(name)))

    async def rows(self, request: Request, table: p.Table, offset: p.Offset = 0, limit: p.Limit = 100) -> Answer:
        """Some rows of a table."""
        return await self._run(request, lambda: self._service.rows(table, offset, limit))

    async def find(
        self, request: Request, value: p.Value = None, column: p.ColumnGlob = None, limit: p.Limit = 100
    ) -> Answer:
        """The columns that contain a value, or those whose name matches a glob."""
        found = await self._run(request, lambda: self._service.find(value, column))
        return {"total": len(found), "columns": [each.to_dict() for each in found[:limit]]}

    async def history(self, request: Request, table: p.Table) -> Answers:
        """How a table was made, step by step, from its first table on."""
        return await self._run(request, lambda: self._service.history(table))

    async def info(self, request: Request) -> Answer:
        """What the index is made of."""
        return await self._run(request, self._service.lake.info)

    async def decisions(self, request: Request) -> Answers:
        """What people decided about columns, the latest first."""
        found = await self._run(request, self._service.lake.decisions)
        return found.to_dicts()

    async def decide(self, request: Request, body: DecisionBody) -> Answer:
        """Keep with the index that columns of two tables, or two values of them, join or never do."""
        self._writes()
        lake, values = self._service.lake, _pair(body.values)
        asked = (body.left, body.right, body.on, body.verdict, body.note)
        kept = await self._run(request, lambda: lake.decide(*asked, values=values))
        return kept.to_dict()

    async def forget(
        self, request: Request, left: p.Name, right: p.Name, on: p.Name, values: p.Values = None
    ) -> Answer:
        """Forget what was decided about columns, or about two values of them."""
        self._writes()
        found = await self._run(request, lambda: self._service.lake.forget(left, right, on, values=_pair(values)))
        return found.to_dict()

    async def download(self, request: Request, suffix: p.FileFormat, table: p.Table) -> Response:
        """A table as a file."""

        self._downloads.check_room()
        content = await self._run(request, lambda: self._downloads.write(self._service.content(table), suffix))
        title = await self._run(request, lambda: self._service.title(table))
        name = quote(f"{title.rpartition('/')[2].rpartition('.')[0] or 'table'}.{suffix}")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}", "content-length": str(content.tell())}
        return StreamingResponse(chunks(content), media_type=WRITERS[suffix][1], headers=headers)

    async def upload(self, request: Request, file: Annotated[UploadFile, File(description="The table.")]) -> Answer:
        """Send a table: CSV, TSV, JSON lines, Parquet or Arrow. It is kept for a while, under the name in `table`."""
        title, limit = file.filename or "table.csv", self._service.limits
        with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
            place = Path(folder) / f"upload{upload_suffix(title)}"
            size = 0
            with place.open("wb") as out:
                while chunk := await file.read(_CHUNK):
                    size += len(chunk)
                    if size > limit.upload_bytes:
                        raise Refused(TOO_LARGE, f"The file is larger than {limit.upload_mb:,} MB.")
                    out.write(chunk)
            kept = await self._run(request, lambda: self._service.upload(place, title))
            first = await self._run(request, lambda: self._service.rows(kept.name, 0, _SAMPLE))
            return {**kept.to_dict(), "data": first["data"]}

    def _writes(self) -> None:
        if self._read_only:
            raise Refused(403, "This server only answers questions: it was started with --read-only.")


def _profile(table: Any) -> Answer:
    if table.error:
        raise Refused(NOT_FOUND, f"{table.name} is not a table: {table.error}.")
    return {"table": table.name, "rows": table.rows, "columns": table.columns.to_dicts()}


def _pair(values: list[str] | None) -> tuple[str, str] | None:
    return None if values is None else (values[0], values[1])


def program_document(program: str | None) -> Any:
    """A transformation as a client writes it in an address."""
    if program is None:
        return None
    try:
        document = json.loads(program)
    except (ValueError, RecursionError):
        raise InputError("`program` is not JSON.") from None
    if not isinstance(document, dict):
        raise InputError("`program` is not a transformation: it holds no JSON object.")
    return document


def _event(kind: str, body: Answer) -> str:
    return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n"


async def _after(first: T, rest: AsyncIterator[T]) -> AsyncIterator[T]:
    yield first
    async for each in rest:
        yield each


async def _told(events: AsyncIterator[str]) -> AsyncIterator[str]:
    """A failure after the first stage is an event, because the status has been sent."""
    try:
        async for event in events:
            yield event
    except DovetailError as error:
        yield _event("problem", {"error": str(error), "status": status_of(error)})
    except Cancelled:
        return
