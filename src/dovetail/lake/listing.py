"""Which tables there are: walks a lake's root without reading any file.

Nothing outside the root is ever read: links are not followed. A link that points into the lake would name a table a
second time, and one that points out of it is refused.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.lake.formats import format_of


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

    @property
    def names_one_file(self) -> bool:
        return self.pattern == glob.escape(self.pattern_as_name)

    @property
    def pattern_as_name(self) -> str:
        """The name that the pattern is the escaped form of, where it is one."""
        return re.sub(r"\[([*?[])\]", r"\1", self.pattern)

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
    refused: str = ""  # why it is not even to be opened


def matches(name: str, pattern: str) -> bool:
    """Whether a glob matches a table's id. `*` also matches `/`; `**/` may match nothing; an id matches itself."""
    globs = (pattern, pattern.replace("**/", ""))
    return name == pattern or any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def fingerprint(status: os.stat_result, readable: bool, dialect: str) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}-{'r' if readable else 'x'}-{dialect}"


def is_unchanged(path: str, mark: str) -> bool:
    """Whether the file at `path` is still the one that was given this fingerprint."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return False
    return mark.startswith(f"{status.st_size}-{status.st_mtime_ns}-")


def list_lake(roots: Iterable[Root], skip: Callable[[Path], bool] = lambda _: False) -> dict[str, TableFile]:
    """Every file that may be a table, or would be one if it could be read, by its id. `skip` names folders to leave."""
    files = {}
    for root in roots:
        if not Path(root.path).is_dir():
            raise InputError(f"The lake's folder {root.path} is not there. Is its disk mounted?")
        for path, refused in _walk(root, skip):
            name = path.relative_to(root.path).as_posix().encode("utf-8", "backslashreplace").decode()
            if _is_wanted(root, name):
                file = _table_file(root, path, name, refused)
                if file.table in files:
                    raise InputError(f"Two files of the lake have the same name {file.table}; rename one of them.")
                files[file.table] = file
    return files


def _walk(root: Root, skip: Callable[[Path], bool]) -> Iterator[tuple[Path, str]]:
    """The paths under a root, each with the reason to refuse it, or none."""
    unlisted: list[tuple[Path, str]] = []

    def note(error: OSError) -> None:
        unlisted.append((Path(error.filename), f"folder cannot be listed: {error.strerror}"))

    folders: Iterable[tuple[str, list[str], list[str]]] = os.walk(root.path, onerror=note)
    if root.names_one_file:
        folders = [(root.path, [], [root.pattern_as_name])]
    for folder, subfolders, names in folders:
        for name in subfolders:
            if _leaves(Path(folder, name), root):
                yield Path(folder, name), "link that leaves the lake"
        subfolders[:] = sorted(n for n in subfolders if not (n.startswith(".") or skip(Path(folder, n))))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or not format_of(name):
                continue
            if _leaves(path, root):
                yield path, "link that leaves the lake"
            elif not path.is_symlink():
                yield path, ""
        yield from unlisted
        unlisted.clear()
    yield from unlisted


def _leaves(path: Path, root: Root) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(root.path)


def _is_wanted(root: Root, name: str) -> bool:
    if not matches(name, root.pattern):
        return False
    if root.tables and not any(matches(name, pattern) for pattern in root.tables):
        return False
    return not any(matches(name, pattern) for pattern in root.exclude)


def _table_file(root: Root, path: Path, name: str, refused: str) -> TableFile:
    dialect = next((dialect for pattern, dialect in root.dialects if matches(name, pattern)), "")
    if not refused:
        try:
            status = path.stat()
            if path.is_file():
                readable = os.access(path, os.R_OK)
                mark = fingerprint(status, readable, dialect)
                str(path).encode()
                return TableFile(root.prefix + name, str(path), status.st_size, mark, dialect)
            refused = "not a regular file"
        except FileNotFoundError:
            refused = "vanished"
        except UnicodeEncodeError:
            refused = "file name is not valid UTF-8"
    return TableFile(root.prefix + name, name, 0, f"refused: {refused}", refused=refused)
