"""Tables of a Spark catalog that are plain Parquet files: tasks read the files, without a plan of Spark's for each.

Planning takes Spark longer than reading a small table does. The files alone decide what the rows are only where a table
is of Parquet and has no partitions, which are not in the files, and where a file has the catalog's columns, in names,
order and types. Delta and Iceberg delete and map what is in their files, CSV is what Spark's parser makes of it, and
filters and masks of rows are applied by Spark: all these, and any file that cannot be read here, are left to Spark.

Typed rows, from Spark or from its files, are staged as slices of text: the same for both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from dovetail._objects import is_remote
from dovetail._storage.store import open_store
from dovetail.catalog.profile import count_columns
from dovetail.errors import UnreadableTable
from dovetail.lake.columnar import opened, parquet_batches
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.lake.source import source_of
from dovetail.lake.streams import reasons
from dovetail.lake.strings import bounded, string_batch
from dovetail.pipeline.staging import write_slice
from dovetail.pipeline.work import SLICES

BY_SPARK = "by_spark"
"""The key of an answer about files that are left to Spark."""
_NOT_PLAIN = ("# Partition Information", "# Partitioning", "Row Filter", "Column Masks")
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"  # of a column that Spark pads
# Of files whose dates are of another calendar, which Spark converts.
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_SPARK_NAMES = {
    pa.string(): "string", pa.large_string(): "string", pa.binary(): "binary", pa.bool_(): "boolean",
    pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint", pa.float32(): "float",
    pa.float64(): "double", pa.date32(): "date",
}  # fmt: skip
_MOMENTS = ("us", "ms")  # what Spark reads as it is; it cuts nanoseconds

Field = tuple[str, str]  # name and type, in Spark's words


def plain_paths(about: Mapping[str, str], fields: Sequence[Any], files: Sequence[str]) -> list[str]:
    """The paths of the files that the rows of a table are in, and nothing else; none where that is for Spark to say.

    `about` is what DESCRIBE TABLE EXTENDED says, `fields` are the columns of Spark.
    """
    if about.get("Provider", "").lower() != "parquet" or any(name in about for name in _NOT_PLAIN):
        return []
    if any(_CHAR in (field.metadata or {}) for field in fields):
        return []
    paths = [unquote(file) for file in files]
    if not all(path.startswith("file:/") or is_remote(path) for path in paths):
        return []
    return ["/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:/") else path for path in paths]


def fields_of(schema: Any) -> list[Field]:
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def stage_files(task: dict[str, Any]) -> Any:
    """Inside a worker: stage the files of some tables; by table what was staged, or that it is left to Spark."""
    answers: dict[str, dict[str, Any]] = {}
    for entry in task["tables"]:
        layout = Layout.from_json(entry["layout"])
        fields = [(name, type_) for name, type_ in entry["fields"]]
        staged: list[dict[str, Any]] = []
        try:
            for path in entry["paths"]:
                staged.append(stage_rows(_rows(path, fields), layout, task["shared"], task["slice_bytes"]))
        except UnreadableTable as reason:
            answers[entry["table"]] = {BY_SPARK: str(reason)}
        else:
            slices = [piece for part in staged for piece in part["slices"]]
            answers[entry["table"]] = {"slices": slices, "counters": [part["counter"] for part in staged]}
    return answers


def _rows(path: str, fields: list[Field]) -> Iterator[pa.RecordBatch]:
    with tempfile.TemporaryDirectory() as folder, reasons():
        file = source_of(path).copy(TableFile("", path, 0, ""), Path(folder)).path
        assert isinstance(file, Path)
        with opened(file, "parquet", int96_unit="us") as (reader, schema):
            old = {
                column.name
                for column in map(reader.metadata.schema.column, range(reader.metadata.num_columns))
                if column.physical_type == "INT96" and column.path == column.name
            }
            _require_same(schema, fields, old)
            for batch in parquet_batches(reader, Part()):
                yield _with_moments(batch, old)


def _require_same(schema: pa.Schema, fields: list[Field], moments: set[str]) -> None:
    """Raises where Spark would change what is in the file."""
    found = [(field.name, "timestamp" if field.name in moments else _spark_name(field.type)) for field in schema]
    if found != fields:
        raise UnreadableTable("other columns than in the catalog")
    if any(key in (schema.metadata or {}) for key in _OLD_CALENDAR):
        raise UnreadableTable("dates of another calendar")


def _with_moments(batch: pa.RecordBatch, names: set[str]) -> pa.RecordBatch:
    """Moments that are stored as INT96 do not say that they are in UTC."""
    for name in names:
        number = batch.schema.get_field_index(name)
        batch = batch.set_column(number, name, batch.column(number).cast(pa.timestamp("us", "UTC")))
    return batch


def _spark_name(type_: pa.DataType) -> str:
    """How Spark calls the type that it reads as it is; nothing for others."""
    if pa.types.is_dictionary(type_):
        return _spark_name(type_.value_type)
    if pa.types.is_decimal128(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_) and type_.unit in _MOMENTS:
        return "timestamp" if type_.tz else "timestamp_ntz"
    if pa.types.is_struct(type_):
        return f"struct<{','.join(f'{field.name}:{_spark_name(field.type)}' for field in type_)}>"
    if pa.types.is_list(type_):
        return f"array<{_spark_name(type_.value_type)}>"
    return _SPARK_NAMES.get(type_, "")


def stage_rows(batches: Iterable[pa.RecordBatch], layout: Layout, shared: str, slice_bytes: int) -> dict[str, Any]:
    """Stage the rows; returns the slices and how many rows they have."""
    counter = RowCounter()
    with open_store(shared).publish(SLICES) as folder:
        portions = _portions(batches, layout, counter, slice_bytes)
        slices = [write_slice(count_columns(table, layout.hashed), folder) for table in portions]
    return {"slices": [vars(piece) for piece in slices], "counter": vars(counter)}


def _portions(
    batches: Iterable[pa.RecordBatch], layout: Layout, counter: RowCounter, portion_bytes: int
) -> Iterator[pa.Table]:
    """The rows as text, a table for about every `portion_bytes`."""
    columns, kept = layout.whole.columns, layout.kept
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        for piece in bounded(_in_utc(batch)):
            held.append(string_batch(piece, columns).select(kept))
            counter.rows += piece.num_rows
            size += held[-1].nbytes
            if size >= portion_bytes:
                yield pa.Table.from_batches(held)
                held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Moments as files have them, whatever the session's time zone is."""
    types = [_utc_type(field.type) for field in batch.schema]
    if types == batch.schema.types:
        return batch
    columns = [column.cast(type_) for column, type_ in zip(batch.columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _utc_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp(type_.unit, "UTC")
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_utc_type(field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_utc_type(type_.value_type)))
    return type_
