"""What only a Spark session can read: tables of its catalogs, DataFrames, files that it reaches, databases by JDBC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from dovetail._spark.engine import SparkEngine
from dovetail.errors import InputError
from dovetail.lake.listing import JDBC, SPARK, Root, TableFile, is_spark
from dovetail.pipeline import spark_binary, spark_jdbc
from dovetail.pipeline.spark_binary import SparkFiles
from dovetail.pipeline.spark_jdbc import JdbcTables
from dovetail.pipeline.spark_tables import MARKS, Entry, RunTasks, SparkTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OF_SPARK = "spark-"  # how all fingerprints of such tables begin


class SparkSource(Protocol):
    """What only a session can read."""

    def list(self, root: Root) -> dict[str, TableFile]:
        """Every table that the root selects, by its id."""
        ...

    def stage(
        self, engine: SparkEngine, files: Sequence[TableFile], shared: str, slice_bytes: int, slots: int, run: RunTasks
    ) -> dict[str, Entry]:
        """What the build needs of each table: its layout, and the slices that its rows were staged as."""
        ...


def spark_source(
    session: SparkSession, roots: Iterable[Root], dataframes: Mapping[str, DataFrame] | None
) -> SparkSource:
    """The source of these roots, which must be of one kind."""
    kinds = {_kind_of(root) for root in roots}
    if len(kinds) > 1:
        raise InputError(
            "Tables of Spark's catalogs, files that Spark reads and databases need runs of their own; use `add`."
        )
    if kinds == {SparkTables}:
        return SparkTables(session, dataframes)
    return JdbcTables(session) if kinds == {JdbcTables} else SparkFiles(session)


def is_listed(fingerprint: str, roots: Iterable[Root]) -> bool:
    """Whether a run over these roots lists the table with this fingerprint: those of Spark only if asked for."""
    return not fingerprint.startswith(_OF_SPARK) or any(
        is_spark(root.path) and fingerprint.startswith(_mark_of(root)) for root in roots
    )


def _kind_of(root: Root) -> type:
    if root.path in MARKS:
        return SparkTables
    return JdbcTables if root.path.startswith(SPARK + JDBC) else SparkFiles


def _mark_of(root: Root) -> str:
    """How the fingerprints of the root's tables begin."""
    kind = _kind_of(root)
    if kind is SparkTables:
        return MARKS[root.path]
    return spark_jdbc.mark_of(root.path) if kind is JdbcTables else spark_binary.mark_of(root.path)
