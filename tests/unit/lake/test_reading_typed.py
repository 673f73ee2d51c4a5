from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from lakefiles import rows_of, table_of, written

from dovetail.errors import UnreadableTable
from dovetail.lake.reader import RowCounter, detect_layout, split

TYPED: list[tuple[pa.DataType, list[object], list[str | None]]] = [
    (pa.int64(), [1, None, -(2**63)], ["1", None, str(-(2**63))]),
    (pa.uint64(), [2**64 - 1], [str(2**64 - 1)]),
    (pa.decimal128(38, 2), [Decimal("12345678901234567890.50")], ["12345678901234567890.50"]),
    (
        pa.float64(),
        [1.0, 0.1, -2.5, 1001.0, None, float("nan")],
        ["1.0", "0.1", "-2.5", "1001.0", None, "nan"],
    ),
    (pa.float32(), [0.1, 3.0], ["0.1", "3.0"]),
    (pa.bool_(), [True, False, None], ["true", "false", None]),
    (pa.date32(), [dt.date(2024, 2, 29)], ["2024-02-29"]),
    (
        pa.timestamp("us"),
        [dt.datetime(2024, 1, 2, 3, 4, 5), dt.datetime(2024, 1, 2, 3, 4, 5, 600)],
        ["2024-01-02T03:04:05", "2024-01-02T03:04:05.000600"],
    ),
    (pa.timestamp("ns", "UTC"), [dt.datetime(2024, 1, 2, tzinfo=dt.UTC)], ["2024-01-02T00:00:00Z"]),
    (pa.time64("us"), [dt.time(1, 2, 3)], ["01:02:03"]),
    (pa.large_string(), ["é", None, ""], ["é", None, ""]),
    (pa.binary(), [b"abc", None], ["abc", None]),
    (pa.binary(), [b"\xff\x00", b"a"], ["ff00", "61"]),
    (pa.dictionary(pa.int8(), pa.string()), ["x", None, "x"], ["x", None, "x"]),
    (pa.list_(pa.string()), [["a", "é"], None, []], ['["a", "é"]', None, "[]"]),
    (pa.list_(pa.decimal128(5, 2)), [[Decimal("1.50")]], ['["1.50"]']),
    (pa.null(), [None], [None]),
]


@pytest.mark.parametrize(
    ("kind", "values", "expected"), TYPED, ids=[f"{kind}-{i}" for i, (kind, _, _) in enumerate(TYPED)]
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_typed_values(
    tmp_path: Path, name: str, kind: pa.DataType, values: list[object], expected: list[str | None]
) -> None:
    table = pa.table({"v": pa.array(values, kind)})
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
    assert table_of(path) == (("v",), [[value] for value in expected])


def test_structs_are_flattened(tmp_path: Path) -> None:
    rows = [
        {"a": {"b": 1, "c": {"d": "x"}}, "e": [1, 2]},
        {"a": None, "e": None},
        {"a": {"b": None, "c": None}, "e": []},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    expected = [["1", "x", "[1, 2]"], [None, None, None], [None, None, "[]"]]
    assert table_of(tmp_path / "a.parquet") == (("a.b", "a.c.d", "e"), expected)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns, found = table_of(tmp_path / "a.jsonl")
    assert columns[:3] == ("a.b", "a.c.d", "e")
    assert [row[:3] for row in found] == expected


def test_arrow_stream_and_duplicate_names(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"])], names=["a", "a"])
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert table_of(tmp_path / "a.arrow") == (("a", "a_2"), [["1", "x"], ["2", "y"]])


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_parts(tmp_path: Path, name: str) -> None:
    table = pa.table({"n": list(range(1000)), "t": [f"text {i}" for i in range(1000)]})
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(table, path, row_group_size=90)
    else:
        pa.feather.write_feather(table, path, chunksize=90, compression="uncompressed")
    layout = detect_layout(path)
    parts = split(path, layout, 4000)
    assert len(parts) > 3
    assert [row for part in parts for row in rows_of(path, layout, part)] == rows_of(path, layout)


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"id": 12345678901234567890, "price": 1.10, "ok": true, "name": "x\\ny", "tags": ["a", 1]}',
        "",
        '{"id": 2, "price": 1e5, "ok": null, "late": {"deep": {}}}',
    ]
    columns, rows = table_of(written(tmp_path, "a.ndjson", "\ufeff" + "\r\n".join(lines)))
    assert columns == ("id", "price", "ok", "name", "tags", "late.deep")
    assert rows == [
        ["12345678901234567890", "1.10", "true", "x\ny", '["a", 1]', None],
        ["2", "1e5", None, None, None, "{}"],
    ]


def test_json_lines_in_parts_and_with_unknown_keys(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", "".join(json.dumps({"n": i, "t": "é" * (i % 7)}) + "\n" for i in range(3000)))
    layout = detect_layout(path)
    parts = split(path, layout, 5000)
    assert len(parts) > 5
    assert [row for part in parts for row in rows_of(path, layout, part)] == rows_of(path, layout)
    path.write_text('{"n": 1, "new": 2}\n')
    counter = RowCounter()
    assert rows_of(path, layout, counter=counter) == [["1", None]]
    assert counter.long == 1


def test_no_columns(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTable, match="no columns"):
        detect_layout(written(tmp_path, "a.jsonl", "{}\n"))
