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
from dovetail.catalog.decisions import Decisions, read_decisions, with_declared
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment, declared_joins
from dovetail.search.many import SCHEMA, answer_of
from dovetail.search.request import SearchRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_QUERIES_A_TASK = 32  # a search takes some 10 ms and a task as much by itself; arbitrary


def search_on_spark(session: SparkSession, index: str, queries: Any, options: Mapping[str, Any]) -> DataFrame:
    """The hits of many queries, a row each (search/many.py). The DataFrame is lazy, as Spark's are.

    `queries` are paths of files and ids of tables of the lake, by name; or a DataFrame with a column `query` of such
    paths and ids. `options` are those of a search request.
    """
    require_spark()
    request = SearchRequest("", **options)  # refuses what no query could be asked with
    place = index

    def answer(asked: Iterable[tuple[str, str]]) -> pa.RecordBatch:
        rows = [row for name, data in asked for row in hits_of(place, name, data, request)]
        return pa.RecordBatch.from_pylist(rows, SCHEMA)

    def of_frame(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for query in batch.column(0).to_pylist():
                yield answer([(query, query)])

    schema = frame_of(session, SCHEMA.empty_table()).schema
    if hasattr(queries, "mapInArrow"):
        if "query" not in queries.columns:
            raise InputError(f"The DataFrame has no column `query`; it has {', '.join(queries.columns)}.")
        return queries.select("query").mapInArrow(of_frame, schema)
    named = [(name, _sent(name, data)) for name, data in queries.items()]

    def of_range(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The queries of each task: tasks over a range survive the loss of a worker, those after a shuffle may not."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield answer(named[number * _QUERIES_A_TASK : (number + 1) * _QUERIES_A_TASK])

    tasks = -(-len(named) // _QUERIES_A_TASK)
    return session.range(0, tasks, 1, max(1, tasks)).mapInArrow(of_range, schema)


def hits_of(index: str, name: str, data: str, request: SearchRequest) -> list[dict[str, Any]]:
    """Inside a worker: the records of one query."""
    segments, columns = _opened(index)
    decisions = Decisions(with_declared(declared_joins(segments), read_decisions(index)))
    return answer_of(segments, name, data, request, decisions, columns).to_dicts()


def _sent(name: str, data: Any) -> str:
    if not isinstance(data, str | Path):
        raise InputError(f"{name} is a {type(data).__name__}; on Spark, queries are files and tables of the lake.")
    return str(data)


@lru_cache(maxsize=1)
def _opened(index: str) -> tuple[Sequence[OpenSegment], LakeColumns]:
    """The index, opened once in a process, with what all searches share."""
    segments = [OpenSegment(segment) for segment in open_snapshot(index).segments]
    return segments, LakeColumns(segments)
