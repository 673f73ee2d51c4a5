"""Files that only a Spark session reaches: the same answers as when they are read in place."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError
from dovetail.indexes.verify import verify_index
from dovetail.lake.listing import Root
from dovetail.pipeline.spark_binary import _name_under
from support.clusters import alike
from support.contents import contents_of, leftovers
from support.pipeline import without_spark

LARGEST = 300_000


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    conf = {"spark.sql.sources.binaryFile.maxLength": str(LARGEST)}
    with spark_session(SparkRequest(None, "local[2]", conf)) as engine:
        yield engine.session


@pytest.fixture
def lake(tmp_path) -> Path:
    folder = tmp_path / "the lake"
    (folder / "deep" / "er").mkdir(parents=True)
    rows = "".join(f"{n},name {n % 50}\n" for n in range(9_000))
    (folder / "a b.csv").write_text("id,name\n" + rows)
    (folder / "deep" / "one[1]{x}*.csv").write_text("id;name\n1;Zürich\n", encoding="cp1252")
    (folder / "deep" / "er" / "c.csv.gz").write_bytes(gzip.compress(b"id\n1\n2\n"))
    pq.write_table(pa.table({"id": range(700)}), folder / "p%20.parquet")
    (folder / "broken.csv").write_bytes(b"\x00" * 500)
    (folder / "notes.md").write_text("no table")
    return folder


@pytest.mark.full
def test_files_through_spark_are_as_files(spark, lake, tmp_path):
    with without_spark():
        dovetail.index(lake, tmp_path / "here")
    for name in ("empty.csv", "_hidden.csv", ".hidden.csv"):  # which Spark's reader leaves out
        (lake / name).write_text("" if name == "empty.csv" else "id\n1\n")
    (lake / "large.csv").write_text("id\n" + "1\n" * LARGEST)
    to, address = tmp_path / "idx", f"spark:{lake.as_uri()}".replace("%20", " ")
    report = dovetail.index(address, to, spark=spark, settings={"slice_mb": 1})
    reasons = {skip.path: skip.reason for skip in report.skipped}
    assert reasons.pop("large.csv") == "too large to be read through Spark: more than 0 MB"
    assert list(reasons) == ["broken.csv"]
    found = {name: table for name, table in alike(contents_of(to)).items() if name != "large.csv"}
    assert found == alike(contents_of(tmp_path / "here"))
    assert leftovers(to) == set()
    assert verify_index(to).problems == ()

    (lake / "a b.csv").write_text("id\n7\n")
    again = dovetail.index(address, to, spark=spark)
    assert (again.changed, again.unchanged, again.added) == (1, 5, 0)
    assert dovetail.open(to).table("a b.csv").rows == 1
    with pytest.raises(InputError, match="was read by a Spark session"):
        dovetail.open(to).table("deep/er/c.csv.gz").to_arrow()


@pytest.mark.full
def test_what_spark_does_not_find_is_said(spark, tmp_path):
    with pytest.raises(InputError, match="Spark cannot list file:///nowhere"):
        dovetail.index("spark:file:///nowhere/at/all", tmp_path / "idx", spark=spark)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("hdfs://node:8020/lake/", "spark:hdfs://node:8020/lake"), ("dbfs:/mnt/lake", "spark:dbfs:/mnt/lake"),
        ("spark:s3a://bucket/raw", "spark:s3a://bucket/raw"), ("s3a://bucket/raw", "s3a://bucket/raw"),
    ],
)  # fmt: skip
def test_which_addresses_spark_reads(source, path):
    assert Root.of(source).path == path


@pytest.mark.parametrize(
    ("root", "path", "name"),
    [
        ("hdfs://node/lake", "hdfs://node:8020/lake/a/b.csv", "a/b.csv"), ("dbfs:/lake", "dbfs:/lake/b.csv", "b.csv"),
        ("file:///lake/b.csv", "file:/lake/b.csv", "b.csv"), ("s3a://bucket", "s3a://bucket/a/b.csv", "a/b.csv"),
    ],
)  # fmt: skip
def test_names_under_a_root(root, path, name):
    assert _name_under(root, path) == name
