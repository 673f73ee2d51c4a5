"""Every kind of table that a lake may hold, made by the libraries that people use, in places of all kinds."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq

from dovetail._objects import Objects


@dataclass(frozen=True)
class Kind:
    """How a table is written as, or into, a file or folder of this name."""

    name: str
    write: Callable[[pa.Table, Path], None]
    member: str = ""
    """Of a container: the name of the table in it."""
    empty: str = ""
    """Why a table without rows is not one; nothing where it is."""

    @property
    def table(self) -> str:
        return f"{self.name}::{self.member}" if self.member else self.name


def pandas(rows: pa.Table) -> pd.DataFrame:
    return rows.to_pandas(types_mapper=pd.ArrowDtype)


def write_csv(rows: pa.Table, path: Path) -> None:
    pandas(rows).to_csv(path, index=False)


def write_jsonl(rows: pa.Table, path: Path) -> None:
    import polars

    polars.from_arrow(rows).write_ndjson(path)


def write_json(rows: pa.Table, path: Path) -> None:
    import polars

    polars.from_arrow(rows).write_json(path)


def write_avro(rows: pa.Table, path: Path) -> None:
    import fastavro

    types = {pa.int64(): "long", pa.float64(): "double", pa.string(): "string", pa.bool_(): "boolean",
             pa.date32(): {"type": "int", "logicalType": "date"}}  # fmt: skip
    fields = [{"name": field.name, "type": ["null", types[field.type]]} for field in rows.schema]
    schema = {"type": "record", "name": "row", "fields": fields}
    with path.open("wb") as file:
        fastavro.writer(file, schema, (row for batch in rows.to_batches() for row in batch.to_pylist()), "snappy")


def write_zip(rows: pa.Table, path: Path) -> None:
    text = pandas(rows).to_csv(index=False)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/t.csv", text)


def write_tar(rows: pa.Table, path: Path) -> None:
    packed = io.BytesIO()
    pq.write_table(rows, packed)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        info = tarfile.TarInfo("in/t.parquet")
        info.size = packed.tell()
        packed.seek(0)
        archive.addfile(info, packed)


def write_sheet(rows: pa.Table, path: Path) -> None:
    rows.to_pandas(date_as_object=True, integer_object_nulls=True).to_excel(str(path), sheet_name="One", index=False)


def write_sqlite(rows: pa.Table, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        pandas(rows).astype(object).to_sql("t", connection, index=False, if_exists="replace")


def write_duckdb(rows: pa.Table, path: Path) -> None:
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.register("given", rows)
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")


def write_html(rows: pa.Table, path: Path) -> None:
    frame = pandas(rows).astype(object)
    table = frame.where(frame.notna(), "").to_html(index=False)
    path.write_text(f"<html><body>{table}</body></html>", encoding="utf-8")


def write_partitions(rows: pa.Table, path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    pq.write_to_dataset(rows, path, partition_cols=["part"])


def write_delta(rows: pa.Table, path: Path | str) -> None:
    import deltalake

    options = {"allow_http": "true"} if isinstance(path, str) else None
    deltalake.write_deltalake(
        str(path), rows, mode="overwrite", schema_mode="overwrite", partition_by=["part"], storage_options=options
    )


def write_iceberg(rows: pa.Table, path: Path | str) -> None:
    from pyiceberg.catalog.memory import InMemoryCatalog

    if isinstance(path, Path):
        shutil.rmtree(path, ignore_errors=True)
    address = path.as_uri() if isinstance(path, Path) else path
    options = {} if isinstance(path, Path) else {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"]}
    catalog = InMemoryCatalog("catalog", warehouse=address.rpartition("/")[0], **options)
    catalog.create_namespace("space")
    table = catalog.create_table("space.t", schema=rows.schema, location=address)
    for batch in rows.to_batches(max_chunksize=max(1, -(-rows.num_rows // 3))):
        table.append(pa.Table.from_batches([batch]))


def write_with_spark(rows: pa.Table, path: Path) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    session.createDataFrame(rows).repartition(3).write.mode("overwrite").parquet(str(path))


KINDS = (
    Kind("t.csv", write_csv),
    Kind("t.jsonl", write_jsonl, empty="empty file"),
    Kind("t.parquet", pq.write_table),
    Kind("t.feather", pyarrow.feather.write_feather),
    Kind("t.orc", pyarrow.orc.write_table),
    Kind("t.avro", write_avro),
    Kind("t.zip", write_zip, "in/t.csv"),
    Kind("t.tar.gz", write_tar, "in/t.parquet"),
    Kind("t.xlsx", write_sheet, "One"),
    Kind("t.ods", write_sheet, "One"),
    Kind("t.sqlite", write_sqlite, "t"),
    Kind("t.duckdb", write_duckdb, "t"),
    Kind("t.json", write_json, empty="JSON without rows"),
    Kind("t.html", write_html, "1", empty="no tables in it"),
    Kind("hive", write_partitions, empty="not there"),
    Kind("delta", write_delta, empty="folder without files of a table"),
    Kind("iceberg", write_iceberg, empty="folder without files of a table"),
)
BY_SPARK = Kind("by_spark", write_with_spark)


class Place(Protocol):
    """Where a table of some kind lives."""

    root: str
    table: str

    def put(self, rows: pa.Table) -> None: ...

    def remove(self) -> None: ...


class Folder:
    """A folder of this machine."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self.root, self.table, self.kind = str(folder), kind.table, kind
        self.path = folder / kind.name

    def put(self, rows: pa.Table) -> None:
        self.kind.write(rows, self.path)

    def remove(self) -> None:
        shutil.rmtree(self.path) if self.path.is_dir() else self.path.unlink()


class Bucket:
    """An object store."""

    def __init__(self, kind: Kind) -> None:
        self.root, self.table, self.kind = "s3://bucket/lake", kind.table, kind

    def put(self, rows: pa.Table) -> None:
        self.remove()
        if self.kind.name in ("delta", "iceberg"):  # they write addresses into their own files
            self.kind.write(rows, f"{self.root}/{self.kind.name}")  # type: ignore[arg-type]
            return
        with tempfile.TemporaryDirectory() as folder:
            self.kind.write(rows, Path(folder, self.kind.name))
            for path in Path(folder).rglob("*"):
                if path.is_file():
                    Objects(self.root).put(path.relative_to(folder).as_posix(), path.read_bytes())

    def remove(self) -> None:
        Objects(self.root).delete([entry.name for entry in Objects(self.root).entries()])


class Database:
    """PostgreSQL."""

    table = "public.t"

    def __init__(self, address: str) -> None:
        self.root = address

    def put(self, rows: pa.Table) -> None:
        with self._connected() as (connection, cursor):
            cursor.adbc_ingest("t", rows, mode="replace")
            connection.commit()
        time.sleep(1.1)  # until PostgreSQL counts what was changed

    def remove(self) -> None:
        with self._connected() as (connection, cursor):
            cursor.execute("DROP TABLE IF EXISTS t")
            connection.commit()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[Any, Any]]:
        import adbc_driver_postgresql.dbapi as driver

        with driver.connect(self.root) as connection, connection.cursor() as cursor:
            yield connection, cursor


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """As a user who may read only what everybody may; root may read everything."""
    if os.geteuid():
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
