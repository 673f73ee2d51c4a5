"""What is asked of an object store, counted by a proxy: each listing once, and the bytes of a table once."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail import _objects
from dovetail._objects import Objects
from dovetail.lake import object_path
from support.buckets import Request, counted, s3_server
from support.pipeline import index, without_spark
from support.sources import write_delta, write_partitions

LAKE = "s3://bucket/lake"
NUMBER = 30_000
ROWS = pa.table(
    {
        "id": range(NUMBER),
        "name": [f"name {i}" for i in range(NUMBER)],
        "part": [str(3 * i // NUMBER) for i in range(NUMBER)],
    }
)


@pytest.fixture
def asked(tmp_path, monkeypatch) -> Iterator[list[Request]]:
    with s3_server("bucket", tmp_path / "log") as variables, counted(variables["AWS_ENDPOINT_URL"]) as (proxy, asked):
        for name, value in (variables | {"AWS_ENDPOINT_URL": proxy}).items():
            monkeypatch.setenv(name, value)
        _objects.client.cache_clear()
        make_lake()
        asked.clear()
        yield asked
        _objects.client.cache_clear()


def make_lake() -> None:
    objects = Objects(LAKE)
    for number in range(4):
        rows = "".join(f"{i},Town {i * number}\n" for i in range(40))
        objects.put(f"small/t{number}.csv", f"id,name\n{rows}".encode())
    objects.put("big.csv", ("id,text\n" + "".join(f"{i},word {i % 97}\n" for i in range(NUMBER))).encode())
    with io.BytesIO() as file:
        pq.write_table(ROWS, file, row_group_size=NUMBER // 6)
        objects.put("big.parquet", file.getvalue())
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name in ("a", "b", "c"):
                archive.writestr(f"{name}.csv", "a,b\n" + "".join(f"{i},{i}{name}\n" for i in range(20_000)))
        objects.put("many.zip", file.getvalue())
    write_delta(ROWS, f"{LAKE}/delta")
    with tempfile.TemporaryDirectory() as folder:
        write_partitions(ROWS, Path(folder, "hive"))
        for path in Path(folder).rglob("*.parquet"):
            objects.put(path.relative_to(folder).as_posix(), path.read_bytes())


def fetches(asked: list[Request], name: str) -> float:
    """How many times each byte of an object was sent, on average."""
    found = [request for request in asked if unquote(request.path) == f"/bucket/lake/{name}"]
    return sum(request.bytes for request in found) / Objects(LAKE).head(name).bytes


@pytest.mark.full
def test_bytes_and_listings(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(object_path, "_REQUEST_BYTES", 1_000)  # beside slices of 100 kB
    with without_spark(megabyte=100_000):
        index(LAKE, tmp_path / "idx")
    first = list(asked)
    asked.clear()
    with without_spark(megabyte=100_000):
        assert index(LAKE, tmp_path / "idx").unchanged == 11
    again = list(asked)
    for number in range(4):
        assert fetches(first, f"small/t{number}.csv") == 1
    listings = Counter(request.query for request in first if request.is_listing)
    assert listings["list-type=2&prefix=lake%2Fsmall%2F"] == 1
    assert max(listings.values()) <= 3, "whatever the number of slices; tables of many files are looked at anew"
    for entry in Objects(LAKE).entries():
        if entry.name.endswith(".parquet"):
            assert 0.99 < fetches(first, entry.name) < 1.05, entry.name
    assert fetches(first, "many.zip") < 1.05, "its directory once, and each member once"
    assert fetches(first, "big.csv") < 3.5, "looked at (here, all of it), checked where it is cut, and read"
    sent = {unquote(request.path) for request in again if request.bytes and not request.is_listing}
    assert all("_delta_log" in path for path in sent), "nothing has changed"
