"""Tables of Spark's catalogs and DataFrames: the same answers as the same rows in files."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError
from dovetail.pipeline import spark_tables
from support.contents import Contents, contents_of, leftovers
from support.pipeline import without_spark

MOMENT = datetime.datetime(2024, 2, 29, 23, 30, tzinfo=datetime.UTC)


def tables() -> dict[str, pa.Table]:
    """Every usual type, nulls, names with dots and spaces, structs, an empty table, and a larger one."""
    odd = {
        "whole": [1, None, -3], "real": [1.5, 2.0, None], "text": ["Zürich", "", None], "flag": [True, None, False],
        "day": [datetime.date(2024, 2, 29), None, datetime.date(1969, 7, 20)],
        "a.moment": pa.array([MOMENT, None, MOMENT + datetime.timedelta(microseconds=7)], pa.timestamp("us", "UTC")),
        "exact amount": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")], pa.decimal128(9, 2)),
        "place": [{"lat": 47.4, "name": "here"}, None, {"lat": None, "name": "there"}],
        "several": [["a", "b"], [], None], "raw": pa.array([b"ab", None, b"\xff"], pa.binary()),
    }  # fmt: skip
    return {
        "odd": pa.table(odd),
        "empty": pa.table({"id": pa.array([], pa.int64()), "name": pa.array([], pa.string())}),
        "orders": pa.table({"id": range(30_000), "city": [f"City {n % 900}" for n in range(30_000)]}),
        "cities": pa.table({"city": [f"City {n}" for n in range(900)], "code": [f"C{n:04}" for n in range(900)]}),
    }


@pytest.fixture(scope="module")
def spark(tmp_path_factory) -> Iterator[Any]:
    """A session in another time zone, which must not show."""
    conf = {
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.session.timeZone": "Pacific/Auckland", "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    with spark_session(SparkRequest(None, "local[2]", conf)) as engine:
        yield engine.session


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, table in tables().items():
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=10_000)
    return folder


@pytest.fixture(scope="module")
def from_files(files, tmp_path_factory) -> Path:
    index = tmp_path_factory.mktemp("index") / "idx"
    with without_spark():
        dovetail.index(files, index)
    return index


@pytest.fixture(scope="module")
def catalog(spark, files) -> str:
    """A database with the tables, a view, and another one."""
    spark.sql("CREATE DATABASE sales")
    spark.sql("CREATE DATABASE other")
    for name in tables():
        spark.read.parquet(str(files / f"{name}.parquet")).write.saveAsTable(f"sales.{name}")
    spark.sql("CREATE TABLE other.things AS SELECT 1 AS id")
    return "sales"


def plain(contents: Contents, rename=lambda name: name) -> dict[str, Any]:
    """Without what tells files from tables: paths, fingerprints, sizes, layouts."""
    own = {"table": "", "path": "", "fingerprint": "", "layout": "", "bytes": 0}
    return {rename(name): {**found, "table": {**vars(found["table"]), **own}} for name, found in contents.items()}


def base(name: str) -> str:
    return name.removesuffix(".parquet").rpartition(".")[2]


def test_tables_of_a_catalog_are_as_files(spark, catalog, from_files, tmp_path):
    index = tmp_path / "idx"
    report = dovetail.index(tables=[f"{catalog}.*"], to=index, spark=spark)
    assert (report.tables, report.skipped) == (4, [])
    assert plain(contents_of(index), base) == plain(contents_of(from_files), base)
    assert leftovers(index) == set()
    assert {line.table for line in dovetail.open(index).tables()} == {f"sales.{name}" for name in tables()}
    asked = tables()["orders"].select(["city"]).slice(0, 400)
    ours, theirs = (dovetail.open(each).search(asked).to_dicts() for each in (index, from_files))
    same = ("on", "columns", "overlap", "joined_rows", "cardinality")  # the score also weighs the tables' names
    assert [(base(hit["table"]), *map(hit.get, same)) for hit in ours] == [
        (base(hit["table"]), *map(hit.get, same)) for hit in theirs
    ]
    with without_spark():
        assert dovetail.verify(index).problems == ()


@pytest.fixture(scope="module")
def not_plain(spark, catalog, tmp_path_factory) -> set[str]:
    """Tables of files that do not say all: a database with what Spark knows more of. Its names."""
    spark.sql("CREATE DATABASE hard")
    spark.sql(
        "CREATE TABLE hard.parted USING parquet PARTITIONED BY (year) AS SELECT id, 2000 + id % 3 AS year FROM range(9)"
    )
    spark.sql("CREATE TABLE hard.padded (code CHAR(5), id INT) USING parquet")
    spark.sql("INSERT INTO hard.padded VALUES ('ab', 1), ('abcde', 2)")
    spark.sql("CREATE TABLE hard.grown USING parquet AS SELECT 1 AS id, 'a' AS name")
    spark.sql("ALTER TABLE hard.grown ADD COLUMNS (later INT)")
    spark.sql("CREATE TABLE hard.comma USING csv AS SELECT id, 'a,b' AS text FROM range(5)")
    spark.sql("CREATE TABLE hard.stripes USING orc AS SELECT id, 'a' AS text FROM range(5)")
    spark.sql("CREATE TABLE hard.pairs USING parquet AS SELECT map('a', id) AS pairs FROM range(5)")
    wide = tmp_path_factory.mktemp("wide")
    pq.write_table(pa.table({"id": pa.array([1, 2], pa.int32())}), wide / "part.parquet")
    spark.sql(f"CREATE TABLE hard.widened (id BIGINT) USING parquet LOCATION '{wide}'")
    broken = tmp_path_factory.mktemp("broken")
    (broken / "part.parquet").write_bytes(b"PAR1 nothing of the kind PAR1")
    spark.sql(f"CREATE TABLE hard.broken (id BIGINT) USING parquet LOCATION '{broken}'")
    return {"parted", "padded", "grown", "comma", "stripes", "pairs", "widened", "broken"}


@pytest.mark.full
def test_files_that_tasks_read_give_what_spark_reads(spark, catalog, not_plain, tmp_path, monkeypatch):
    """Small tables of plain files are read without Spark's plans, and all others with them."""
    planned: set[str] = set()
    stage = spark_tables._stage_union

    def noting(engine, plans, *given):
        planned.update(file.table.rpartition(".")[2] for file, _, _ in plans)
        return stage(engine, plans, *given)

    monkeypatch.setattr(spark_tables, "_stage_union", noting)
    spark.sql("CREATE TABLE other.several USING parquet AS SELECT /*+ REPARTITION(3) */ id, id % 7 AS b FROM range(90)")
    chosen = [f"{catalog}.*", "hard.*", "other.several"]
    first = dovetail.index(tables=chosen, to=tmp_path / "files", spark=spark)
    assert planned == not_plain
    assert [skipped.path for skipped in first.skipped] == ["hard.broken"]
    monkeypatch.setattr(spark_tables.SparkTables, "plain", lambda *_: None)
    dovetail.index(tables=chosen, to=tmp_path / "planned", spark=spark)
    assert planned == not_plain | set(tables()) | {"several"}
    by_files, by_plans = (sorted_rows(plain(contents_of(tmp_path / name))) for name in ("files", "planned"))
    assert by_files == by_plans
    spark.sql("DROP TABLE other.several")


