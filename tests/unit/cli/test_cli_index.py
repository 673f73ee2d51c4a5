"""`dovetail index`: what it says, what it reads, and what it remembers."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing

import duckdb
import openpyxl
import pytest

from dovetail._spark.session import SparkRequest
from dovetail.lake.schemes import refuse_password
from support.command import dovetail


def tables(idx):
    return [line["table"] for line in dovetail("tables", idx, "--json").json if not line["error"]]


def names(idx, table):
    return [column["column"] for column in dovetail("columns", idx, table, "--json").json]


def test_the_summary(tmp_path, lake):
    answer = dovetail("index", lake, "--to", tmp_path / "idx")
    assert answer.code == 0
    assert re.fullmatch(r"5 files to read; the index will need up to about \S+ \S+ of disk \(.* free\)\.\n", answer.err)
    counts, skipped, read, index = answer.out.splitlines()
    assert counts == "4 tables · 9 columns · 10 rows · 17 distinct values · 1 file skipped"
    assert skipped == "  skipped letter.txt: not a table: prose"
    assert re.fullmatch(r"Read 5 new files \(\S+ B\) in \S+ s · \S+ s to start Spark, then \S+ MB/s", read)
    assert re.fullmatch(rf"Index: {tmp_path}/idx  \(generation \d+, 1 segment, \S+ KB\)", index)


def test_again_reads_nothing(lake, idx):
    answer = dovetail("index", lake, "--to", idx)
    assert answer.code == 0
    assert answer.err == ""
    assert "Nothing to read: 5 unchanged" in answer.out


def test_new_changed_and_gone_files(lake, idx):
    (lake / "new.csv").write_text("a,b\n1,2\n")
    (lake / "people.csv").write_text("id,name\n9,Zoe\n")
    (lake / "old" / "log.csv").unlink()
    answer = dovetail("index", lake, "--to", idx)
    assert "Read 1 new file and 1 changed file" in answer.out
    assert "1 file gone · 3 unchanged" in answer.out
    assert tables(idx) == ["geo/cities.csv", "geo/codes.tsv", "new.csv", "people.csv"]
    assert names(idx, "people.csv") == ["id", "name"]


def test_only_gone_files(lake, idx):
    (lake / "old" / "log.csv").unlink()
    assert "Nothing to read: 1 file gone, 4 unchanged" in dovetail("index", lake, "--to", idx).out


def test_json(lake, tmp_path):
    answer = dovetail("index", lake, "--to", tmp_path / "idx", "--json")
    report = answer.json
    assert {"tables": 4, "columns": 9, "rows": 10, "values": 17, "added": 5, "unchanged": 0}.items() <= report.items()
    assert report["skipped"] == [{"path": "letter.txt", "reason": "not a table: prose"}]
    assert report["seconds"] > 0
    assert report["bytes"] == sum(path.stat().st_size for path in lake.rglob("*.?sv"))


def test_strict(lake, tmp_path):
    assert dovetail("index", lake, "--to", tmp_path / "idx", "--strict").code == 1
    assert dovetail("index", lake, "--to", tmp_path / "idx", "--strict", "--exclude", "*.txt").code == 0


def test_many_skipped_files(lake, tmp_path):
    for number in range(12):
        (lake / f"empty-{number:02}.csv").touch()
    answer = dovetail("index", lake, "--to", tmp_path / "idx")
    assert answer.out.count("  skipped ") == 10
    assert f"  … and 3 more: dovetail tables {tmp_path}/idx --skipped\n" in answer.out


def test_tables_and_exclude(lake, tmp_path):
    idx = tmp_path / "idx"
    dovetail("index", lake, "--to", idx, "--tables", "geo/*", "--tables", "old/*", "--exclude", "*.tsv")
    assert tables(idx) == ["geo/cities.csv", "old/log.csv"]
    assert "(only geo/*; only old/*; without *.tsv)" in dovetail("info", idx).out
    dovetail("index", lake, "--to", idx)
    assert tables(idx) == ["geo/cities.csv", "old/log.csv"], "choices are remembered"
    dovetail("index", lake, "--to", idx, "--tables", "*", "--exclude", "")
    assert tables(idx) == ["geo/cities.csv", "geo/codes.tsv", "old/log.csv", "people.csv"]


def test_dialect(lake, tmp_path):
    (lake / "letter.txt").write_text("1|Ada|x\n2|Bo|y\n")
    idx = tmp_path / "idx"
    dovetail("index", lake, "--to", idx)
    assert names(idx, "people.csv") == ["id", "name", "city"]
    answer = dovetail(
        "index", lake, "--to", idx, "--dialect", "people.csv:header=no", "--dialect", "*.txt:delimiter=pipe,header=no"
    )
    assert "Read 2 changed files" in answer.out
    assert names(idx, "people.csv") == ["column_1", "column_2", "column_3"]
    assert names(idx, "letter.txt") == ["column_1", "column_2", "column_3"]
    assert "people.csv read as header=no" in dovetail("info", idx).out
    assert "Nothing to read" in dovetail("index", lake, "--to", idx).out


def test_a_glob(lake, tmp_path):
    assert dovetail("index", lake / "*" / "*.csv", "--to", tmp_path / "idx").code == 0
    assert tables(tmp_path / "idx") == ["geo/cities.csv", "old/log.csv"]


def test_a_single_file(lake, tmp_path):
    assert dovetail("index", lake / "geo" / "codes.tsv", "--to", tmp_path / "idx").code == 0
    assert tables(tmp_path / "idx") == ["codes.tsv"]


def test_a_lake_without_tables(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "readme.md").write_text("nothing")
    answer = dovetail("index", tmp_path / "lake", "--to", tmp_path / "idx")
    assert answer.code == 1
    assert answer.out.startswith(f"No table was found in {tmp_path}/lake. Tables are files that end in .csv, .tsv,")


def test_add(lake, idx, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "more.csv").write_text("a,b\n1,2\n")
    answer = dovetail("index", tmp_path / "other", "--to", idx, "--add")
    assert answer.code == 0
    assert tables(idx)[-1] == "people.csv"
    assert "other//more.csv" in tables(idx)
    assert f"Lake: {tmp_path}/other (tables below other//)\n" in dovetail("info", idx).out


def test_a_lake_that_does_not_answer_is_named(lake, idx, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "more.csv").write_text("a,b\n1,2\n")
    assert dovetail("index", tmp_path / "other", "--to", idx, "--add").code == 0
    shutil.rmtree(tmp_path / "other")
    answer = dovetail("index", lake, "--to", idx)
    assert answer.code == 0 and "other//more.csv" in tables(idx)
    assert f"{tmp_path}/other was not updated; its tables stay as they were. " in answer.err
    assert dovetail("index", lake, "--to", idx, "--strict").code == 1
    silent = dovetail("index", lake, "--to", idx, "--json").json["unreachable"]
    assert [each["lake"] for each in silent] == [f"{tmp_path}/other"]


def test_allow_drop(lake, idx):
    shutil.rmtree(lake / "geo")
    (lake / "people.csv").unlink()
    assert dovetail("index", lake, "--to", idx, "--allow-drop").code == 0
    assert tables(idx) == ["old/log.csv"]


def test_settings(lake, tmp_path):
    to = tmp_path / "idx"
    dovetail("index", lake, "--to", to, "--set", "segment_mb=7", "--set", "super_key_bits=256")
    assert "Frozen settings: super_key_bits 256, super_key_xash 0, embedder " in dovetail("info", to).out
    assert dovetail("index", lake, "--to", to, "--set", "segment_mb=8", "--set", "memory_mb=9").code == 0
    assert dovetail("compact", to, "--set", "segment_mb=9").code == 0
    for verb in (("index", lake, "--to", to), ("compact", to)):
        answer = dovetail(*verb, "--set", "super_key_bits=512")
        assert answer.code == 2
        assert answer.err == (
            "super_key_bits is 256 in this index and cannot be changed to 512; make a new index for that.\n"
        )


@pytest.mark.parametrize("option", [[], ["--master", "local[1]"], ["--conf", "spark.a=1", "--conf", "spark.b=x=y"]])
def test_master_and_settings_reach_spark(lake, tmp_path, monkeypatch, option):
    from dovetail.pipeline import run as pipeline

    seen = []
    session = pipeline.spark_session
    monkeypatch.setattr(pipeline, "spark_session", lambda request: seen.append(request) or session(request))
    dovetail("index", lake, "--to", tmp_path / "idx", *option)
    conf = {"spark.a": "1", "spark.b": "x=y"} if "--conf" in option else {}
    assert seen == [SparkRequest(None, "local[1]" if "--master" in option else None, conf)]


@pytest.mark.parametrize("conf", ["spark.a", "master=local", "=x"])
def test_a_setting_of_spark_has_a_name_and_a_value(lake, tmp_path, conf):
    answer = dovetail("index", lake, "--to", tmp_path / "idx", "--conf", conf)
    assert (answer.code, answer.err) == (2, f"--conf {conf!r} is not of the form spark.NAME=VALUE.\n")
    assert not (tmp_path / "idx").exists()


def test_several_places_of_any_kind(tmp_path, lake, monkeypatch):
    """A folder, a glob of spreadsheets, and files of databases; then the same again, and one of them changed."""
    (tmp_path / "books" / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        book = openpyxl.Workbook()
        for row in (("id", "city"), (1, "Bern"), (2, "Oslo")):
            book.active.append(row)
        book.save(tmp_path / "books" / f"{name}.xlsx")
    with closing(sqlite3.connect(tmp_path / "app.sqlite")) as database:
        database.executescript("CREATE TABLE users (id INTEGER, name TEXT); INSERT INTO users VALUES (1, 'Ann')")
    with duckdb.connect(tmp_path / "warehouse.duckdb") as database:
        database.execute("CREATE TABLE users AS SELECT 1 AS id, 'Bo' AS name")
    monkeypatch.chdir(tmp_path)
    command = ("index", "lake", "books/**/*.xlsx", "warehouse.duckdb", "app.sqlite", "--to", "idx")
    assert dovetail(*command).code == 0
    here = tmp_path.name
    found = ["books//a.xlsx::Sheet", "books//deep/b.xlsx::Sheet", f"{here}//app.sqlite::users",
             f"{here}//warehouse.duckdb::users"]  # fmt: skip
    assert [name for name in tables("idx") if "//" in name] == sorted(found)
    assert "Nothing to read: 9 unchanged" in dovetail(*command).out
    with closing(sqlite3.connect(tmp_path / "app.sqlite")) as database:
        database.executescript("INSERT INTO users VALUES (2, 'Cy')")
    (tmp_path / "books" / "a.xlsx").unlink()
    said = dovetail(*command).out
    assert "Read 1 changed file" in said
    assert "1 file gone · 7 unchanged" in said


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:hidden@host/shop",
        "postgresql://me:hid/den@host:5432/shop",
        "postgresql://me@host/shop?password=hidden",
        "s3://key:hidden@bucket/path",
        "jdbc:postgresql://me:hidden@host/shop",
    ],
)
def test_passwords_are_refused_before_anything_is_written_or_said(tmp_path, lake, address):
    answer = dovetail("index", lake, address, "--to", tmp_path / "idx")
    assert answer.code == 2
    assert answer.err.startswith("An address must not hold a password")
    assert "hid" not in answer.out + answer.err
    assert not (tmp_path / "idx").exists()


def test_ports_and_signs_are_no_passwords():
    for address in ("postgresql://me@host:5432/shop", "postgresql://host:5432/a@b", "s3://bucket/a:b@c"):
        refuse_password(address)


def test_rules_that_come_later_say_what_stays_on_disk(tmp_path, lake):
    assert "stay on disk" not in dovetail("index", lake, "--to", tmp_path / "idx", "--exclude-columns", "zzz").err
    table = tables(tmp_path / "idx")[0]
    first = names(tmp_path / "idx", table)[0]
    later = dovetail("index", lake, "--to", tmp_path / "idx", "--exclude-columns", first)
    assert f"stay on disk until `dovetail compact {tmp_path / 'idx'}`." in later.err
    assert first not in names(tmp_path / "idx", table)
