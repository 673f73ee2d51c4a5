"""What is asked of an object store: each listing once, and every byte of a table at most once."""

from __future__ import annotations

import collections
import io
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail import _objects
from dovetail._objects import Objects
from support.buckets import counted, s3_server
from support.pipeline import index, without_spark
from support.sources import write_delta, write_partitions

LAKE = "s3://bucket/lake"


def make_lake() -> None:
    objects = Objects(LAKE)
    for n in range(4):
        objects.put(f"small/t{n}.csv", ("id,name\n" + "".join(f"{i},Town {i * n}\n" for i in range(40))).encode())
    objects.put("big.csv", ("id,text\n" + "".join(f"{i},word {i % 97}\n" for i in range(30_000))).encode())
    rows = pa.table(
        {
            "id": range(30_000),
            "name": [f"name {i}" for i in range(30_000)],
            "part": [f"{i // 10_000}" for i in range(30_000)],
        }
    )
    with io.BytesIO() as f:
        pq.write_table(rows, f, row_group_size=5000)
        objects.put("big.parquet", f.getvalue())
    with io.BytesIO() as f:
        pq.write_table(rows.slice(0, 100), f)
        objects.put("small.parquet", f.getvalue())
    with io.BytesIO() as f:
        with zipfile.ZipFile(f, "w") as z:
            z.writestr("a.csv", "a,b\n1,2\n3,4\n")
            z.writestr("b.csv", "a,b\n1,2\n3,4\n")
        objects.put("two.zip", f.getvalue())
    write_delta(rows, f"{LAKE}/delta")
    with tempfile.TemporaryDirectory() as folder:
        write_partitions(rows, Path(folder, "hive"))
        for path in Path(folder).rglob("*.parquet"):
            objects.put(path.relative_to(folder).as_posix(), path.read_bytes())


@pytest.mark.full
def test_requests(tmp_path, monkeypatch):
    with s3_server("bucket", tmp_path / "log") as variables, counted(variables["AWS_ENDPOINT_URL"]) as (proxy, asked):
        for name, value in (variables | {"AWS_ENDPOINT_URL": proxy}).items():
            monkeypatch.setenv(name, value)
        _objects.client.cache_clear()
        make_lake()
        asked.clear()
        with without_spark(megabyte=100_000):
            index(LAKE, tmp_path / "idx")
        _objects.client.cache_clear()
        by = collections.defaultdict(list)
        for r in asked:
            by[r.path if not r.is_listing else "LIST " + r.query].append((r.method, r.range, r.bytes))
        for k, v in sorted(by.items()):
            print(k, len(v), v[:14])