def sorted_rows(contents: dict[str, Any]) -> dict[str, Any]:
    """A table of several files has its rows, and so the values that are shown of it, in no particular order."""
    found = {}
    for name, table in contents.items():
        columns = [dataclasses.replace(column, top=(), sample=()) for column in table["columns"]]
        rows = sorted(zip(*table["rows"], strict=True), key=repr)
        found[name] = {**table, "rows": rows, "columns": columns} if name == "other.several" else table
    return found


@pytest.mark.full
def test_only_what_has_changed_is_read_again(spark, catalog, tmp_path):
    index = tmp_path / "idx"
    spark.sql("CREATE TABLE other.changing AS SELECT 1 AS id, 'a' AS name")
    chosen = [f"{catalog}.cities", "other.changing"]
    dovetail.index(tables=chosen, to=index, spark=spark)
    again = dovetail.index(tables=chosen, to=index, spark=spark)
    assert (again.unchanged, again.changed, again.added) == (2, 0, 0)
    spark.sql("INSERT INTO other.changing VALUES (2, 'b')")
    third = dovetail.index(tables=chosen, to=index, spark=spark)
    assert (third.unchanged, third.changed) == (1, 1)
    assert dovetail.open(index).table("other.changing").rows == 2
    fewer = dovetail.index(tables=["other.changing"], to=index, spark=spark, allow_drop=True)
    assert (fewer.removed, fewer.tables) == (1, 1)
    spark.sql("DROP TABLE other.changing")


