"""Which tables there are: walks a lake's root without reading any file.

Nothing outside the root is ever read: links are not followed. A link that points into the lake would name a table a
second time, and one that points out of it is reported.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.lake.formats import format_of


@dataclass(frozen=True)
class Skipped:
    """A file that is not in the index as a table, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Root:
    """Where tables come from, and which of them are wanted. Remembered by the index."""

    path: str
    pattern: str = "*"
    prefix: str = ""  # set for roots beyond the first, so that ids never meet
    tables: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dialects: tuple[tuple[str, str], ...] = ()  # (glob, dialect)

    @classmethod
    def of(cls, source: str) -> Root:
        """The root of a folder, a glob or a single file."""
        path = Path(source)
        if path.is_dir():
            return cls(str(path.resolve()))
        if path.exists():
            return cls(str(path.parent.resolve()), glob.escape(path.name))
        if not glob.has_magic(source):
            raise InputError(f"There is no file or folder {source}.")
        parts = Path(source).parts
        fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        folder = Path(*parts[:fixed]) if fixed else Path()
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder}, which {source} looks into.")
        return cls(str(folder.resolve()), "/".join(parts[fixed:]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Root:
        return cls(
            values["path"], values["pattern"], values["prefix"], tuple(values["tables"]), tuple(values["exclude"]),
            tuple((pattern, dialect) for pattern, dialect in values["dialects"]),
        )  # fmt: skip


@dataclass(frozen=True)
class TableFile:
    """A file that may be a table. The fingerprint changes whenever the file, or the way to read it, does."""

    table: str
    path: str
    bytes: int
    fingerprint: str
    dialect: str = ""


@dataclass
class Listing:
    """The table files of a lake by id, and what was seen but left out."""

    files: dict[str, TableFile] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)


def matches(name: str, pattern: str) -> bool:
    """Whether a glob matches a table's id. `*` also matches `/`; `**/` may match nothing."""
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, pattern.replace("**/", ""))


def fingerprint(status: os.stat_result, readable: bool, dialect: str) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}-{'r' if readable else 'x'}-{dialect}"


def list_lake(roots: Iterable[Root]) -> Listing:
    listing = Listing()
    for root in roots:
        if not Path(root.path).is_dir():
            raise InputError(f"The lake's folder {root.path} is not there. Is its disk mounted?")
        for path in _walk(root, listing):
            name = path.relative_to(root.path).as_posix()
            if _is_wanted(root, name):
                _add(listing, root, path, name)
    return listing


def _walk(root: Root, listing: Listing) -> Iterator[Path]:
    def report(error: OSError) -> None:
        listing.skipped.append(Skipped(str(error.filename), f"folder cannot be listed: {error.strerror}"))

    for folder, subfolders, names in os.walk(root.path, onerror=report):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in [*subfolders, *names]:
            link = Path(folder, name)
            if link.is_symlink() and not link.resolve().is_relative_to(root.path):
                listing.skipped.append(Skipped(_printable(link, root), "link that leaves the lake"))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and format_of(name) and not path.is_symlink():
                yield path


def _is_wanted(root: Root, name: str) -> bool:
    if not matches(name, root.pattern):
        return False
    if root.tables and not any(matches(name, pattern) for pattern in root.tables):
        return False
    return not any(matches(name, pattern) for pattern in root.exclude)


def _add(listing: Listing, root: Root, path: Path, name: str) -> None:
    table = root.prefix + name
    try:
        table.encode()
        status = path.stat()
    except UnicodeEncodeError:
        listing.skipped.append(Skipped(_printable(path, root), "file name is not valid UTF-8"))
        return
    except FileNotFoundError:
        listing.skipped.append(Skipped(table, "vanished"))
        return
    if not path.is_file():
        listing.skipped.append(Skipped(table, "not a regular file"))
        return
    dialect = next((dialect for pattern, dialect in root.dialects if matches(name, pattern)), "")
    readable = os.access(path, os.R_OK)
    mark = fingerprint(status, readable, dialect)
    listing.files[table] = TableFile(table, str(path), status.st_size, mark, dialect)


def _printable(path: Path, root: Root) -> str:
    return root.prefix + path.relative_to(root.path).as_posix().encode("utf-8", "backslashreplace").decode()
