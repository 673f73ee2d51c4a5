"""Files that only a Spark session can reach (`hdfs://`, `dbfs:/`, or any address after `spark:`), by its `binaryFile`
reader: a row for each file, with all of its bytes.

The rows go to Python, where files are read by our own reader and staged as slices. What the reader of Spark leaves out
is no table here: empty files, and names that begin with `_` or `.`. A file is one row, so that there is a largest size;
one above the session's `spark.sql.sources.binaryFile.maxLength` would fail the whole job, and is not asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._spark.engine import SparkEngine, reason_of, spark_errors
from dovetail._storage.store import open_store
from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.files import in_indexes
from dovetail.lake.formats import format_of
from dovetail.lake.layout import Part, RowCounter
from dovetail.lake.listing import SPARK, Root, TableFile, dialect_of, is_wanted
from dovetail.normalise.keyed import hash_key, use_key
from dovetail.pipeline.reading import counted_portions, layout_of
from dovetail.pipeline.staging import write_slice
from dovetail.pipeline.work import SLICES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MAX_LENGTH = "spark.sql.sources.binaryFile.maxLength"
# A file is held by Java and by Python, several times. Arbitrary below the 2 GB that a row may have.
_LARGEST = 1 << 29
_FILES_A_JOB = 10_000
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?")
_ANSWER = "answer string"

Entry = dict[str, Any]


def mark_of(root: str) -> str:
    """How the fingerprints of the files of a root begin."""
    return f"spark-file-{hashlib.sha256(root.encode()).hexdigest()[:8]}-"


class SparkFiles:
    """The files of a root, which its session reads by their addresses."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def list(self, root: Root) -> dict[str, TableFile]:
        """Every file that may be a table, by its id."""
        address = root.path.removeprefix(SPARK)
        try:
            rows = self._read([address]).select("path", "length", "modificationTime").collect()
        except spark_errors() as error:
            raise InputError(f"Spark cannot list {address}: {reason_of(error)}") from error
        names = {row.path: _name_under(address, row.path) for row in rows}
        inside = in_indexes(names.values())
        listed = {}
        for row in sorted(rows, key=lambda row: str(row.path)):
            name = names[row.path]
            if not format_of(name) or inside(name) or not is_wanted(root, name):
                continue
            dialect = dialect_of(root, name)
            mark = _fingerprint(mark_of(root.path), row.length, row.modificationTime.timestamp(), dialect)
            table = root.prefix + name
            listed[table] = TableFile(table, SPARK + row.path, row.length, mark, dialect)
        return listed

    def stage(
        self, engine: SparkEngine, files: Sequence[TableFile], shared: str, slice_bytes: int, *_: object
    ) -> dict[str, Entry]:
        """What the build needs of each file: its layout, and the slices that its rows were staged as."""
        entries = {file.table: {"file": file.to_json(), **_unread(file, "vanished")} for file in files}
        largest = min(_LARGEST, int(self._session.conf.get(_MAX_LENGTH, str(_LARGEST)) or _LARGEST))
        small = [file for file in files if file.bytes <= largest]
        for file in files:
            if file.bytes > largest:
                entries[file.table] |= {"error": _too_large(largest), "fingerprint": file.fingerprint}
        for start in range(0, len(small), _FILES_A_JOB):
            some = small[start : start + _FILES_A_JOB]
            for entry in self._stage_some(engine, some, shared, slice_bytes):
                staged = entries[entry.pop("table")]
                staged.pop("error")
                staged |= entry
        return entries

    def _stage_some(
        self, engine: SparkEngine, files: Sequence[TableFile], shared: str, slice_bytes: int
    ) -> Sequence[Entry]:
        """Stage some files in one job. Where it fails, each half by itself: the others shall not suffer for one."""
        by_path = {file.path.removeprefix(SPARK): file for file in files}
        frame = self._read(list(by_path)).select("path", "content")
        try:
            with engine.job(f"read {len(files):,} file(s) through Spark"):
                rows = frame.mapInArrow(_stager(by_path, shared, slice_bytes), _ANSWER).collect()
        except spark_errors() as error:
            if len(files) == 1:
                return [{"table": files[0].table, **_unread(files[0], reason_of(error))}]
            half = len(files) // 2
            return [
                entry
                for part in (files[:half], files[half:])
                for entry in self._stage_some(engine, part, shared, slice_bytes)
            ]
        return [json.loads(row.answer) for row in rows]

    def _read(self, paths: Sequence[str]) -> DataFrame:
        reader = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
        return reader.load([_escaped(path) for path in paths])


def _stager(
    files: dict[str, TableFile], shared: str, slice_bytes: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for workers: stages files, and answers with their layouts and the names of their slices."""
    key = hash_key() if any(file.hash_columns for file in files.values()) else None

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pa.set_cpu_count(1)  # Spark already keeps every core busy
        use_key(key)
        for batch in batches:
            for path, content in zip(*batch.columns, strict=True):
                answer = json.dumps(_staged(files[path.as_py()], content.as_buffer(), shared, slice_bytes))
                yield pa.RecordBatch.from_arrays([pa.array([answer], pa.string())], ["answer"])

    return stage


def _staged(file: TableFile, content: pa.Buffer, shared: str, slice_bytes: int) -> Entry:
    counter = RowCounter()
    about: Entry = {"table": file.table, "fingerprint": file.fingerprint}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, file.path.rpartition("/")[2])
        path.write_bytes(content)
        try:
            layout = layout_of(file, path)
            with open_store(shared).publish(SLICES) as published:
                portions = counted_portions(path, layout, Part(), counter, slice_bytes)
                slices = [write_slice(columns, published) for columns in portions]
        except UnreadableTable as reason:
            return about | {"error": str(reason)}
    return about | {
        "layout": layout.to_json(), "slices": [vars(piece) for piece in slices], "counters": [vars(counter)]
    }  # fmt: skip


def _fingerprint(mark: str, length: int, time: float, dialect: str) -> str:
    return f"{mark}{length}-{time}-{dialect}"


def _unread(file: TableFile, reason: str) -> Entry:
    """The next run tries again."""
    said = reason.removeprefix("A Spark task failed for good: ")
    return {"error": f"Spark cannot read it: {said}", "fingerprint": file.fingerprint + "-unread"}


def _too_large(largest: int) -> str:
    return f"too large to be read through Spark: more than {largest / 1e6:,.0f} MB"


def _name_under(root: str, path: str) -> str:
    """The name of a file under its root. Spark may write scheme and host of the same place in other ways."""
    folder, inside = _PLACE.sub("", root, count=1).strip("/"), _PLACE.sub("", path, count=1).strip("/")
    return inside.removeprefix(f"{folder}/") if inside != folder else inside.rpartition("/")[2]


def _escaped(path: str) -> str:
    """Spark takes paths for globs."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