@pytest.mark.full
def test_dataframes_are_as_files(spark, files, from_files, tmp_path):
    index = tmp_path / "idx"
    frames = {name: spark.read.parquet(str(files / f"{name}.parquet")) for name in tables()}
    dovetail.index(dataframes=frames, to=index, spark=spark)
    assert plain(contents_of(index)) == plain(contents_of(from_files), base)
    assert dovetail.index(dataframes=frames, to=index, spark=spark).changed == 4, (
        "nobody knows whether they have changed"
    )


@pytest.mark.full
def test_a_spark_table_beside_a_lake_stays_when_the_lake_is_read_again(spark, catalog, tmp_path):
    lake, index = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    (lake / "a.csv").write_text("id,city\n1,City 7\n")
    with without_spark():
        dovetail.index(lake, index)
    dovetail.index(tables=[f"{catalog}.cities"], to=index, add=True, spark=spark)
    assert {line.table for line in dovetail.open(index).tables()} == {"a.csv", "catalog//sales.cities"}
    (lake / "b.csv").write_text("id\n1\n")
    with without_spark():
        report = dovetail.index(lake, index)
    assert (report.added, report.removed) == (1, 0)
    assert {line.table for line in dovetail.open(index).tables()} == {"a.csv", "b.csv", "catalog//sales.cities"}


@pytest.mark.full
def test_rows_are_read_by_the_active_session(spark, catalog, tmp_path):
    index = tmp_path / "idx"
    dovetail.index(tables=[f"{catalog}.cities"], to=index, spark=spark)
    found = dovetail.open(index).table("sales.cities").to_arrow()
    assert sorted(found["code"].to_pylist()) == [f"C{n:04}" for n in range(900)]


@pytest.mark.full
def test_a_frame_of_spark_is_a_query(spark, files, from_files):
    lake = dovetail.open(from_files)
    frame = spark.read.parquet(str(files / "cities.parquet"))
    assert lake.search(frame).to_dicts() == lake.search(tables()["cities"]).to_dicts()


@pytest.mark.full
def test_a_table_that_spark_cannot_read_is_recorded_with_the_reason(spark, files, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "part-0.parquet").write_bytes(b"PAR1 nothing of the kind PAR1")
    frames = {
        "good": spark.read.parquet(str(files / "cities.parquet")),
        "bad": spark.read.schema("id int").parquet(str(bad)),
        "odd types": spark.sql("SELECT NULL AS nothing, INTERVAL '3' MONTH AS span, 1 AS id"),
    }
    report = dovetail.index(dataframes=frames, to=tmp_path / "idx", spark=spark)
    assert report.tables == 2
    assert [skipped.path for skipped in report.skipped] == ["bad"]
    assert report.skipped[0].reason.startswith("Spark cannot read it: ")


def test_what_is_not_given(tmp_path):
    with pytest.raises(InputError, match="`to` is missing"):
        dovetail.index("lake")
    with pytest.raises(InputError, match="Give one of `lake`, `dataframes`"):
        dovetail.index(to=tmp_path / "idx")
