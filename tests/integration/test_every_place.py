"""One command for tables of every kind of place: a bucket, a database server, spreadsheets, and files of databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import adbc_driver_postgresql.dbapi as driver
import duckdb
import obstore
import openpyxl
import pytest
from obstore.store import S3Store

import dovetail
from support.buckets import s3_server
from support.postgres import postgres_server
from support.processes import dovetail as command  # workers of a Java that runs already have the old environment


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with s3_server("bucket", tmp_path / "moto.log") as variables, postgres_server() as address:
        for name, value in {**variables, "PGPASSWORD": "not-to-be-seen"}.items():
            monkeypatch.setenv(name, value)
        bucket = S3Store("bucket", client_options={"allow_http": True}, virtual_hosted_style_request=False)
        obstore.put(bucket, "path/cities.csv", b"id,city\n1,Bern\n2,Oslo\n")
        with driver.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE people (id int PRIMARY KEY, city int)")
            cursor.execute("INSERT INTO people VALUES (1, 1), (2, 2)")
            connection.commit()
        yield "s3://bucket/path", address


def _files(folder):
    (folder / "lake" / "deep").mkdir(parents=True)
    book = openpyxl.Workbook()
    for row in (("id", "city"), (1, "Bern"), (2, "Oslo")):
        book.active.append(row)
    book.save(folder / "lake" / "deep" / "book.xlsx")
    with duckdb.connect(folder / "warehouse.duckdb") as database:
        database.execute("CREATE TABLE sales AS SELECT 1 AS id, 'Bern' AS city")
    with closing(sqlite3.connect(folder / "app.sqlite")) as database:
        database.executescript("CREATE TABLE users (id INTEGER PRIMARY KEY); INSERT INTO users VALUES (1), (2)")


@pytest.mark.full
def test_as_it_is_written(places, tmp_path):
    _files(tmp_path)
    asked = ("index", *places, "lake/**/*.xlsx", "warehouse.duckdb", "app.sqlite", "--to", "idx")
    answer = command(*asked)
    assert answer.returncode == 0, answer.stderr
    here = tmp_path.name
    assert {line.table for line in dovetail.open("idx").tables()} == {
        "cities.csv", "postgres//public.people", "lake//deep/book.xlsx::Sheet", f"{here}//warehouse.duckdb::sales",
        f"{here}//app.sqlite::users",
    }  # fmt: skip
    assert "Nothing to read: 5 unchanged" in command(*asked).stdout
    (tmp_path / "lake" / "deep" / "book.xlsx").unlink()
    assert "1 file gone, 4 unchanged" in command(*asked).stdout
    kept = b"".join(path.read_bytes() for path in (tmp_path / "idx").rglob("*") if path.is_file())
    assert b"not-to-be-seen" not in kept
    assert "not-to-be-seen" not in answer.stdout + answer.stderr
