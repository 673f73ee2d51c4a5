"""Tables and views of a PostgreSQL database, which are read where they are, in slices of their blocks.

A database is named by its address without a password, which the environment has (PGPASSWORD, PGPASSFILE), and a table
by the address, `::` and its name: `postgresql://me@host/shop::public.orders`.

What a fingerprint rests on: the file that a table is in, and how many rows were inserted, updated and deleted so far,
as PostgreSQL counts them. A view has changed when any table of the database has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError, SourceUnreachable
from dovetail.lake.containers.registry import member_address
from dovetail.lake.declared import DeclaredKeys, DeclaredReference, Names, declared_keys
from dovetail.lake.dialect import DialectOverride
from dovetail.lake.files import Copy
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.listing import Root, TableFile, is_wanted
from dovetail.lake.schemes import refuse_password, split_table
from dovetail.lake.strings import bounded, string_batch

FORMAT = "postgresql"
_BLOCK_BYTES = 8192  # of PostgreSQL, unless it was compiled otherwise; only the sizes of slices depend on it
_READ_AS_IT_IS = ("bool", "bpchar", "bytea", "date", "float4", "float8", "int2", "int4", "int8", "name", "text",
                  "timestamp", "timestamptz", "varchar")  # fmt: skip
"""Types that come as Arrow's own. All others are read as PostgreSQL writes them."""
_TABLES = """
    SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind, c.oid::bigint AS oid,
           pg_table_size(c.oid)::bigint AS bytes, coalesce(pg_relation_filenode(c.oid), 0)::bigint AS file,
           coalesce(s.n_tup_ins + s.n_tup_upd + s.n_tup_del, 0)::bigint AS changes,
           (SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables) AS all_changes,
           CASE WHEN c.relkind IN ('v', 'm') THEN md5(pg_get_viewdef(c.oid)) ELSE '' END AS definition,
           (SELECT md5(string_agg(a.attname || ' ' || a.atttypid, ',' ORDER BY a.attnum))
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
           (SELECT md5(string_agg(pg_get_constraintdef(k.oid), ',' ORDER BY k.conname))
            FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f')) AS constraints
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
      AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
    ORDER BY 1, 2
"""
_COLUMNS = """
    SELECT a.attname AS name, t.typname AS type
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
"""
_CONSTRAINTS = """
    SELECT k.contype::text AS kind, n.nspname || '.' || r.relname AS other,
           ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS p(number, place)
                 JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.number ORDER BY p.place) AS columns,
           ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS p(number, place)
                 JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = p.number ORDER BY p.place) AS referenced
    FROM pg_constraint k
    LEFT JOIN pg_class r ON r.oid = k.confrelid
    LEFT JOIN pg_namespace n ON n.oid = r.relnamespace
    WHERE k.conrelid = to_regclass($1) AND k.contype IN ('p', 'u', 'f') AND k.conparentid = 0
"""
"""Keys; those of partitions are derived from the keys of their tables."""
_SERVER_STATES = ("08", "53", "57P")
"""Of SQL, what is about the connection or the server and not about a table: lost, too many, shut down."""
_REASON = re.compile(r"(?:failed|ERROR|FATAL): +(?:FATAL: +)?(.*)")
_PASSWORD = re.compile(r"(postgres(?:ql)?://[^/@\s:]*):[^@\s]*@")


