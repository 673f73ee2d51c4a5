"""Avro files as their own library writes them: every type, nested records, damage."""

from __future__ import annotations

import datetime
import decimal
import random
import sys
import uuid
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

import dovetail
from dovetail.errors import BuildFailed, InputError, UnreadableTable
from dovetail.lake.reader import detect_layout, read
from support.pipeline import without_spark

ADDRESS = {"type": "record", "name": "address", "fields": [
    {"name": "city", "type": "string"}, {"name": "before", "type": ["null", "address"]}
]}  # fmt: skip
FIELDS = [
    ("long", "long", 1, "1"),
    ("text", ["null", "string"], None, None),
    ("date", {"type": "int", "logicalType": "date"}, datetime.date(2024, 2, 29), "2024-02-29"),
    ("moment", {"type": "long", "logicalType": "timestamp-millis"},
     datetime.datetime(2024, 2, 29, 13, 5, tzinfo=datetime.UTC), "2024-02-29T13:05:00Z"),
    ("decimal", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, decimal.Decimal("1.50"),
     "1.50"),
    ("uuid", {"type": "string", "logicalType": "uuid"}, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ("list", {"type": "array", "items": "int"}, [1, 2], "[1, 2]"),
    ("map", {"type": "map", "values": "double"}, {"ü": 1.5}, '{"ü": 1.5}'),
    ("union", ["null", "int", "string", "boolean"], True, "true"),
    ("enum", {"type": "enum", "name": "E", "symbols": ["A", "B"]}, "A", "A"),
    ("again", "E", "B", "B"),
    ("fixed", {"type": "fixed", "name": "F", "size": 2}, b"\x00\xff", "00ff"),
    ("double", "double", 2.0, "2.0"),
]  # fmt: skip
SCHEMA = {
    "type": "record", "name": "row", "namespace": "n",
    "fields": [*({"name": name, "type": kind} for name, kind, _, _ in FIELDS), {"name": "home", "type": ADDRESS}],
}  # fmt: skip
ROW = {name: value for name, _, value, _ in FIELDS}


def write(path: Path, rows: list[dict[str, object]], codec: str = "null") -> Path:
    with path.open("wb") as file:
        fastavro.writer(file, SCHEMA, rows, codec)
    return path


def rows_of(path: Path) -> list[dict[str, str | None]]:
    return pa.Table.from_batches(list(read(path, detect_layout(path)))).to_pylist()


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2"])
def test_types(tmp_path, codec):
    home = {"city": "Bern", "before": {"city": "Basel", "before": None}}
    path = write(tmp_path / "a.avro", [{**ROW, "home": home}], codec)
    assert rows_of(path) == [
        {name: text for name, _, _, text in FIELDS}
        | {"home.city": "Bern", "home.before": '{"city": "Basel", "before": null}'}
    ]


def test_values_that_are_not_records(tmp_path):
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, "long", [1, 2])
    with pytest.raises(UnreadableTable, match="Avro values that are not records"):
        detect_layout(tmp_path / "a.avro")


def test_damage(tmp_path):
    """Any flipped bit and any cut has a reason, or changes a value."""
    whole = write(tmp_path / "a.avro", [{**ROW, "home": {"city": "Bern", "before": None}}] * 3).read_bytes()
    draw = random.Random(0)
    refused = 0
    for number in range(200):
        data = bytearray(whole)
        if number % 2:
            del data[draw.randrange(len(data)) :]
        else:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        (tmp_path / "b.avro").write_bytes(data)
        try:
            rows_of(tmp_path / "b.avro")
        except UnreadableTable:
            refused += 1
    assert refused > 150


def test_without_the_package(tmp_path, monkeypatch):
    (tmp_path / "lake").mkdir()
    path = write(tmp_path / "lake" / "a.avro", [])
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(InputError, match=r"need the package fastavro. Run `pip install 'dovetail-lake\[files\]'`"):
        detect_layout(path)
    with (
        without_spark(),
        pytest.raises(BuildFailed, match=r"^The worker \S+ cannot go on. Avro files need"),
    ):
        dovetail.index(tmp_path / "lake", tmp_path / "idx")
