"""Tables that a Spark session reads: those of its catalogs, and DataFrames.

Their rows pass through `mapInArrow` into the staged slices that big files have too, and segments are built of these.
Planning a query takes Spark longer than reading a small table does. So the files of small tables are read by our own
tasks, where these have all that Spark knows of them (`spark_files`), and else many tables are read in one job: a union
of their plans, in few partitions. Columns go under plain names: Spark does not hand names with a dot to Python.

What a fingerprint rests on: a Delta table's version; of other tables of files the names, sizes and times of these. A
view, a DataFrame or a table without files has none, and is read by every run.
"""

from __future__ import annotations

import functools
import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

import pyarrow as pa

from dovetail._spark.engine import SparkEngine, reason_of, spark_errors
from dovetail.errors import InputError
from dovetail.lake.column_rules import hide_columns
from dovetail.lake.layout import Layout, distinct_names
from dovetail.lake.listing import CATALOG, DATAFRAMES, SPARK_FORMAT, Root, TableFile, is_wanted
from dovetail.normalise.keyed import hash_key, use_key
from dovetail.pipeline.spark_files import BY_SPARK, fields_of, plain_paths, stage_files, stage_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLES_A_JOB = 100  # plans in one union: 300 small tables took 16 s so, and 129 s by a job each
_PLANS = 8  # made at the same time: 300 took 25 s so
_PARTITIONS_A_SLOT = 2  # of a union, so that no slot waits long for the last one
_FILES_A_JOB = 10_000
# What Spark cannot hand to Python as Arrow, and says itself as text.
_AS_TEXT = ("void", "interval", "yearmonthinterval", "variant")
_ANSWER = "number int, answer string"

MARKS = {CATALOG: "spark-table-", DATAFRAMES: "spark-frame-"}
"""How fingerprints begin, by where the tables are from."""

Entry = dict[str, Any]
RunTasks = Callable[[Callable[[Entry], Any], list[Entry], str], list[Any]]
"""Answers of a function to tasks, by a job with a description."""


class Frames(Protocol):
    """Tables that a session knows as DataFrames."""

    def frame(self, file: TableFile) -> DataFrame:
        """The table as a DataFrame; raises what Spark raises."""
        ...

    def plain(self, file: TableFile) -> Entry | None:
        """What a task has to know to read the table's files itself; None where that is left to Spark."""
        ...