class PostgresTables:
    """The tables of a database that the user may read."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        with _connected(root.path) as connection:
            found = _rows(connection, _TABLES)
        for row in found:
            name = f"{row['schema']}.{row['name']}"
            if is_wanted(root, name):
                yield TableFile(root.prefix + name, member_address(root.path, name), row["bytes"], _mark(row))

    def fingerprint(self, file: TableFile) -> str:
        address, name = split_table(file.path)
        with _connected(address) as connection:
            found = [row for row in _rows(connection, _TABLES) if f"{row['schema']}.{row['name']}" == name]
        return _mark(found[0]) if found else ""

    def open(self, path: str) -> PostgresPath:
        return PostgresPath(path)

    def copy(self, file: TableFile, folder: Path) -> Copy:
        return Copy(self.open(file.path), self.fingerprint(file), private=False)


@dataclass(frozen=True)
class PostgresPath:
    """A table of a database, for readers."""

    address: str

    @property
    def name(self) -> str:
        return split_table(self.address)[1]

    @property
    def _quoted(self) -> str:
        schema, _, name = self.name.partition(".")
        return ".".join('"{}"'.format(part.replace('"', '""')) for part in (schema, name))

    def detect(self, override: DialectOverride | None) -> Layout:
        names = [name for name, _ in self._columns()]
        return Layout(FORMAT, distinct_names(names), declared=self._declared(names))

    def split(self, layout: Layout, target_bytes: int) -> list[Part]:
        """Ranges of blocks. What has no blocks of its own, as views and partitioned tables, is read whole."""
        with _connected(self.address) as connection:
            (found,) = _rows(connection, "SELECT pg_relation_size(to_regclass($1))::bigint AS bytes", self._quoted)
        blocks, each = (found["bytes"] or 0) // _BLOCK_BYTES, max(1, target_bytes // _BLOCK_BYTES)
        edges = list(range(0, max(1, blocks), each))
        return [Part(start, stop) for start, stop in zip(edges, [*edges[1:], None], strict=True)]

    def read(self, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]:
        wanted = ", ".join(_as_read(name, kind) for name, kind in self._columns())
        with _connected(self.address) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT {wanted} FROM {self._quoted}{_blocks(part)}")
            for batch in cursor.fetch_record_batch():
                for piece in bounded(batch):
                    counter.rows += piece.num_rows
                    yield string_batch(piece, layout.columns)

    def _declared(self, names: Sequence[str]) -> DeclaredKeys:
        with _connected(self.address) as connection:
            found = _rows(connection, _CONSTRAINTS, self._quoted)
        read_as = dict(zip(names, distinct_names(names), strict=True))
        keys: dict[str, list[Names]] = {"p": [], "u": [], "f": []}
        for row in found:
            keys[row["kind"]].append(tuple(read_as[name] for name in row["columns"]))
        others = ((row["other"], tuple(row["referenced"])) for row in found if row["kind"] == "f")
        foreign = (DeclaredReference(mine, *other) for mine, other in zip(keys["f"], others, strict=True))
        return declared_keys(next(iter(keys["p"]), ()), keys["u"], foreign)

    def _columns(self) -> list[tuple[str, str]]:
        with _connected(self.address) as connection:
            found = _rows(connection, _COLUMNS, self._quoted)
        if not found:
            raise FileNotFoundError(2, "No such table", self.name)
        return [(row["name"], row["type"]) for row in found]


def _as_read(name: str, kind: str) -> str:
    quoted = '"{}"'.format(name.replace('"', '""'))
    return quoted if kind in _READ_AS_IT_IS else f"{quoted}::text AS {quoted}"


def _blocks(part: Part) -> str:
    if part == Part():
        return ""
    end = "" if part.stop is None else f" AND ctid < '({part.stop},0)'::tid"
    return f" WHERE ctid >= '({part.start},0)'::tid{end}"


def _mark(row: Mapping[str, Any]) -> str:
    is_view = row["kind"] in ("v", "p", "f")  # they have no rows that PostgreSQL counts for them
    rests_on = [
        row["oid"],
        row["columns"],
        row["constraints"],
        row["definition"],
        row["file"],
        row["all_changes" if is_view else "changes"],
    ]
    return hashlib.blake2b(repr(rests_on).encode(), digest_size=16).hexdigest()


def _rows(connection: Any, query: str, *parameters: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        found: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
        return found


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """What PostgreSQL raises about a table, as the operating system would: who reads tables knows what that means.

    Raises `SourceUnreachable` where it cannot be reached, or is not any more.
    """
    try:
        import adbc_driver_postgresql.dbapi as driver
    except ModuleNotFoundError as error:
        raise InputError(
            "PostgreSQL needs the package adbc-driver-postgresql. Run `pip install 'dovetail-lake[databases]'`."
        ) from error
    place = split_table(address)[0]
    refuse_password(address)
    try:
        opened = driver.connect(place)
    except driver.Error as error:
        raise SourceUnreachable(f"{place} cannot be reached: {_said(error)}.") from error
    try:
        with opened as connection:
            yield connection
    except driver.Error as error:
        state = getattr(error, "sqlstate", None) or ""
        if not state or state.startswith(_SERVER_STATES):
            raise SourceUnreachable(f"{place} cannot be reached any more: {_said(error)}.") from error
        raise _as_os_error(state, _said(error)) from error


def _said(error: Exception) -> str:
    text = _PASSWORD.sub(r"\1@", str(error)).strip() or type(error).__name__
    reason = _REASON.search(text)
    return (reason.group(1) if reason else text.splitlines()[-1]).strip().rstrip(".")


def _as_os_error(state: str, said: str) -> OSError:
    if state == "42501":
        return PermissionError(13, said)
    if state in ("42P01", "3F000"):
        return FileNotFoundError(2, said)
    return OSError(5, said)
