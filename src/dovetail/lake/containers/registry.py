"""Which files are containers, by their names, and the addresses of their members: `book.xlsx::Sheet1`."""

from __future__ import annotations

import functools
import importlib
from typing import NamedTuple, cast

from dovetail.lake.containers.container import Container

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