class SparkTables:
    """The tables of a root, which its session reads by their names."""

    def __init__(self, session: SparkSession, dataframes: Mapping[str, DataFrame] | None = None) -> None:
        self._session = session
        self._dataframes = dict(dataframes or {})
        self._paths: dict[str, Sequence[str]] = {}  # of the files of tables that are listed

    def list(self, root: Root) -> dict[str, TableFile]:
        """Every table that the root selects, by its id."""
        if root.path == DATAFRAMES:
            return {root.prefix + name: self._file(root, name, 0, _new_mark(root.path)) for name in self._dataframes}
        try:
            names = sorted(name for name in self._names(root.tables or (root.pattern,)) if is_wanted(root, name))
            with ThreadPoolExecutor(_PLANS) as threads:
                found = list(threads.map(self._files_of, names))
            sizes = self._sizes(file for files in found for file in files)
        except spark_errors() as error:
            raise InputError(f"Spark cannot list its tables: {reason_of(error)}") from error
        self._paths |= dict(zip(names, found, strict=True))
        versions = map(self._version, names)
        listed = {}
        for name, files, version in zip(names, found, versions, strict=True):
            mark = version or _mark([(file, *sizes[file]) for file in files if file in sizes] if files else [])
            listed[root.prefix + name] = self._file(root, name, sum(sizes.get(f, (0, ""))[0] for f in files), mark)
        return listed

    def frame(self, file: TableFile) -> DataFrame:
        """The table as a DataFrame; raises what Spark raises."""
        place, _, name = file.path.partition("/")
        return self._dataframes[name] if place == DATAFRAMES else self._session.table(_quoted(name))

    def plain(self, file: TableFile) -> Entry | None:
        """What a task has to know to read the table's files itself; None where that is left to Spark."""
        place, _, name = file.path.partition("/")
        if place != CATALOG or not self._paths.get(name):
            return None
        try:
            frame = self.frame(file)
            paths = plain_paths(self._about(name), frame.schema.fields, self._paths[name])
        except spark_errors():
            return None  # reading it says why
        return {"table": file.table, "paths": paths, "fields": fields_of(frame.schema),
                "layout": _layout_of(frame, file).to_json()} if paths else None  # fmt: skip

    def stage(
        self, engine: SparkEngine, files: Sequence[TableFile], shared: str, slice_bytes: int, slots: int, run: RunTasks
    ) -> dict[str, Entry]:
        return stage_spark_tables(engine, self, files, shared, slice_bytes, slots, run)

    def _file(self, root: Root, name: str, size: int, mark: str) -> TableFile:
        return TableFile(root.prefix + name, f"{root.path}/{name}", size, mark)

    def _names(self, patterns: Iterable[str]) -> set[str]:
        """The tables of every database that a pattern may be about; temporary views have no database."""
        names: set[str] = set()
        for database in {pattern.rpartition(".")[0] for pattern in patterns}:
            for place in self._databases(database):
                rows = self._session.sql(f"SHOW TABLES IN {_quoted(place)}" if place else "SHOW TABLES").collect()
                named = ((row.tableName, row.isTemporary) for row in rows)
                names |= {f"{place}.{name}" if place and not temporary else name for name, temporary in named}
        return names

    def _databases(self, pattern: str) -> Sequence[str]:
        if not set(pattern) & set("*?["):
            return [pattern]
        return [row[0] for row in self._session.sql("SHOW DATABASES").collect()]

    def _files_of(self, name: str) -> Sequence[str]:
        """The files that the table is made of; nothing where it has none, is a view, or cannot be planned."""
        try:
            if self._about(name).get("Type") == "VIEW":
                return []
            return sorted(self._session.table(_quoted(name)).inputFiles())
        except spark_errors():
            return []  # reading it says why

    def _version(self, name: str) -> str:
        """The version of a Delta table: rows may be deleted while its files stay as they are."""
        try:
            if self._about(name).get("Provider", "").lower() != "delta":
                return ""
            newest = self._session.sql(f"DESCRIBE HISTORY {_quoted(name)} LIMIT 1").collect()[0]
            return f"{MARKS[CATALOG]}delta-{newest['version']}"
        except spark_errors():
            return ""  # reading it says why

    @functools.cache  # noqa: B019  # as long as the run
    def _about(self, name: str) -> dict[str, str]:
        rows = self._session.sql(f"DESCRIBE TABLE EXTENDED {_quoted(name)}").collect()
        return {row.col_name: row.data_type for row in rows}

    def _sizes(self, files: Iterable[str]) -> dict[str, tuple[int, str]]:
        """Length and time of every file, of all tables in few jobs."""
        by_path = {unquote(file): file for file in files}
        paths = sorted(by_path)
        sizes = {}
        for start in range(0, len(paths), _FILES_A_JOB):
            reader = self._session.read.format("binaryFile")
            rows = reader.load(paths[start : start + _FILES_A_JOB]).select("path", "length", "modificationTime")
            for row in rows.collect():
                file = by_path.get(_same_scheme(unquote(row.path)), by_path.get(unquote(row.path)))
                if file is not None:
                    sizes[file] = (row.length, str(row.modificationTime.timestamp()))
        return sizes


def stage_spark_tables(
    engine: SparkEngine,
    tables: Frames,
    files: Sequence[TableFile],
    shared: str,
    slice_bytes: int,
    slots: int,
    run: RunTasks,
) -> dict[str, Entry]:
    """What the build needs of each table: its layout, and the slices that its rows were staged as."""
    entries: dict[str, Entry] = {
        file.table: {"file": file.to_json(), "fingerprint": file.fingerprint} for file in files
    }
    small = [file for file in files if file.bytes <= slice_bytes]
    with ThreadPoolExecutor(_PLANS) as threads:
        plain = [found for found in threads.map(tables.plain, small) if found]
    staged = _stage_plain(plain, shared, slice_bytes, slots * _PARTITIONS_A_SLOT, run)
    plans: list[tuple[TableFile, Layout, DataFrame]] = []
    for file in files:
        if file.table in staged:
            entries[file.table] |= staged[file.table]
            continue
        try:
            frame = tables.frame(file)
            plans.append((file, _layout_of(frame, file), _plain(frame)))
        except spark_errors() as error:
            entries[file.table] |= _unread(file, error)
    big = [plan for plan in plans if plan[0].bytes > slice_bytes]
    few = [plan for plan in plans if plan[0].bytes <= slice_bytes]
    unions = [few[start : start + _TABLES_A_JOB] for start in range(0, len(few), _TABLES_A_JOB)]
    for union in [*unions, *([plan] for plan in big)]:
        partitions = slots * _PARTITIONS_A_SLOT if len(union) > 1 else None
        for table, entry in _stage_union(engine, union, shared, slice_bytes, partitions).items():
            entries[table] |= entry
    return entries


