"""Containers: files that hold tables, their members, each of which becomes a file that the reader can read.

Which files they are is decided by their names. A member has an address: `book.xlsx::Sheet1`.
"""

from __future__ import annotations

import csv
import functools
import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import pyarrow as pa

SEPARATOR = "::"

_SUFFIXES = {
    "archives.ZipArchive": (".zip",),
    "archives.TarArchive": (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz"),
    "spreadsheets.Workbook": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "databases.SqliteFile": (".sqlite", ".sqlite3", ".db"),
    "databases.DuckdbFile": (".duckdb",),
    "nested_json.JsonDocument": (".json",),
    "html_tables.HtmlPage": (".html", ".htm"),
}
"""By kind: the module and the class, which is imported when the first file of its kind comes."""
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
CONTAINER_SUFFIXES = tuple(_KINDS)
PAGE_SUFFIXES = (*_SUFFIXES["spreadsheets.Workbook"], *_SUFFIXES["html_tables.HtmlPage"])
"""Containers whose tables often have no name of their own."""

_LOGS = {".sqlite": "-wal", ".sqlite3": "-wal", ".db": "-wal", ".duckdb": ".wal"}
"""What is added to the name of a database for the file with what was written but is not in the database's file yet."""


@dataclass(frozen=True)
class Member:
    """A table of a container, by its name there; a container that is itself a table has one without a name."""

    name: str
    bytes: int
    """About how many bytes reading it means."""


class Container(Protocol):
    """A kind of file that holds tables. What is wrong with a file is raised as `UnreadableTable`.

    One that is read `in_place` may be an object of a store: then only the bytes that are needed are fetched.
    """

    in_place: ClassVar[bool]

    def members(self, path: Any) -> list[Member]:
        """The tables of the file, in its order."""
        ...

    def extract(self, path: Any, name: str, folder: Path) -> Path:
        """A member as a file in `folder` that the reader reads. FileNotFoundError where there is no such member."""
        ...


def gone(name: str) -> FileNotFoundError:
    return FileNotFoundError(2, "No such table in the file", name)


def write_csv(rows: Iterable[Sequence[str]], path: Path) -> Path:
    """Rows of cells as a CSV file: header and notes are found out as in any other."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_MINIMAL).writerows(rows)
    return path


def write_arrow(schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


class MemberAddress(NamedTuple):
    """A member: the container, its kind, and the name there."""

    path: str
    container: Container
    name: str


def is_container(name: str) -> bool:
    """Whether a file holds tables, by its name."""
    return name.lower().endswith(CONTAINER_SUFFIXES)


def container_of(name: str) -> Container | None:
    """The kind of container that a file is, by its name."""
    lower = name.lower()
    kind = next((kind for suffix, kind in _KINDS.items() if lower.endswith(suffix)), None)
    return None if kind is None else _container(kind)


def log_of(path: str) -> str:
    """The path of the log of a database, whose rows are those of both; empty for files that have none."""
    suffix = next((suffix for suffix in _LOGS if path.lower().endswith(suffix)), "")
    return path + _LOGS[suffix] if suffix else ""


@functools.cache
def _container(kind: str) -> Container:
    module, _, name = kind.partition(".")
    return cast(Container, getattr(importlib.import_module(f"dovetail.lake.containers.{module}"), name)())


def member_address(path: str, name: str) -> str:
    return f"{path}{SEPARATOR}{name}" if name else path


def parse_member(address: str) -> MemberAddress | None:
    """The member that an address names; None where it names a file that is no container."""
    at = address.find(SEPARATOR)
    while at >= 0:
        container = container_of(address[:at])
        if container is not None:
            return MemberAddress(address[:at], container, address[at + len(SEPARATOR) :])
        at = address.find(SEPARATOR, at + 1)
    container = container_of(address)
    return MemberAddress(address, container, "") if container is not None else None
