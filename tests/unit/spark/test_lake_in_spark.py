"""A lake in Spark: many searches as one job, and what is known of the lake as DataFrames."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail._spark.frames import frame_of
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError
from dovetail.search.on_spark import HIT_SCHEMA
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
        {"query": getattr(query, "name", query), **{key: hit[key] for key in HIT_SCHEMA.names[1:-1]}, "error": None}
        for query in queries
        for hit in lake.search(query, **options).to_dicts()
    ]


def rows_of(frame):
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: (row["query"], row["rank"] or 0))


@pytest.mark.parametrize("options", [{}, {"k": 1}, {"on": "place", "threshold": 0.5}], ids=str)
def test_a_folder_of_queries(spark, lake, tmp_path_factory, options):
    folder = lake._snapshot.path.parent / "asked"
    readable = sorted(folder.glob("q*.csv"))
    found = rows_of(lake.to_spark(spark).search_many(folder, **options))
    broken = [row for row in found if row["error"]]
    assert [row["query"] for row in broken] == ["broken.csv"]
    assert {value for name, value in broken[0].items() if name not in ("query", "error")} == {None}
    alone = expected(lake, readable, **options)
    assert [row for row in found if not row["error"]] == sorted(alone, key=lambda row: (row["query"], row["rank"]))
    assert len(alone) >= 5


def test_all_tables_of_the_lake_and_a_frame_of_them(spark, lake):
    found = rows_of(lake.to_spark(spark).search_many())
    names = [line.table for line in lake.tables()]
    assert found == sorted(expected(lake, names), key=lambda row: (row["query"], row["rank"]))
    frame = spark.createDataFrame([(name, 1) for name in names], "query string, other int")
    assert rows_of(lake.to_spark(spark).search_many(frame)) == found


def test_bad_questions_are_refused_before_the_job(spark, lake):
    with pytest.raises(InputError, match="must be one of"):
        lake.to_spark(spark).search_many(by="magic")
    with pytest.raises(InputError, match="no column `query`; it has id"):
        lake.to_spark(spark).search_many(spark.range(3))


def test_the_command(spark, lake, tmp_path):
    """In the session that is there; the same rows as in Python."""
    folder, to = lake._snapshot.path, tmp_path / "hits.parquet"
    done = command("search", "--many", folder.parent / "asked", "--index", folder, "-k", "2", "-o", to)
    assert (done.code, done.out) == (0, f"5 hits of 6 queries written to {to}.\n")
    assert "broken.csv: " in done.err
    found = rows_of(lake.to_spark(spark).search_many(folder.parent / "asked", k=2))
    assert sorted(pq.read_table(to).to_pylist(), key=lambda row: (row["query"], row["rank"] or 0)) == found
    printed = command("search", "--many", folder.parent / "asked", "--index", folder, "-k", "2", terminal=True)
    assert "q4.csv" in printed.out
    for wrong in (("x.csv", "-o", to), ("x.csv", "--many", tmp_path), ()):
        assert command("search", *wrong, "--index", folder).code == 2


def test_what_is_known(spark, lake):
    known = lake.to_spark(spark)
    assert [row.table for row in known.tables.orderBy("table").collect()] == [line.table for line in lake.tables()]
    assert known.columns.where("table = 't1.csv' and column = 'town'").collect()[0].distinct == 15
    alone = lake.inds().to_dicts()
    assert [row.asDict() for row in known.dependencies.collect()] == alone
    assert len(alone) > 3
    assert known.foreign_keys.count() == len(lake.foreign_keys())
    views = known.create_views("known_")
    assert "known_candidate_keys" in views
    counted = spark.sql("select count(*) as n from known_candidate_keys where table = 't2.csv'").collect()[0].n
    assert counted == len(lake.keys(tables="t2.csv"))
    assert known.search_many(["t0.csv"], k=2).count() == 2


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
