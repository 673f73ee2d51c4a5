"""A join on Spark has the same rows in the same order as in process."""

from __future__ import annotations

import pyarrow.parquet
import pytest

import dovetail
from dovetail._spark.session import SparkRequest
from dovetail.errors import InputError
from dovetail.join import spark as on_spark
from support.command import dovetail as command


@pytest.fixture
def files(tmp_path):
    (tmp_path / "l.csv").write_text("id,a\n1,x\n02,y\nNA,z\n3.0,\n1,w\n")
    (tmp_path / "r.csv").write_text("ref,a\n3,p\n1,q\nNA,s\n7,t\n1,u\n")
    return tmp_path / "l.csv", tmp_path / "r.csv"


def test_the_same_rows_as_in_process(files, tmp_path, monkeypatch):
    monkeypatch.setattr(on_spark, "_PART_BYTES", 12)  # several parts
    said = command(
        "join",
        *files,
        "--on",
        "id=ref",
        "--how",
        "outer",
        "--master",
        "local[1]",
        "-o",
        tmp_path / "o.parquet",
        "--json",
    ).json
    wanted = dovetail.join(*files, on="id=ref", how="outer")
    assert pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pydict() == wanted.table.to_pydict()
    assert (said["rows"], said["matched_left"], said["matched_right"]) == (
        wanted.rows, wanted.matched_left, wanted.matched_right,
    )  # fmt: skip


def test_what_spark_does_not_do(files, tmp_path):
    with pytest.raises(InputError, match=r"Spark writes \.parquet and \.csv"):
        on_spark.join_on_spark(*files, "id=ref", "inner", tmp_path / "o.arrow", SparkRequest())
    with pytest.raises(InputError, match="already exists"):
        on_spark.join_on_spark(*files, "id=ref", "inner", files[0], SparkRequest())
    for options in (["-o", tmp_path / "o.parquet"], ["--on", "id=ref"]):
        said = command("join", *files, "--master", "local[1]", *options)
        assert (said.code, said.err.strip()) == (2, "--master needs two files, --on and -o.")
