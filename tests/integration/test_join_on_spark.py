"""A join on Spark has the same rows in the same order as in process."""

from __future__ import annotations

import pyarrow.parquet
import pytest

import dovetail
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError, UnknownName
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


@pytest.fixture(scope="module")
def spark():
    with spark_session(SparkRequest(master="local[2]")) as engine:
        yield engine.session


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_frames_join_as_files_do(files, spark, how):
    wanted = dovetail.join(*files, on="id=ref", how=how).table.to_pylist()
    frames = [spark.read.csv(str(file), header=True, nullValue="", inferSchema=False) for file in files]
    for left, right in (files, frames, (files[0], frames[1])):
        found = dovetail.join_on_spark(left, right, "id=ref", how, spark=spark).collect()
        assert [{name: value or None for name, value in row.asDict().items()} for row in found] == [
            {name: value or None for name, value in row.items()} for row in wanted
        ]


def test_frames_of_numbers_and_odd_names(spark):
    left = spark.createDataFrame([(1, 2.5), (2, 1.0), (3, None)], "`my id` int, `a.b` double")
    right = spark.createDataFrame([("1.0", "x"), ("2.5", "y"), (None, "z")], "value string, `my id` string")
    found = dovetail.join_on_spark(left, right, [("a.b", "value")], spark=spark)
    assert found.columns == ["my id", "a.b", "value", "my id_right"]
    assert [tuple(row) for row in found.collect()] == [("1", "2.5", "2.5", "y"), ("2", "1.0", "1.0", "x")]
    assert dovetail.join_on_spark(left, right, [("a.b", "value"), ("a.b", "value")], spark=spark).count() == 2
    with pytest.raises(UnknownName, match='There is no column "nothing"'):
        dovetail.join_on_spark(left, right, "nothing=value", spark=spark)


def test_a_file_is_parsed_once(files, spark, tmp_path, monkeypatch):
    log = tmp_path / "parsed"
    real = on_spark._read_parts

    def counted(batches):
        for number, table in real(batches):
            with log.open("a") as file:
                file.write(".")
            yield number, table

    monkeypatch.setattr(on_spark, "_read_parts", counted)
    on_spark.join_on_spark(*files, "id=ref", "outer", tmp_path / "o.parquet", SparkRequest(spark))
    assert log.read_text() == ".."
