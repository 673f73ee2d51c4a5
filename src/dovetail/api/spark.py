"""What a lake knows, as Spark DataFrames.

Part of the offline half: nothing imports it before somebody asks for Spark.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from dovetail._spark.frames import frame_of
from dovetail._spark.session import require_spark
from dovetail.api.tables import Table, TableLine
from dovetail.results import Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class KnownLake(Protocol):
    """What is asked of a lake here."""

    def tables(self) -> Rows[TableLine]: ...
    def table(self, name: str) -> Table: ...
    def inds(self, *, spark: SparkSession) -> Any: ...
    def foreign_keys(self, *, spark: SparkSession) -> Any: ...
    def keys(self, *, spark: SparkSession) -> Any: ...


class SparkLake:
    """What is known of a lake, as DataFrames; each is made when it is first asked for."""

    def __init__(self, lake: KnownLake, index: str, session: SparkSession) -> None:
        require_spark()
        self._lake, self._index, self._session = lake, index, session

    @cached_property
    def tables(self) -> DataFrame:
        """One row for each table, as `lake.tables()`."""
        return self._frame(self._lake.tables().to_arrow())

    @cached_property
    def columns(self) -> DataFrame:
        """One row for each column of the lake, with its profile."""
        rows = [
            {"table": line.table, **column.to_dict()}
            for line in self._lake.tables()
            for column in self._lake.table(line.table).columns
        ]
        return self._frame(pa.Table.from_pylist(rows))

    @cached_property
    def dependencies(self) -> DataFrame:
        """The inclusion dependencies of the lake, as `lake.inds()`."""
        return self._frame(self._lake.inds(spark=self._session).to_arrow())

    @cached_property
    def foreign_keys(self) -> DataFrame:
        """Likely foreign keys, as `lake.foreign_keys()`."""
        return self._frame(self._lake.foreign_keys(spark=self._session).to_arrow())

    @cached_property
    def candidate_keys(self) -> DataFrame:
        """Candidate keys, as `lake.keys()`."""
        return self._frame(self._lake.keys(spark=self._session).to_arrow())

    @cached_property
    def hits(self) -> DataFrame:
        """The hits of every table of the lake. They are searched for when the DataFrame is read."""
        return self.search_many()

    def search_many(self, queries: Any = None, **options: Any) -> DataFrame:
        """The hits of many queries in one job, as a DataFrame with a row for each hit and its `query`.

        `queries` is a folder of files, a list of paths and of names of the lake's tables, or a DataFrame with
        such a column `query`; without it, every table of the lake is a query. `options` are those of `lake.search`. A
        query that cannot be read has one row with the `error`. Workers open the newest generation of the index.
        """
        from dovetail.search.many import named_queries
        from dovetail.search.on_spark import search_on_spark

        if queries is None:
            queries = [line.table for line in self._lake.tables() if not line.error]
        named = queries if hasattr(queries, "mapInArrow") else named_queries(queries)
        return search_on_spark(self._session, self._index, named, options)

    def create_views(self, prefix: str = "lake_") -> list[str]:
        """Make temporary views of all of these, such as `lake_tables`, for SQL; returns their names."""
        names = ("tables", "columns", "dependencies", "foreign_keys", "candidate_keys", "hits")
        for name in names:
            getattr(self, name).createOrReplaceTempView(prefix + name)
        return [prefix + name for name in names]

    def _frame(self, table: pa.Table) -> DataFrame:
        return frame_of(self._session, table)
