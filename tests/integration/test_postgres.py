"""Tables of a PostgreSQL database, of a real server: the answers of the same rows in files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import adbc_driver_postgresql.dbapi as driver
import pyarrow as pa
import pytest

import dovetail
from dovetail.errors import BuildFailed, InputError
from dovetail.lake.declared import DeclaredKeys, DeclaredReference
from dovetail.lake.layout import Part
from dovetail.lake.listing import Root
from dovetail.lake.reader import detect_layout, read, split
from dovetail.lake.source import list_lake, source_of
from support.pipeline import without_spark
from support.postgres import postgres_server

TABLES = """
    CREATE SCHEMA shop;
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE TABLE shop.customers (id int PRIMARY KEY, name text NOT NULL, joined date, mood mood);
    INSERT INTO shop.customers SELECT i, 'Zoë ' || i, DATE '2024-01-01' + i, 'glad' FROM generate_series(1, 300) i;
    CREATE TABLE "odd "" name" ("a b" numeric(12, 2), "when" timestamptz, j jsonb, b bytea, u uuid, l int[]);
    INSERT INTO "odd "" name" VALUES (1.50, '2024-02-29 13:05+00', '{"a": [1]}', '\\x00ff',
        '00000000-0000-0000-0000-000000000001', '{1,2}'), (NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE VIEW shop.recent AS SELECT id, name FROM shop.customers WHERE id > 290;
    CREATE TABLE shop.parts (id int, region text) PARTITION BY LIST (region);
    CREATE TABLE shop.parts_eu PARTITION OF shop.parts FOR VALUES IN ('eu');
    INSERT INTO shop.parts SELECT i, 'eu' FROM generate_series(1, 50) i;
    CREATE TABLE empty (x int);
    CREATE SCHEMA keys;
    CREATE TABLE keys.lines (doc int, line int, mail text UNIQUE, PRIMARY KEY (line, doc));
    CREATE TABLE keys.notes (l int, d int, customer int REFERENCES shop.customers,
                             FOREIGN KEY (l, d) REFERENCES keys.lines);
    INSERT INTO keys.notes (customer) SELECT i FROM generate_series(1, 300) i;
    CREATE ROLE reader LOGIN PASSWORD 'not-to-be-seen';
    GRANT USAGE ON SCHEMA shop TO reader;
    GRANT SELECT ON shop.customers TO reader;
"""


@pytest.fixture(scope="module")
def database():
    with pytest.MonkeyPatch.context() as patch, postgres_server() as address:
        patch.setenv("PGPASSWORD", "not-to-be-seen")
        execute(address, TABLES)
        yield address


def execute(address: str, commands: str) -> None:
    with driver.connect(address) as connection, connection.cursor() as cursor:
        for command in filter(str.strip, commands.split(";")):
            cursor.execute(command)
        connection.commit()
    time.sleep(1.1)  # until PostgreSQL counts what was changed


def rows_of(address: str, parts: list[Part] | None = None) -> list[dict[str, str | None]]:
    path = source_of(address).open(address)
    layout = detect_layout(path)
    batches = [batch for part in parts or [Part()] for batch in read(path, layout, part)]
    return pa.Table.from_batches(batches).to_pylist()


@pytest.mark.full
def test_what_is_listed(database):
    found = list_lake([Root.of(database)])
    assert list(found) == [
        "keys.lines", "keys.notes", "public.empty", 'public.odd " name', "shop.customers", "shop.parts", "shop.recent",
    ]  # fmt: skip
    (one,) = list_lake([Root.of(f"{database}::shop.recent")])
    assert one == "shop.recent"
    mine = database.replace("dovetail@", "reader@")
    assert list(list_lake([Root.of(mine)])) == ["shop.customers"], "what I may read"


@pytest.mark.full
def test_values(database):
    first, second = rows_of(f'{database}::public.odd " name')
    assert first == {
        "a b": "1.50", "when": "2024-02-29T13:05:00Z", "j": '{"a": [1]}', "b": "00ff",
        "u": "00000000-0000-0000-0000-000000000001", "l": "{1,2}",
    }  # fmt: skip
    assert set(second.values()) == {None}
    assert rows_of(f"{database}::shop.customers")[6] == {
        "id": "7", "name": "Zoë 7", "joined": "2024-01-08", "mood": "glad"
    }  # fmt: skip
    assert len(rows_of(f"{database}::shop.recent")) == 10


@pytest.mark.full
def test_slices(database):
    address = f"{database}::shop.customers"
    path = source_of(address).open(address)
    parts = split(path, detect_layout(path), 8192)
    assert len(parts) > 1
    assert rows_of(address, parts) == rows_of(address)


@pytest.mark.full
def test_an_index_of_a_database(database, tmp_path):
    lake, to = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    (lake / "orders.csv").write_text("order,customer\n" + "".join(f"{i},{i % 300 + 1}\n" for i in range(500)))
    with without_spark(megabyte=1):
        dovetail.index(database, to, settings={"segment_mb": 10_000_000, "slice_mb": 8192})
        dovetail.index(lake, to, add=True)
        opened = dovetail.open(to)
        hits = opened.search(lake / "orders.csv", on="customer")
        assert "shop.customers" in [hit.table for hit in hits]
        joined = opened.join(lake / "orders.csv", "shop.customers", on="customer=id")
        assert joined.rows == 500
        assert b"not-to-be-seen" not in b"".join(path.read_bytes() for path in to.rglob("*") if path.is_file())
        again = dovetail.index(database, to)
        assert (again.changed, again.unchanged) == (0, 8)
        execute(database, "UPDATE shop.customers SET name = 'x' WHERE id = 1")
        again = dovetail.index(database, to)
        assert (again.changed, again.unchanged) == (3, 5), "the table, the view of it, and what has no rows of its own"


@pytest.mark.full
def test_declared_keys(database, tmp_path):
    def keys(name):
        return detect_layout(source_of(database).open(f"{database}::{name}")).declared

    assert keys("keys.lines") == DeclaredKeys(("line", "doc"), (("mail",),))
    assert keys("keys.notes").foreign == (
        DeclaredReference(("customer",), "shop.customers", ("id",)),
        DeclaredReference(("l", "d"), "keys.lines", ("line", "doc")),
    )
    lake, to = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    (lake / "a.csv").write_text("id,x\n1,2\n")
    with without_spark(megabyte=1):
        dovetail.index([lake, database], to, settings={"segment_mb": 10_000_000, "slice_mb": 8192})
        joined = dovetail.open(to).join("postgres//keys.notes", "postgres//shop.customers")
        assert (joined.rows, joined.declared, joined.columns) == (300, True, (("customer",), ("id",)))
        assert dovetail.index([lake, database], to).unchanged == 8
        execute(database, "ALTER TABLE keys.lines ADD UNIQUE (doc)")
        assert dovetail.index([lake, database], to).changed == 1, "what is declared is part of a table"
        assert dovetail.open(to).table("postgres//keys.lines").declared.unique == (("doc",), ("mail",))


@pytest.mark.full
def test_one_sentence(database, monkeypatch):
    with pytest.raises(InputError, match="An address must not hold a password"):
        list_lake([Root.of("postgresql://me:secret@127.0.0.1/x")])
    with pytest.raises(InputError, match=r"^postgresql://me@127.0.0.1:1/x cannot be reached: .*refused"):
        list_lake([Root.of("postgresql://me@127.0.0.1:1/x")])
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(InputError, match=r"cannot be reached: .*authentication failed"):
        list_lake([Root.of(database)])


@pytest.mark.full
def test_a_database_that_goes_away_is_no_fault_of_its_tables(tmp_path, monkeypatch):
    """The run fails, and what was indexed before stays."""
    monkeypatch.setenv("PGPASSWORD", "not-to-be-seen")
    with contextlib.ExitStack() as server, without_spark():
        address = server.enter_context(postgres_server())
        execute(address, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
        dovetail.index(address, tmp_path / "idx")
        execute(address, "INSERT INTO t VALUES (2)")

        @contextlib.contextmanager
        def without_a_server(stage: str) -> Iterator[None]:
            if stage == "task":
                server.close()
            yield

        with (
            without_spark(worker=without_a_server),
            pytest.raises(BuildFailed, match=r"cannot go on.*cannot be reached"),
        ):
            dovetail.index(address, tmp_path / "idx")
    assert dovetail.open(tmp_path / "idx").table("public.t").rows == 1
