"""Many searches at once: they share the columns of the lake, opened parts and threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._objects import is_remote
from dovetail.catalog.decisions import Decisions
from dovetail.errors import DovetailError, InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment
from dovetail.lake.listing import Root
from dovetail.lake.source import list_lake
from dovetail.search.hit import Source
from dovetail.search.hits import Hits
from dovetail.search.planner import JudgeUnions, search
from dovetail.search.request import SearchRequest

if TYPE_CHECKING:
    import pandas as pd

_AHEAD = 4  # answers for each thread that wait for being taken; arbitrary, bounds memory
_NAMES, _TEXT, _COUNT, _SHARE = pa.list_(pa.string()), pa.string(), pa.int64(), pa.float64()

SCHEMA = pa.schema(
    [
        pa.field("query", _TEXT, nullable=False),
        ("rank", pa.int32()),
        ("table", _TEXT),
        ("on", _NAMES),
        ("columns", _NAMES),
        ("probability", _SHARE),
        ("score", _SHARE),
        ("overlap", _COUNT),
        ("containment", _SHARE),
        ("jaccard", _SHARE),
        ("query_size", _COUNT),
        ("column_size", _COUNT),
        ("cardinality", _TEXT),
        ("query_rows", _COUNT),
        ("matched_rows", _COUNT),
        ("table_rows", _COUNT),
        ("joined_rows", _COUNT),
        ("brings", _NAMES),
        ("reasons", _NAMES),
        ("objections", _NAMES),
        ("copies", _NAMES),
        ("decided", _TEXT),
        ("declared", pa.bool_()),
        ("error", _TEXT),
    ]
)
"""One row for each hit, with the keys of `dovetail search --json`. A query that fails has one row with nothing but an
`error`; one without hits has none."""


@dataclass(frozen=True)
class Answer:
    """The hits of one query, or why there are none to be had."""

    query: str
    hits: Hits | None
    error: str | None = None

    def of(self, source: Source) -> Answer:
        """The same answer with hits that can be joined."""
        return self if self.hits is None else replace(self, hits=self.hits.of(source))

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each hit, with the names of SCHEMA."""
        if self.hits is None:
            return [dict.fromkeys(SCHEMA.names) | {"query": self.query, "error": self.error}]
        rows = ({**hit.to_dict(), "query": self.query, "error": None} for hit in self.hits)
        return [{name: row[name] for name in SCHEMA.names} for row in rows]


class Answers(list[Answer]):
    """The answers to many queries, in their order."""

    def to_arrow(self) -> pa.Table:
        """All hits as one table, one row each, with the query in the first column."""
        return pa.Table.from_pylist([row for answer in self for row in answer.to_dicts()], SCHEMA)

    def to_pandas(self) -> pd.DataFrame:
        return self.to_arrow().to_pandas()


def named_queries(queries: Any) -> dict[str, Any]:
    """Tables by name: those of a folder here or in an object store, of a dict, or of a list, where those without a name
    are numbered."""
    if isinstance(queries, str | Path):
        if not is_remote(queries) and not Path(queries).is_dir():
            raise InputError(f"There is no folder {queries}.")
        files = sorted(list_lake([Root.of(str(queries))]).values(), key=lambda file: file.table)
        return {file.table: file.path if is_remote(file.path) else Path(file.path) for file in files}
    if isinstance(queries, Mapping):
        return {str(name): data for name, data in queries.items()}
    return {
        str(data) if isinstance(data, str | Path) else f"query {number}": data for number, data in enumerate(queries, 1)
    }


def search_many(
    segments: Sequence[OpenSegment],
    queries: Iterable[tuple[str, Any]],
    request: SearchRequest,
    decisions: Decisions | None = None,
    lake: Callable[[], LakeColumns] | None = None,
    judge_unions: JudgeUnions | None = None,
) -> Iterator[Answer]:
    """The answers to named queries, in their order, as they come; the request has all but their data."""
    columns = LakeColumns(segments) if lake is None else lake()

    def answer(query: tuple[str, Any]) -> Answer:
        return answer_of(segments, *query, request, decisions, columns, judge_unions)

    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Answer]] = deque()
        for query in queries:
            waiting.append(pool.submit(answer, query))
            if len(waiting) > _AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def answer_of(
    segments: Sequence[OpenSegment],
    name: str,
    data: Any,
    request: SearchRequest,
    decisions: Decisions | None,
    columns: LakeColumns,
    judge_unions: JudgeUnions | None = None,
) -> Answer:
    """The answer to one query of many."""
    try:
        asked = replace(request, data=data)
        return Answer(name, search(segments, asked, decisions, lambda: columns, judge_unions))
    except DovetailError as reason:  # of this query; the others go on
        return Answer(name, None, str(reason))
