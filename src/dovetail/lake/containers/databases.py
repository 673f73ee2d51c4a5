"""Files of SQLite and DuckDB: every table and view, read only, and the keys that are declared for it.

Both compare names without regard to case, and remember a constraint as it was written.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from dovetail.errors import TemporarilyUnreadable, UnreadableTable
from dovetail.lake.blocks import LARGEST_RECORD
from dovetail.lake.containers.registry import Member, gone, log_of, write_arrow
from dovetail.lake.declared import DeclaredKeys, DeclaredReference, Names, declared_keys
from dovetail.lake.layout import distinct_names
from dovetail.lake.streams import broken, first_line, refuse_bomb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_ROWS_AT_ONCE = 1 << 14
_BYTES_AT_ONCE = 1 << 25  # of SQLite's rows, about; arbitrary, as for columnar files
_STEPS, _STEPS_PER_BYTE = 1 << 34, 1 << 10
"""Instructions of SQLite's machine that a table may take, some minutes, and more in large files: a view can be made to
count forever."""
_STEPS_AT_ONCE = 1 << 20
_HEADER_BYTES, _LARGEST_PAGE = 100, 1 << 16  # of SQLite, which writes a page of this size as 1
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


class SqliteFile:
    in_place = False

    def members(self, path: Path) -> list[Member]:
        with _opened_sqlite(path) as connection:
            names = [
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' "
                    "ESCAPE '\\' ORDER BY rowid"
                )
            ]
        return _members(path, names)

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        with _opened_sqlite(path) as connection:
            known = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?", [name]
            ).fetchone()
            if known is None:
                raise gone(name)
            rows = connection.execute(f"SELECT * FROM {quoted(name)}")
            names = distinct_names(column[0] for column in rows.description)
            metadata = sqlite_keys(connection, name).to_metadata()
            schema = pa.schema([(column, pa.string()) for column in names], metadata)
            return write_arrow(schema, _text_batches(rows, schema, path.stat().st_size), folder / "member.arrow")


class DuckdbFile:
    in_place = False

    def members(self, path: Path) -> list[Member]:
        with _opened_duckdb(path) as connection:
            return _members(path, list(_duckdb_tables(connection)))

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        with _opened_duckdb(path) as connection:
            table = _duckdb_tables(connection).get(name)
            if table is None:
                raise gone(name)
            found = connection.sql(f"SELECT * FROM {table}")
            read = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # before DuckDB 1.4
            declared = duckdb_keys(connection, name)  # before the rows, since a connection has one result at a time
            reader = read(_ROWS_AT_ONCE)
            schema = reader.schema.with_metadata(declared.to_metadata())
            return write_arrow(schema, iter(reader), folder / "member.arrow")


def _duckdb_tables(connection: DuckDBPyConnection) -> dict[str, str]:
    """The tables and views by name, with their names in SQL; those of other schemas than `main` bear its name."""
    found = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database() ORDER BY ALL"
    ).fetchall()
    return {duckdb_name(schema, name): f"{quoted(schema)}.{quoted(name)}" for schema, name in found}


def _members(path: Path, names: Sequence[str]) -> list[Member]:
    """The file does not tell how large each table is, so they are taken for equally large."""
    size = path.stat().st_size // max(1, len(names))
    return [Member(name, size) for name in names]


def _refuse_cut_off(path: Path) -> None:
    """SQLite reads what a file lacks as zeros. What the header says of the size may be ahead where there is a log."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
        size = file.seek(0, os.SEEK_END)
    log = Path(log_of(str(path)) or os.devnull)
    if len(header) < _HEADER_BYTES or (log.exists() and log.stat().st_size):
        return
    page, change, pages, valid_for = (
        int.from_bytes(header[at : at + length]) for at, length in ((16, 2), (24, 4), (28, 4), (92, 4))
    )
    if change == valid_for and size < pages * (_LARGEST_PAGE if page == 1 else page):
        raise UnreadableTable("broken SQLite database: cut off")


@contextmanager
def _opened_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    _refuse_cut_off(path)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_RECORD)
            connection.execute("PRAGMA trusted_schema = off")  # views call no functions that act
            _bound_steps(connection, path.stat().st_size)
            yield connection
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "unable to open" in str(error):
            raise TemporarilyUnreadable(f"cannot be read now: {first_line(error)}") from error
        if "interrupted" in str(error):
            raise UnreadableTable("a view that takes too long") from error
        raise UnreadableTable(f"broken SQLite database: {first_line(error)}") from error
    except sqlite3.DatabaseError as error:
        raise UnreadableTable(f"broken SQLite database: {first_line(error)}") from error


def _bound_steps(connection: sqlite3.Connection, size: int) -> None:
    left = iter(range((_STEPS + _STEPS_PER_BYTE * size) // _STEPS_AT_ONCE))
    connection.set_progress_handler(lambda: next(left, None) is None, _STEPS_AT_ONCE)


def _rows_at_once(rows: sqlite3.Cursor) -> Iterator[list[Any]]:
    """Rows of a bounded number and size: a cell may be large, and stored once for all of them."""
    held: list[Any] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if len(held) == _ROWS_AT_ONCE or size > _BYTES_AT_ONCE:
            yield held
            held, size = [], 0
    if held:
        yield held


def _text_batches(rows: sqlite3.Cursor, schema: pa.Schema, packed: int) -> Iterator[pa.RecordBatch]:
    written = 0
    for found in _rows_at_once(rows):
        columns = [pa.array(list(map(_text, column)), pa.string()) for column in zip(*found, strict=True)]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        written += batch.nbytes
        refuse_bomb(written, packed)
        yield batch


def _text(value: Any) -> str | None:
    """Any cell of SQLite may have any type, whatever its column says."""
    if value is None or isinstance(value, str):
        return value
    return value.hex() if isinstance(value, bytes) else repr(value)


@contextmanager
def _opened_duckdb(path: Path) -> Iterator[DuckDBPyConnection]:
    import duckdb

    with broken("DuckDB database", duckdb.Error):
        try:
            connection = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        except duckdb.IOException as error:
            if "lock" in str(error):
                raise TemporarilyUnreadable(
                    "cannot be read now: another process writes to the DuckDB database"
                ) from error
            raise
        with closing(connection):
            yield connection


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
