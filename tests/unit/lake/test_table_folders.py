"""Tables of many files are one table, with the columns that their folders tell."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail.lake.listing import Root
from dovetail.lake.reader import detect_layout, read, split
from dovetail.lake.source import list_lake
from dovetail.lake.table_folders import FolderPath, data_files, table_folders
from support.pipeline import without_spark


def rows_of(folder: Path) -> list[dict[str, str | None]]:
    path = FolderPath(f"{folder}/")
    layout = detect_layout(path)
    parts = [list(read(path, layout, part)) for part in split(path, layout, 1)]
    assert len(parts) == len(data_files(path.address)), "each file can be read by itself"
    batches = [batch for part in parts for batch in part]
    assert pa.Table.from_batches(batches) == pa.Table.from_batches(list(read(path, layout)))
    return pa.Table.from_batches(batches).to_pylist()


def listed(lake: Path) -> dict[str, str]:
    return {table: file.refused for table, file in list_lake([Root.of(str(lake))]).items()}


@pytest.fixture
def partitioned(tmp_path) -> Path:
    folder = tmp_path / "lake" / "sales"
    for year, place, ids in ((2023, "Z%C3%BCrich", [1, 2]), (2024, "__HIVE_DEFAULT_PARTITION__", [3])):
        file = folder / f"year={year}" / f"place={place}" / "x.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"id": ids} if year == 2023 else {"id": ids, "new": ["n"]}), file)
    (folder / "_temporary" / "0").mkdir(parents=True)
    pq.write_table(pa.table({"id": [99]}), folder / "_temporary" / "0" / "part-00000.parquet")
    return folder


def test_partitions(partitioned):
    assert listed(partitioned.parent) == {"sales": ""}
    assert rows_of(partitioned) == [
        {"id": "1", "new": None, "year": "2023", "place": "Zürich"},
        {"id": "2", "new": None, "year": "2023", "place": "Zürich"},
        {"id": "3", "new": "n", "year": "2024", "place": None},
    ]


@pytest.mark.parametrize("header", [True, False])
def test_what_spark_writes(tmp_path, header):
    folder = tmp_path / "lake" / "out.csv"
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    for number, rows in enumerate(["1,a\n2,b\n", "3,c\n", ""]):
        text = f"id,name\n{rows}" if header and rows else rows
        (folder / f"part-0000{number}-1b2c-c000.csv").write_text(text)
    assert listed(tmp_path / "lake") == {"out.csv": ""}
    names = ["id", "name"] if header else ["column_1", "column_2"]
    assert [list(row.values()) for row in rows_of(folder)] == [["1", "a"], ["2", "b"], ["3", "c"]]
    assert list(rows_of(folder)[0]) == names


def test_delta(tmp_path):
    folder = tmp_path / "lake" / "events"
    first = pa.table({"id": [1, 2], "day": ["a", None]})
    deltalake.write_deltalake(str(folder), first, partition_by=["day"])
    deltalake.write_deltalake(str(folder), pa.table({"id": [3], "day": ["b"]}), mode="append")
    deltalake.DeltaTable(str(folder)).delete("id = 1")  # its file stays on disk
    assert listed(tmp_path / "lake") == {"events": ""}
    assert sorted(rows_of(folder), key=lambda row: row["id"]) == [{"id": "2", "day": None}, {"id": "3", "day": "b"}]


def test_delta_that_others_would_read_wrongly(tmp_path):
    folder = tmp_path / "lake" / "t"
    deltalake.write_deltalake(str(folder), pa.table({"id": [1]}), configuration={"delta.enableDeletionVectors": "true"})
    assert listed(tmp_path / "lake")["t"].startswith("Delta table that uses deletionVectors")


def test_a_root_that_is_a_table(partitioned):
    assert listed(partitioned) == {"sales": ""}


def test_names():
    names = ["a/year=1/x.csv", "b/_delta_log/0.json", "c/part-00000", "d/part-00000.csv", "e/metadata/v1.metadata.json"]
    assert table_folders([*names, "f/part-1.csv", "_SUCCESS"]) == {"a/", "b/", "d/", "e/", ""}


def test_a_lake_of_folders(partitioned, tmp_path):
    to = tmp_path / "idx"
    with without_spark(megabyte=1):
        dovetail.index(partitioned.parent, to, settings={"segment_mb": 10_000, "slice_mb": 100})
        lake = dovetail.open(to)
        assert [column.name for column in lake.table("sales").columns] == ["id", "new", "year", "place"]
        assert lake.join({"no": ["2"]}, "sales", on="no=id").table.to_pylist()[0]["place"] == "Zürich"
        assert lake.join(partitioned, {"no": ["2"]}, on="id=no").rows == 1
        assert dovetail.index(partitioned.parent, to).unchanged == 1
        pq.write_table(pa.table({"id": [4]}), partitioned / "year=2023" / "y.parquet")
        assert dovetail.index(partitioned.parent, to).changed == 1


def test_iceberg(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    lake = tmp_path / "lake"
    lake.mkdir()
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.sqlite", warehouse=lake.as_uri())
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2], "name": ["a", "b"]})
    table = catalog.create_table("sales.orders", schema=rows.schema)
    table.append(rows)
    table.append(rows.slice(1))
    table.overwrite(rows.slice(0, 1))  # the files before stay on disk
    assert listed(lake) == {"sales/orders": ""}
    assert rows_of(lake / "sales" / "orders") == [{"id": "1", "name": "a"}]
