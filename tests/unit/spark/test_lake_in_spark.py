"""A lake in Spark: many searches as one job, and what is known of the lake as DataFrames."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail._spark import session
from dovetail._spark.frames import frame_of
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError
from dovetail.search.many import SCHEMA
from support.command import dovetail as command
from support.pipeline import index, without_spark


@pytest.fixture(scope="module")
def spark():
    with spark_session(SparkRequest(master="local[2]")) as engine:
        yield engine.session


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    (folder / "lake").mkdir()
    (folder / "asked").mkdir()
    towns = [f"Town {letter}" for letter in "abcdefghijklmnop"]
    for number in range(5):
        rows = "".join(f"{town},{number * place}\n" for place, town in enumerate(towns[number:]))
        (folder / "lake" / f"t{number}.csv").write_text("town,number\n" + rows)
        (folder / "asked" / f"q{number}.csv").write_text("place\n" + "\n".join(towns[: 4 + number]) + "\n")
    (folder / "asked" / "broken.csv").write_bytes(b"%PDF-1.7 no table")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return dovetail.open(folder / "idx")


def expected(lake, queries, **options):
    """What one search after another finds."""
    return [
        {"query": getattr(query, "name", query), **{key: hit[key] for key in SCHEMA.names[1:-1]}, "error": None}
        for query in queries
        for hit in lake.search(query, **options).to_dicts()
    ]


def rows_of(frame):
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: (row["query"], row["rank"] or 0))


@pytest.mark.parametrize("options", [{}, {"k": 1}, {"on": "place", "threshold": 0.5}], ids=str)
def test_a_folder_of_queries(spark, lake, tmp_path_factory, options):
    folder = lake._snapshot.store.path.parent / "asked"
    readable = sorted(folder.glob("q*.csv"))
    found = rows_of(lake.to_spark(spark).search_many(folder, **options))
    broken = [row for row in found if row["error"]]
    assert [row["query"] for row in broken] == ["broken.csv"]
    assert {value for name, value in broken[0].items() if name not in ("query", "error")} == {None}
    alone = expected(lake, readable, **options)
    assert [row for row in found if not row["error"]] == sorted(alone, key=lambda row: (row["query"], row["rank"]))
    assert len(alone) >= 5


@pytest.mark.full
def test_all_tables_of_the_lake_and_a_frame_of_them(spark, lake):
    found = rows_of(lake.to_spark(spark).search_many())
    names = [line.table for line in lake.tables()]
    assert found == sorted(expected(lake, names), key=lambda row: (row["query"], row["rank"]))
    frame = spark.createDataFrame([(name, 1) for name in names], "query string, other int")
    assert rows_of(lake.search_many(frame)) == found


def test_bad_questions_are_refused_before_the_job(spark, lake):
    with pytest.raises(InputError, match="must be one of"):
        lake.to_spark(spark).search_many(by="magic")
    with pytest.raises(InputError, match="no column `query`; it has id"):
        lake.to_spark(spark).search_many(spark.range(3))


@pytest.mark.full
def test_the_command(lake, tmp_path, monkeypatch, spark):
    """In the session that is there; the same rows as without Spark."""
    monkeypatch.setattr(session, "_active_session", lambda: None)
    monkeypatch.setattr(session, "_start", lambda *_: spark)
    monkeypatch.setattr(type(spark), "stop", lambda _: None)
    folder = lake._snapshot.store.path
    arguments = ("search", "--many", folder.parent / "asked", "--index", folder, "-k", "2")
    for master in ((), ("--master", "local[2]")):
        done = command(*arguments, *master, "-o", tmp_path / f"{len(master)}.parquet")
        assert (done.code, done.out) == (0, "")
    one, other = (pq.read_table(tmp_path / f"{number}.parquet").to_pylist() for number in (0, 2))
    assert sorted(map(str, one)) == sorted(map(str, other))
    assert len(one) == 6
    lines = command(*arguments, "--master", "local[2]").out.splitlines()
    assert [json.loads(line) for line in lines] == other
    assert command("search", "x.csv", "--index", folder, "--master", "local[2]").code == 2


@pytest.mark.full
def test_what_is_known(spark, lake):
    known = lake.to_spark(spark)
    assert [row.table for row in known.tables.orderBy("table").collect()] == [line.table for line in lake.tables()]
    assert known.columns.where("table = 't1.csv' and column = 'town'").collect()[0].distinct == 15
    alone = lake.inds().to_dicts()
    assert [row.asDict() for row in known.dependencies.collect()] == alone
    assert len(alone) > 3
    assert known.foreign_keys.count() == len(lake.foreign_keys())
    views = known.create_views("known_")
    assert len(views) == 6
    hits = spark.sql("select table from known_hits where query = 't0.csv' order by rank").collect()
    assert [row.table for row in hits] == [hit.table for hit in lake.search("t0.csv")]
    counted = spark.sql("select count(*) as n from known_candidate_keys where table = 't2.csv'").collect()[0].n
    assert counted == len(lake.keys(tables="t2.csv"))
    assert known.search_many(["t0.csv"], k=2).count() == len(lake.search("t0.csv", k=2)) > 0


def test_types_of_arrow(spark):
    """Dictionaries, structs, lists and columns without a value."""
    table = pa.table(
        {
            "name": pa.array(["a", None, "a"]).dictionary_encode(),
            "pairs": [[{"value": "x", "rows": 1}], [], None],
            "none": pa.nulls(3),
        }
    )
    rows = [row.asDict(recursive=True) for row in frame_of(spark, table).collect()]
    assert rows == table.to_pylist()
    assert frame_of(spark, table.slice(0, 0)).columns == ["name", "pairs", "none"]
