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
HIT_SCHEMA = pa.schema(
    [
        ("query", pa.string()), ("error", pa.string()), ("rank", pa.int64()), ("table", pa.string()),
        ("on", _STRINGS), ("columns", _STRINGS), ("by", pa.string()), ("score", pa.float64()),
        ("probability", pa.float64()), ("overlap", pa.int64()), ("containment", pa.float64()),
        ("jaccard", pa.float64()), ("query_size", pa.int64()), ("column_size", pa.int64()),
        ("cardinality", pa.string()), ("query_rows", pa.int64()), ("matched_rows", pa.int64()),
        ("table_rows", pa.int64()), ("joined_rows", pa.int64()), ("reasons", _STRINGS), ("objections", _STRINGS),
    ]
)  # fmt: skip
"""A row for each hit: the query, and the keys of `dovetail search --json`. A query that cannot be read has one row with
the `error` and nothing else; one without hits has none."""


def search_many(session: SparkSession, index: Path, queries: Any, options: Mapping[str, Any]) -> DataFrame:
    """The hits of many queries. The DataFrame is lazy, as Spark's are.

    `queries` are paths of files and names of the lake's tables, or a DataFrame with such a column `query`. `options`
    are those of a search request.
    """
    require_spark()
    SearchRequest("", **options)  # refuses what no query could be asked with
    place, chosen = str(index.absolute()), dict(options)

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for query in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist(hits_of(place, query, chosen), HIT_SCHEMA)

    schema = frame_of(session, HIT_SCHEMA.empty_table()).schema
    if hasattr(queries, "mapInArrow"):
        if "query" not in queries.columns:
            raise InputError(f"The DataFrame has no column `query`; it has {', '.join(queries.columns)}.")
        return queries.select("query").mapInArrow(answer, schema)
    named = [str(query) for query in queries]

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The queries of each task: tasks over a range survive the loss of a worker, a shuffle may not."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                part = named[number * _QUERIES_A_TASK : (number + 1) * _QUERIES_A_TASK]
                yield from answer([pa.RecordBatch.from_arrays([pa.array(part, pa.string())], ["query"])])

    tasks = -(-len(named) // _QUERIES_A_TASK)
    return session.range(0, tasks, 1, max(1, tasks)).mapInArrow(take, schema)


def files_of(source: str | Path) -> list[str]:
    """The paths of the tables of a folder or a glob, in the order of their names."""
    files = list_tables((Root.of(str(source)),))
    return [file.path for _, file in sorted(files.items())]


def hits_of(index: str, query: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Inside a worker: the records of the hits of one query."""
    segments = _opened(index)
    try:
        request = SearchRequest(query, **options)
        found = search(segments, request, Decisions(read_decisions(Path(index)))).to_dicts()
    except (InputError, UnreadableTable) as error:
        return [{"query": query, "error": str(error)}]
    return [{"query": query, **{name: hit[name] for name in HIT_SCHEMA.names[2:]}} for hit in found]


@lru_cache(maxsize=1)
def _opened(index: str) -> Sequence[OpenSegment]:
    """The index, opened once in a process."""
    return [OpenSegment(segment) for segment in open_snapshot(Path(index)).segments]
