"""Where tables live: files of this machine, or objects of a store. Each source lists them, tells when they change, and
hands out files that the reader can read.

A table is named by its path: of a file, or `s3://bucket/folder/table.csv`. Whoever has one finds its source by that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dovetail._objects import Objects, StoredObject, is_remote, split_address
from dovetail.errors import InputError
from dovetail.lake.formats import format_of
from dovetail.lake.listing import Root, TableFile, dialect_of, fingerprint, is_wanted, list_files

MARKER = "dovetail-index.json"  # of an index, which is no part of the lake that it lies in


@dataclass(frozen=True)
class Copy:
    """A file that can be read now, and the fingerprint of what is in it; nobody else changes one that is `private`."""

    path: Path
    fingerprint: str
    private: bool


class Source(Protocol):
    """A place where tables live."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        """Every table of a root, or what would be one if it could be read. `skip` names folders to leave out."""
        ...

    def fingerprint(self, file: TableFile) -> str:
        """Of the table as it is now; empty where it is gone."""
        ...

    def copy(self, file: TableFile, folder: Path) -> Copy:
        """The table as a file; what has to be fetched is put into `folder`. FileNotFoundError where it is gone."""
        ...


class LocalFiles:
    """Files, read where they are."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        if not Path(root.path).is_dir():
            raise InputError(f"The lake's folder {root.path} is not there. Is its disk mounted?")
        return list_files(root, skip)

    def fingerprint(self, file: TableFile) -> str:
        try:
            return fingerprint(Path(file.path).stat(), os.access(file.path, os.R_OK), file.dialect)
        except FileNotFoundError:
            return ""

    def copy(self, file: TableFile, folder: Path) -> Copy:
        return Copy(Path(file.path), self.fingerprint(file), private=False)


class ObjectFiles:
    """Objects, fetched whole and once by whoever reads them. Their tags tell when they change."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        objects = Objects(root.path)
        try:
            found = [objects.head(root.pattern_as_name)] if root.names_one_file else list(objects.entries())
        except OSError as error:
            raise InputError(f"Cannot list {error.filename}: {error.strerror}.") from error
        inside = in_indexes(entry.name for entry in found)
        for entry in sorted(found, key=lambda entry: entry.name):
            name = entry.name
            hidden = any(part.startswith(".") for part in name.split("/"))
            if hidden or not format_of(name) or inside(name) or not is_wanted(root, name):
                continue
            dialect = dialect_of(root, name)
            mark = object_fingerprint(entry, dialect)
            yield TableFile(root.prefix + name, f"{objects.address}/{name}", entry.bytes, mark, dialect)

    def fingerprint(self, file: TableFile) -> str:
        folder, name = split_address(file.path)
        try:
            return object_fingerprint(Objects(folder).head(name), file.dialect)
        except FileNotFoundError:
            return ""

    def copy(self, file: TableFile, folder: Path) -> Copy:
        place, name = split_address(file.path)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name  # its suffix tells the format
        return Copy(path, object_fingerprint(Objects(place).download(name, path), file.dialect), private=True)


_LOCAL, _REMOTE = LocalFiles(), ObjectFiles()


def source_of(path: str) -> Source:
    return _REMOTE if is_remote(path) else _LOCAL


def list_lake(roots: Iterable[Root], skip: Callable[[Path], bool] = lambda _: False) -> dict[str, TableFile]:
    """Every file that may be a table, or would be one if it could be read, by its id. `skip` names folders to leave."""
    files: dict[str, TableFile] = {}
    for root in roots:
        for file in source_of(root.path).list(root, skip):
            if file.table in files:
                raise InputError(f"Two files of the lake have the same name {file.table}; rename one of them.")
            files[file.table] = file
    return files


def is_unchanged(path: str, before: str) -> bool:
    """Whether the table at `path` is still the one that was given this fingerprint, however it was to be read."""
    now = source_of(path).fingerprint(TableFile("", path, 0, ""))
    return bool(now) and before.startswith(now.removesuffix("r-").removesuffix("x-"))


def object_fingerprint(found: StoredObject, dialect: str) -> str:
    return f"{found.bytes}-{found.tag}-{dialect}"


def in_indexes(names: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of an index that lies among these names."""
    folders = tuple(name.removesuffix(MARKER) for name in names if _is_marker(name))
    return lambda name: name.startswith(folders)


def _is_marker(name: str) -> bool:
    return name == MARKER or name.endswith(f"/{MARKER}")
