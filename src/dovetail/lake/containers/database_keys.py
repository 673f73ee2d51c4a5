"""The keys that files of SQLite and DuckDB declare for one of their tables.

Both compare names without regard to case, and remember a constraint as it was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dovetail.lake.declared import DeclaredKeys, DeclaredReference, Names, declared_keys
from dovetail.lake.layout import distinct_names

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_COLUMNS = "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid"
_UNIQUE = 'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial'
_INDEXED = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
_FOREIGN = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
_DUCKDB_COLUMNS = """
    SELECT schema_name, table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
    WHERE database_name = current_database() GROUP BY ALL
"""
_DUCKDB_CONSTRAINTS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints()
    WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
"""


def quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


class _Table(NamedTuple):
    """A table, and the names under which its columns are read, by their own in lower case."""

    name: str
    read_as: dict[str, str]

    @classmethod
    def of(cls, name: str, columns: Iterable[str]) -> _Table:
        own = list(columns)
        return cls(name, dict(zip((column.casefold() for column in own), distinct_names(own), strict=True)))

    def named(self, columns: Iterable[str | None]) -> Names:
        """Columns as they are read; nothing where one of them is an expression, or not there."""
        found = [self.read_as.get((column or "").casefold(), "") for column in columns]
        return tuple(found) if all(found) else ()


def sqlite_keys(connection: sqlite3.Connection, table: str) -> DeclaredKeys:
    here = _sqlite_table(connection, table)
    indexes = [name for (name,) in connection.execute(_UNIQUE, [table])]
    unique = [here.named(column for (column,) in connection.execute(_INDEXED, [name])) for name in indexes]
    return declared_keys(_sqlite_primary(connection, here), unique, _sqlite_references(connection, here))


def _sqlite_table(connection: sqlite3.Connection, name: str) -> _Table:
    return _Table.of(name, (column for column, _ in connection.execute(_COLUMNS, [name])))


def _sqlite_primary(connection: sqlite3.Connection, table: _Table) -> Names:
    found = sorted(connection.execute(_COLUMNS, [table.name]), key=lambda row: int(row[1]))
    return table.named(name for name, place in found if place)


def _sqlite_references(connection: sqlite3.Connection, here: _Table) -> Iterator[DeclaredReference]:
    """Where no column is named, the primary key is meant. References to what does not exist are left out."""
    tables = {name.casefold(): name for (name,) in connection.execute(_TABLES)}
    parts: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, *part in connection.execute(_FOREIGN, [here.name]):
        parts.setdefault(number, []).append(tuple(part))
    for found in parts.values():
        others, mine, theirs = zip(*found, strict=True)
        if others[0].casefold() in tables:
            there = _sqlite_table(connection, tables[others[0].casefold()])
            named = _sqlite_primary(connection, there) if None in theirs else there.named(theirs)
            yield DeclaredReference(here.named(mine), there.name, named)


def duckdb_keys(connection: DuckDBPyConnection, table: str) -> DeclaredKeys:
    """Foreign keys of DuckDB stay within a schema."""
    tables = {
        duckdb_name(schema, name).casefold(): _Table.of(duckdb_name(schema, name), columns)
        for schema, name, columns in connection.execute(_DUCKDB_COLUMNS).fetchall()
    }
    primary: Names = ()
    unique, foreign = [], []
    for schema, name, kind, columns, other, referenced in connection.execute(_DUCKDB_CONSTRAINTS).fetchall():
        if duckdb_name(schema, name) != table:
            continue
        here = tables[table.casefold()]
        mine = here.named(columns)
        if kind == "PRIMARY KEY":
            primary = mine
        elif kind == "UNIQUE":
            unique.append(mine)
        else:
            there = tables[duckdb_name(schema, other).casefold()]
            foreign.append(DeclaredReference(mine, there.name, there.named(referenced)))
    return declared_keys(primary, unique, foreign)


def duckdb_name(schema: str, name: str) -> str:
    """Tables of other schemas than `main` bear its name."""
    return name if schema == "main" else f"{schema}.{name}"
