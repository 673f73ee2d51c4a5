"""The functions that write an index. They run on Spark, which is imported only when they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dovetail.pipeline.maintain import Compaction
    from dovetail.pipeline.report import Report


def index(
    lake: str | Path,
    to: str | Path,
    *,
    tables: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    dialects: Mapping[str, str] | None = None,
    add: bool = False,
    allow_drop: bool = False,
    settings: Mapping[str, int] | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    embedder: str | None = None,
    abbreviations: str | Path | None = None,
) -> Report:
    """Index the tables of `lake` (a folder, a glob or a file) into the folder `to`, or bring that index up to date.

    Runs in the Spark session `spark` or else in the active one, and leaves it as it was. If there is none, one is
    started on `master` (by default all cores of this machine) with the Spark settings `conf`, and stopped at the end.
    Returns a report: what the index holds now, what this run read, and which files were skipped and why.
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline.run import Request, index_lake
    from dovetail.settings import Settings

    return index_lake(
        Request(
            source=str(lake),
            to=Path(to),
            add=add,
            allow_drop=allow_drop,
            tables=None if tables is None else tuple(tables),
            exclude=None if exclude is None else tuple(exclude),
            dialects=None if dialects is None else tuple(dialects.items()),
            settings=Settings.of(settings or {}),
            spark=SparkRequest(spark, master, conf or {}),
            embedder=embedder,
            abbreviations=None if abbreviations is None else Path(abbreviations),
        )
    )


def remove(index: str | Path, *patterns: str) -> list[str]:
    """Remove the tables that match any of the globs from the index. Returns their ids."""
    from dovetail.pipeline.maintain import remove_tables

    return remove_tables(Path(index), patterns)


def compact(
    index: str | Path,
    *,
    settings: Mapping[str, int] | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Compaction:
    """Merge the small segments of the index and free the space of removed tables. Returns sizes before and after.

    `spark`, `master` and `conf` are those of `index`.
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline import maintain
    from dovetail.settings import Settings

    return maintain.compact(Path(index), SparkRequest(spark, master, conf or {}), Settings.of(settings or {}))
