"""Tables of a database that Spark reads by a JDBC driver: here PostgreSQL, which our own source reads as well."""

from __future__ import annotations

import json
from pathlib import Path

import adbc_driver_postgresql.dbapi as driver
import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.pipeline.spark_jdbc import PASSWORD_VARIABLE, USER_VARIABLE
from support.postgres import postgres_server
from support.processes import dovetail as command  # a Java that runs already takes no more jars

JAR = "/usr/share/java/postgresql.jar"
TABLES = """
    CREATE SCHEMA "Shop";
    CREATE TABLE "Shop"."the ""customers" (id int, name text, since date, spent numeric(12, 2));
    INSERT INTO "Shop"."the ""customers"
        SELECT i, 'Zoë ' || i, DATE '2024-01-01' + i, i * 1.5 FROM generate_series(1, 300) i;
    CREATE TABLE visits (customer int, at timestamp);
    INSERT INTO visits SELECT i, TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour' FROM generate_series(1, 200) i;
    CREATE VIEW few AS SELECT * FROM visits LIMIT 5;
    CREATE TABLE nothing (x int)
"""


@pytest.fixture(scope="module")
def address():
    with pytest.MonkeyPatch.context() as patch, postgres_server() as postgres:
        patch.setenv("PGPASSWORD", "not-to-be-seen")
        patch.setenv(USER_VARIABLE, "dovetail")
        patch.setenv(PASSWORD_VARIABLE, "not-to-be-seen")
        with driver.connect(postgres) as connection, connection.cursor() as cursor:
            for command in TABLES.split(";"):
                cursor.execute(command)
            connection.commit()
        yield "jdbc:postgresql://" + postgres.partition("@")[2]


@pytest.mark.full
def test_tables_of_a_database(address, tmp_path, monkeypatch):
    to = tmp_path / "idx"
    assert Path(JAR).exists()
    asked = ("index", address, "--to", to, "--conf", f"spark.jars={JAR}")
    first = command(*asked, "--json")
    assert first.returncode == 0, first.stderr
    lake = dovetail.open(to)
    rows = {line.table: line.rows for line in lake.tables()}
    assert rows == {'Shop.the "customers': 300, "public.few": 5, "public.nothing": 0, "public.visits": 200}
    kinds = [(column.name, column.record.type.kind) for column in lake.table('Shop.the "customers').columns]
    assert kinds == [("id", "integer"), ("name", "text"), ("since", "date"), ("spent", "real")]
    assert not json.loads(first.stdout)["skipped"]
    again = json.loads(command(*asked, "--tables", "public.*", "--json").stdout)
    assert (again["changed"], again["removed"]) == (3, 1)
    stored = b"".join(file.read_bytes() for file in to.rglob("*") if file.is_file())
    assert b"not-to-be-seen" not in stored
    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
    wrong = command(*asked)
    assert wrong.returncode == 2 and "cannot be listed" in wrong.stderr and "connect to the database" in wrong.stderr


@pytest.mark.full
def test_without_a_driver_one_sentence_says_so(tmp_path):
    with pytest.raises(InputError, match=r"cannot be listed: .*com\.mysql\.cj\.jdbc\.Driver"):
        dovetail.index("jdbc:mysql://127.0.0.1:1/shop", tmp_path / "idx")
