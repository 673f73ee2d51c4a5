"""Joined tables have the types of their inputs, and equal key columns of the same name once."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import dovetail
from support.command import dovetail as command

STORED = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "price": pa.array([Decimal("1.50"), None, Decimal("3.25")], pa.decimal128(8, 2)),
        "at": pa.array([datetime.datetime(2024, 1, n, 10) for n in (1, 2, 3)], pa.timestamp("ms")),
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "share": pa.array([0.5, 0.25, None], pa.float32()),
    }
)
PLAIN = STORED.set_column(3, "kind", STORED["kind"].cast(pa.string()))


@pytest.fixture
def files(tmp_path):
    pq.write_table(STORED, tmp_path / "stored.parquet")
    pyarrow.feather.write_feather(STORED, tmp_path / "stored.arrow")
    (tmp_path / "text.csv").write_text(
        "id,day,n,code,seen\n2,2024-05-01,7,007,2024-05-01 08:30:00\n3,2024-05-02,,008,\n"
    )
    return tmp_path


@pytest.mark.parametrize("name", ["nested.parquet", "nested.arrow"])
def test_a_struct_leaves_the_other_columns_their_types(files, name):
    struct = pa.array([{"x": 1, "deep": {"y": 0.5}}, None, {"x": 3, "deep": None}])
    nested = STORED.append_column("place", struct)
    pq.write_table(nested, files / "nested.parquet", row_group_size=2)
    pyarrow.feather.write_feather(nested, files / "nested.arrow")
    joined = dovetail.join(files / name, files / "text.csv", on="id", how="left").frame
    assert joined.select(PLAIN.column_names).equals(PLAIN)
    assert joined["place.x"].to_pylist() == [1, None, 3] and joined["place.deep.y"].to_pylist() == [0.5, None, None]


@pytest.mark.parametrize("one, other, both", [("int32", "int64", "int64"), ("int64", "float64", "float64")])
def test_keys_of_two_widths_take_the_wider(one, other, both):
    mine, theirs = ({"id": pa.array(values, kind)} for values, kind in (([1, 2], one), ([2, 3], other)))
    joined = dovetail.join(pa.table(mine), pa.table(theirs), on="id", how="outer").frame
    assert joined.schema.field("id").type == pa.type_for_alias(both)
    assert joined["id"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["stored.parquet", "stored.arrow"])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_files_keep_their_types(files, name, suffix):
    out = files / f"out{suffix}"
    assert command("join", files / name, files / "text.csv", "--on", "id", "--how", "left", "-o", out).code == 0
    joined = pq.read_table(out) if suffix == ".parquet" else pyarrow.feather.read_table(out)
    assert joined.column_names == ["id", "price", "at", "kind", "share", "day", "n", "code", "seen"]
    assert joined.select(PLAIN.column_names).equals(PLAIN)
    assert joined.schema.field("day").type == pa.date32() and joined.schema.field("n").type == pa.int64()
    assert joined.schema.field("code").type == pa.string()
    assert pa.types.is_timestamp(joined.schema.field("seen").type)
    assert joined["seen"].to_pylist()[1] == datetime.datetime(2024, 5, 1, 8, 30)


def test_csv_keeps_the_text(files):
    out = files / "out.csv"
    command("join", files / "text.csv", files / "stored.parquet", "--on", "id", "-o", out)
    assert out.read_text().splitlines()[1].startswith("2,2024-05-01,7,007,")


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_equal_keys_appear_once(how, kind):
    left, right = kind({"key": [1, 2], "a": ["x", "y"]}), kind({"key": [2, 3], "a": ["u", "v"]})
    joined = dovetail.join(left, right, on="key", how=how)
    rows = {"inner": [2], "left": [1, 2], "right": [2, 3], "outer": [1, 2, 3]}[how]
    assert list(getattr(joined.frame, "column_names", joined.frame.columns)) == ["key", "a", "a_right"]
    keys = joined.frame["key"]
    assert (keys.to_pylist() if kind is pa.table else list(keys)) == rows
    assert joined.table["key"].to_pylist() == [str(row) for row in rows]
    both = dovetail.join(left, right, on="key", how=how, both_keys=True)
    assert both.table.column_names == ["key", "a", "key_right", "a_right"]


def test_keys_that_are_not_equal_stay_both():
    names = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra"]
    joined = dovetail.join({"name": names}, {"name": [name.replace("e", "") for name in names]}, by="similar")
    assert len(joined.matches.left) and joined.table.column_names == ["name", "name_right"]


def test_keys_of_three_tables():
    tables = [
        {"id": ["a", "b"], "x": ["p", "q"]},
        {"id": ["a", "b"], "y": ["r", "s"]},
        {"y": ["r", "s"], "z": ["1", "2"]},
    ]
    joined = dovetail.join(*tables)
    assert sorted(joined.table.column_names) == ["id", "x", "y", "z"]


def test_the_query_has_keys_once(tmp_path):
    import duckdb

    (tmp_path / "a.csv").write_text("key,a\n1,x\n2,y\n")
    (tmp_path / "b.csv").write_text("key,b\n2,u\n3,v\n")
    for how in ("inner", "outer"):
        joined = dovetail.join(tmp_path / "a.csv", tmp_path / "b.csv", on="key", how=how)
        assert duckdb.sql(joined.sql).fetchall() == [tuple(row.values()) for row in joined.table.to_pylist()]