def _stage_plain(plain: Sequence[Entry], shared: str, slice_bytes: int, tasks: int, run: RunTasks) -> dict[str, Entry]:
    """Stage tables by their files, in one job. What a task does not get through with is left to Spark."""
    described = [plain[start::tasks] for start in range(min(tasks, len(plain)))]
    work = [{"tables": found, "shared": shared, "slice_bytes": slice_bytes} for found in described]
    layouts = {entry["table"]: entry["layout"] for entry in plain}
    answers = run(stage_files, work, f"read the files of {len(plain):,} table(s) of Spark")
    staged = {table: found for answer in answers for table, found in answer.items() if table in layouts}
    return {table: {"layout": layouts[table], **found} for table, found in staged.items() if BY_SPARK not in found}


def _stage_union(
    engine: SparkEngine,
    plans: Sequence[tuple[TableFile, Layout, Any]],
    shared: str,
    slice_bytes: int,
    partitions: int | None,
) -> dict[str, Entry]:
    """Stage some tables in one job. Where it fails, each by itself: the others shall not suffer for one."""
    staged: Any = None
    for number, (_, layout, frame) in enumerate(plans):
        one = frame.mapInArrow(_stager(number, layout, shared, slice_bytes), _ANSWER)
        staged = one if staged is None else staged.union(one)
    entries: dict[str, Entry] = {
        file.table: {"layout": layout.to_json(), "slices": [], "counters": []} for file, layout, _ in plans
    }
    try:
        with engine.job(f"read {len(plans):,} table(s) of Spark"):
            rows = (staged.coalesce(partitions) if partitions else staged).collect()
    except spark_errors() as error:
        if len(plans) == 1:
            return {plans[0][0].table: _unread(plans[0][0], error)}
        for plan in plans:
            entries |= _stage_union(engine, [plan], shared, slice_bytes, None)
        return entries
    for row in rows:  # in the order of the tables' partitions
        answer, entry = json.loads(row.answer), entries[plans[row.number][0].table]
        entry["slices"] += answer["slices"]
        entry["counters"].append(answer["counter"])
    return entries


def _stager(
    number: int, layout: Layout, shared: str, slice_bytes: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for workers: stages the rows of a partition, and answers with the names of the slices."""
    key = hash_key() if layout.hashed else None

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pa.set_cpu_count(1)  # Spark already keeps every core busy
        use_key(key)
        answer = json.dumps(stage_rows(batches, layout, shared, slice_bytes))
        yield pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int32()), pa.array([answer], pa.string())], ["number", "answer"]
        )

    return stage


def _layout_of(frame: DataFrame, file: TableFile) -> Layout:
    """The columns that rows of this frame have once structs are flattened, but those that are hidden."""
    return hide_columns(Layout(format=SPARK_FORMAT, columns=distinct_names(_flat_names(frame.schema.fields))), file)


def _flat_names(fields: Iterable[Any], prefix: str = "") -> Iterator[str]:
    """The names that `flattened` gives to columns of these types."""
    for field in fields:
        if field.dataType.typeName() == "struct":
            yield from _flat_names(field.dataType.fields, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def _plain(frame: DataFrame) -> DataFrame:
    """The frame with columns c0, c1 … of types that Spark hands to Python."""
    from pyspark.sql import functions as F

    plain = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    for field in plain.schema.fields:
        if field.dataType.typeName() in _AS_TEXT:
            plain = plain.withColumn(field.name, F.col(field.name).cast("string"))
    return plain


def _mark(files: list[tuple[str, int, str]]) -> str:
    """The fingerprint of a table of these files; one that no other run has, where there are none."""
    if not files:
        return _new_mark(CATALOG)
    return f"{MARKS[CATALOG]}files-{hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()[:32]}"


def _new_mark(path: str) -> str:
    """A fingerprint that no other run has: the next one reads the table again."""
    return f"{MARKS[path.partition('/')[0]]}{secrets.token_hex(8)}"


def _same_scheme(path: str) -> str:
    """`file:/a` as `file:///a`: Spark writes both."""
    return path.replace("file:/", "file:///", 1) if path.startswith("file:/") and path[6:7] != "/" else path


def _quoted(name: str) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))


def _unread(file: TableFile, error: Exception) -> Entry:
    reason = reason_of(error).removeprefix("A Spark task failed for good: ")
    return {"error": f"Spark cannot read it: {reason}", "fingerprint": _new_mark(file.path)}
