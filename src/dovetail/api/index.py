"""The functions that write an index. They run on Spark, which is imported only when they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dovetail._storage.directory import Cleaned
    from dovetail.pipeline.maintain import Compaction
    from dovetail.pipeline.report import Report


def index(
    lake: str | Path | Sequence[str | Path] | None = None,
    to: str | Path | None = None,
    *,
    dataframes: Mapping[str, DataFrame] | None = None,
    tables: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    dialects: Mapping[str, str] | None = None,
    exclude_columns: Iterable[str] | None = None,
    hash_columns: Iterable[str] | None = None,
    add: bool = False,
    allow_drop: bool = False,
    settings: Mapping[str, int] | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    embedder: str | None = None,
    abbreviations: str | Path | None = None,
    without: Iterable[str] | None = None,
    keep_hours: float | None = None,
    memory: str | None = None,
) -> Report:
    """Index the tables of `lake` (a folder, a glob, a file or an address such as `s3://bucket/folder`, or a list of
    these) into the index `to` (a folder or an address), or bring that index up to date.

    Without `lake`, `tables` are those of Spark's catalogs (`["sales.*", "crm.customers"]`), or `dataframes` has Spark
    DataFrames by the names that they are to have.

    `embedder` is the name of one that comes with Dovetail or with an installed package, or `module:attribute`.

    A new index is made `without` some of its parts (`lists`, `mate`, `pexeso`, `pieces`), and is smaller for it;
    `compact` adds them later.

    `exclude_columns` are globs of columns to leave out, by name (`"*email*"`) or by table and name (`"crm/*:phone"`).
    Of `hash_columns`, the index keeps keyed hashes only; the environment variable `DOVETAIL_HASH_KEY`, or a file that
    `DOVETAIL_HASH_KEY_FILE` names, has the key. Both are remembered, as `tables`, `exclude` and `dialects` are.

    Runs in the Spark session `spark` or else in the active one, and leaves it as it was. If there is none, one is
    started on `master` (by default all cores of this machine) with the Spark settings `conf`, and stopped at the end.
    With `memory`, such as "2GB", a session that is started here has as many workers, and each takes as much, as fits.
    Returns a report: what the index holds now, what this run read, and which files were skipped and why.
    """
    from dovetail._memory import parse_size
    from dovetail._spark.session import SparkRequest
    from dovetail.embedders.registry import name_of
    from dovetail.errors import InputError
    from dovetail.pipeline.budget import within_memory
    from dovetail.pipeline.run import Request, index_lake
    from dovetail.settings import Settings

    if not isinstance(to, str | Path):
        found = "missing" if to is None else f"of type {type(to).__name__}"
        raise InputError(f"`to` is {found}: it must be the folder or the address of the index.")
    sources = _sources(lake, dataframes, tables)
    limit = None if memory is None else parse_size(memory)
    chosen, session = within_memory(limit, Settings.of(settings or {}), SparkRequest(spark, master, conf or {}))
    request = Request(
        sources, to, add=add, allow_drop=allow_drop, tables=_given(tables), exclude=_given(exclude),
        dialects=None if dialects is None else tuple(dialects.items()), exclude_columns=_given(exclude_columns),
        hash_columns=_given(hash_columns), settings=chosen, spark=session,
        embedder=None if embedder is None else name_of(embedder),
        abbreviations=None if abbreviations is None else Path(abbreviations), dataframes=dataframes,
        without=_given(without), keep_hours=keep_hours,
    )  # fmt: skip
    return index_lake(request)


def _sources(
    lake: str | Path | Sequence[str | Path] | None,
    dataframes: Mapping[str, DataFrame] | None,
    tables: Iterable[str] | None,
) -> tuple[str, ...]:
    """Where the tables are: places, Spark's catalogs, or DataFrames."""
    from dovetail.errors import InputError
    from dovetail.lake.listing import CATALOG, DATAFRAMES

    if sum((lake is not None, dataframes is not None, lake is None and tables is not None)) != 1:
        raise InputError("Give one of `lake`, `dataframes`, or `tables` of Spark's catalogs.")
    if dataframes is not None:
        _check_dataframes(dataframes)
    if lake is None:
        return (CATALOG if dataframes is None else DATAFRAMES,)
    places = [lake] if isinstance(lake, str | Path) else list(lake) if isinstance(lake, list | tuple) else [None]
    if not all(isinstance(place, str | Path) for place in places):
        raise InputError(
            f"`lake` is a {type(lake).__name__}; it must be a folder, an address, or a list of these. To index a table "
            "that is in memory, write it to a file of a folder."
        )
    if not places:
        raise InputError("`lake` is an empty list: name at least one place.")
    return tuple(map(str, places))


def _check_dataframes(dataframes: object) -> None:
    from dovetail.errors import InputError

    if not isinstance(dataframes, Mapping):
        raise InputError(f"`dataframes` is a {type(dataframes).__name__}; it must be Spark DataFrames by their names.")
    for name, frame in dataframes.items():
        if not hasattr(frame, "mapInArrow"):  # both kinds of Spark sessions have frames of their own class
            kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
            raise InputError(
                f"`dataframes` takes Spark DataFrames, and {name!r} is a {kind}: make one of it with "
                "`spark.createDataFrame`, or write it to a file of a lake."
            )


def _given(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def remove(index: str | Path, *patterns: str) -> list[str]:
    """Remove the tables that match any of the globs from the index. Returns their ids."""
    from dovetail.pipeline.maintain import remove_tables

    return remove_tables(index, patterns)


def clean(index: str | Path, *, keep_hours: float | None = None) -> Cleaned:
    """Remove generations of the index that nobody needs any more, and what stopped builds have left. Returns how much.

    A generation is kept for `keep_hours` after the next one has come: by default 24 in an object store, otherwise 0.
    """
    from dovetail._storage.directory import open_writer

    with open_writer(index, keep_hours=keep_hours) as writer:
        return writer.cleaned


def compact(
    index: str | Path,
    *,
    with_parts: Iterable[str] = (),
    without: Iterable[str] = (),
    settings: Mapping[str, int] | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Compaction:
    """Merge the small segments of the index and free the space of removed tables. Returns sizes before and after.

    Parts that were left out are added by `with_parts`, and others are dropped by `without`; the index remembers it.
    `spark`, `master` and `conf` are those of `index`.
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline import maintain
    from dovetail.settings import Settings

    return maintain.compact(
        index,
        SparkRequest(spark, master, conf or {}),
        Settings.of(settings or {}),
        with_parts=with_parts,
        without=without,
    )
