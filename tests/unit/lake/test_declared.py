"""Keys that databases declare, read with their tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import duckdb
import pytest

from dovetail.lake.declared import NO_KEYS, DeclaredKeys, DeclaredReference
from dovetail.lake.layout import Layout
from dovetail.lake.listing import TableFile
from dovetail.lake.reader import detect_layout
from dovetail.lake.source import sibling, source_of


def declared(path, table, folder):
    file = TableFile(table, f"{path}::{table}", 0, "")
    return detect_layout(source_of(file.path).copy(file, folder / table).path).declared


def sqlite_file(path, script):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    return sqlite_file(
        tmp_path_factory.mktemp("sqlite") / "app.sqlite",
        """
        CREATE TABLE People (Id INTEGER PRIMARY KEY, email TEXT UNIQUE, " name " TEXT, boss INTEGER REFERENCES people);
        CREATE UNIQUE INDEX of_names ON People (" name ", email);
        CREATE UNIQUE INDEX partly ON People (boss) WHERE boss > 1;
        CREATE UNIQUE INDEX folded ON People (lower(email));
        CREATE TABLE lines (doc INT, line INT, who INT REFERENCES PEOPLE (ID), PRIMARY KEY (line, doc));
        CREATE TABLE notes (d INT, l INT, FOREIGN KEY (l, d) REFERENCES lines,
                            FOREIGN KEY (d) REFERENCES nowhere (x), FOREIGN KEY (l) REFERENCES lines (missing));
        CREATE VIEW everyone AS SELECT * FROM People;
        CREATE TABLE plain (x);
        """,
    )


class TestSqlite:
    def test_names_are_those_of_the_columns_whatever_their_case(self, sqlite, tmp_path):
        assert declared(sqlite, "People", tmp_path) == DeclaredKeys(
            ("Id",), (("email",), ("name", "email")), (DeclaredReference(("boss",), "People", ("Id",)),)
        )

    def test_several_columns_in_their_order(self, sqlite, tmp_path):
        found = declared(sqlite, "lines", tmp_path)
        assert found.primary == ("line", "doc")
        assert found.foreign == (DeclaredReference(("who",), "People", ("Id",)),)

    def test_references_to_what_is_not_there_are_left_out(self, sqlite, tmp_path):
        found = declared(sqlite, "notes", tmp_path)
        assert found == DeclaredKeys(foreign=(DeclaredReference(("l", "d"), "lines", ("line", "doc")),))

    def test_views_and_plain_tables_have_none(self, sqlite, tmp_path):
        assert declared(sqlite, "everyone", tmp_path) == NO_KEYS
        assert declared(sqlite, "plain", tmp_path) == NO_KEYS


def test_duckdb(tmp_path):
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            """
            CREATE TABLE p (a INT, b INT, Mail TEXT UNIQUE, PRIMARY KEY (b, a));
            CREATE TABLE q (x INT, y INT, FOREIGN KEY (Y, X) REFERENCES P (B, A));
            CREATE SCHEMA s;
            CREATE TABLE s.p (k INT PRIMARY KEY);
            CREATE TABLE s.q (k INT REFERENCES s.p (k));
            """
        )
    assert declared(path, "p", tmp_path) == DeclaredKeys(("b", "a"), (("Mail",),))
    assert declared(path, "q", tmp_path).foreign == (DeclaredReference(("y", "x"), "p", ("b", "a")),)
    assert declared(path, "s.q", tmp_path).foreign == (DeclaredReference(("k",), "s.p", ("k",)),)


@pytest.mark.parametrize(
    ("table", "path", "other"),
    [
        ("b//x/app.sqlite::orders", "/lake/x/app.sqlite::orders", "b//x/app.sqlite::people"),
        ("shop//public.orders", "postgresql://me@host/shop::public.orders", "shop//people"),
    ],
)
def test_the_id_of_another_table_of_the_database(table, path, other):
    assert sibling(TableFile(table, path, 0, ""), "people") == other


def test_a_layout_carries_them_and_is_as_before_without_them():
    keys = DeclaredKeys(("a",), (("b", "c"),), (DeclaredReference(("b",), "t", ("x",)),))
    layout = Layout("arrow", ("a", "b", "c"), declared=keys)
    assert Layout.from_json(layout.to_json()) == layout
    assert "declared" not in Layout("arrow", ("a",)).to_json()
    assert DeclaredKeys.from_metadata(keys.to_metadata()) == keys
    assert DeclaredKeys.from_metadata(None) == NO_KEYS
