"""Many searches in one Spark job: a task asks some of the queries, and the hits are a DataFrame.

Part of the offline half: nothing imports it before somebody asks for Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._spark.frames import frame_of
from dovetail._spark.session import require_spark
from dovetail._storage.directory import open_snapshot
from dovetail.catalog.decisions import Decisions, read_decisions
from dovetail.errors import InputError, UnreadableTable
from dovetail.indexes.open_segment import OpenSegment
from dovetail.lake.listing import Root
from dovetail.pipeline.roots import list_tables
from dovetail.search.planner import search
from dovetail.search.request import SearchRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_QUERIES_A_TASK = 32  # a search takes some 10 ms and a task as much by itself; arbitrary
_STRINGS = pa.list_(pa.string())
_COUNT, _SHARE = pa.int64(), pa.float64()
HIT_SCHEMA = pa.schema(
    [
        ("query", pa.string()), ("rank", pa.int32()), ("table", pa.string()), ("on", _STRINGS), ("columns", _STRINGS),
        ("probability", _SHARE), ("score", _SHARE), ("overlap", _COUNT), ("containment", _SHARE), ("jaccard", _SHARE),
        ("query_size", _COUNT), ("column_size", _COUNT), ("cardinality", pa.string()), ("query_rows", _COUNT),
        ("matched_rows", _COUNT), ("table_rows", _COUNT), ("joined_rows", _COUNT), ("brings", _STRINGS),
        ("reasons", _STRINGS), ("objections", _STRINGS), ("decided", pa.string()), ("error", pa.string()),
    ]
)  # fmt: skip
"""A row for each hit: the query, and keys of `dovetail search --json`. A query that fails has one row with nothing but
the `error`; one without hits has none."""


def search_many(session: SparkSession, index: Path, queries: Any, options: Mapping[str, Any]) -> DataFrame:
    """The hits of many queries. The DataFrame is lazy, as Spark's are.

    `queries` are names, each with the path of a file or the id of a table of the lake; or a DataFrame with a column
    `query` of such paths and ids. `options` are those of a search request.
    """
    require_spark()
    SearchRequest("", **options)  # refuses what no query could be asked with
    place, chosen = str(index.absolute()), dict(options)

    def answer(asked: Iterable[tuple[str, str]]) -> pa.RecordBatch:
        rows = [row for name, data in asked for row in hits_of(place, name, data, chosen)]
        return pa.RecordBatch.from_pylist(rows, HIT_SCHEMA)

    def of_frame(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for query in batch.column(0).to_pylist():
                yield answer([(query, query)])

    schema = frame_of(session, HIT_SCHEMA.empty_table()).schema
    if hasattr(queries, "mapInArrow"):
        if "query" not in queries.columns:
            raise InputError(f"The DataFrame has no column `query`; it has {', '.join(queries.columns)}.")
        return queries.select("query").mapInArrow(of_frame, schema)
    named = [(str(name), str(data)) for name, data in queries]

    def of_range(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The queries of each task: tasks over a range survive the loss of a worker, those after a shuffle may not."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield answer(named[number * _QUERIES_A_TASK : (number + 1) * _QUERIES_A_TASK])

    tasks = -(-len(named) // _QUERIES_A_TASK)
    return session.range(0, tasks, 1, max(1, tasks)).mapInArrow(of_range, schema)


def files_of(source: str | Path) -> list[tuple[str, str]]:
    """The names and paths of the tables of a folder or a glob."""
    files = list_tables((Root.of(str(source)),))
    return [(name, file.path) for name, file in sorted(files.items())]


def hits_of(index: str, name: str, data: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Inside a worker: the records of the hits of one query."""
    segments = _opened(index)
    try:
        request = SearchRequest(data, **options)
        found = search(segments, request, Decisions(read_decisions(Path(index)))).to_dicts()
    except (InputError, UnreadableTable) as error:
        return [{"query": name, "error": str(error)}]
    return [{"query": name, **{key: hit[key] for key in HIT_SCHEMA.names[1:-1]}} for hit in found]


@lru_cache(maxsize=1)
def _opened(index: str) -> Sequence[OpenSegment]:
    """The index, opened once in a process."""
    return [OpenSegment(segment) for segment in open_snapshot(Path(index)).segments]
