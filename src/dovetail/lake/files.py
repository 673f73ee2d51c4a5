"""Files of this machine and objects of a store. Each source lists them, tells when they change, and hands out files
that the reader can read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from dovetail._objects import Objects, StoredObject, split_address
from dovetail.errors import SourceUnreachable
from dovetail.lake.listing import (
    Root,
    TableFile,
    dialect_of,
    fingerprint,
    folder_table,
    is_wanted,
    list_files,
    may_be_table,
)
from dovetail.lake.object_path import ObjectPath
from dovetail.lake.reader import AnyPath
from dovetail.lake.table_folders import (
    FolderPath,
    current_folder_fingerprint,
    data_files,
    files_below,
    folder_fingerprint,
    is_folder_table,
    object_file,
    table_folders,
)

MARKER = "dovetail-index.json"  # of an index, which is no part of the lake that it lies in


@dataclass(frozen=True)
class Copy:
    """A file that can be read now, and the fingerprint of what is in it; nobody else changes one that is `private`."""

    path: AnyPath
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

    def open(self, path: str) -> AnyPath:
        """The table where it is, for readers that read parts of it."""
        ...

    def copy(self, file: TableFile, folder: Path) -> Copy:
        """The table, to be read whole; what has to be fetched is put into `folder`. FileNotFoundError if it is gone."""
        ...


class LocalFiles:
    """Files, read where they are."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        if not Path(root.path).is_dir():
            raise SourceUnreachable(f"The lake's folder {root.path} is not there. Is its disk mounted?")
        return list_files(root, skip)

    def fingerprint(self, file: TableFile) -> str:
        try:
            if is_folder_table(file.path):
                return current_folder_fingerprint(file.path, file.dialect)
            return fingerprint(file.path, Path(file.path).stat(), file.dialect)
        except FileNotFoundError:
            return ""

    def copy(self, file: TableFile, folder: Path) -> Copy:
        if is_folder_table(file.path):
            return _folder_as_it_is(file)
        return Copy(Path(file.path), self.fingerprint(file), private=False)

    def open(self, path: str) -> AnyPath:
        return FolderPath(path) if is_folder_table(path) else Path(path)


class ObjectFiles:
    """Objects, fetched whole and once by whoever reads them. Their tags tell when they change."""

    def list(self, root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
        objects = Objects(root.path)
        try:
            found = [objects.head(root.pattern_as_name)] if root.names_one_file else list(objects.entries())
        except OSError as error:
            raise SourceUnreachable(f"Cannot list {error.filename}: {error.strerror}.") from error
        inside = in_indexes(entry.name for entry in found)
        found = [entry for entry in found if "/." not in f"/{entry.name}" and not inside(entry.name)]
        tables = set() if root.names_one_file else table_folders(entry.name for entry in found)
        folders = {name for name in tables if is_wanted(root, name.rstrip("/") or root.name)}
        for folder, entries in _by_folder(folders, found):
            if folder is None:
                yield from (self._file(root, objects, entry) for entry in entries if _is_listed(root, entry.name))
            else:
                address = f"{objects.address}/{folder}"
                named = [replace(entry, name=entry.name.removeprefix(folder)) for entry in entries]
                yield folder_table(root, folder, address, [object_file(address, entry) for entry in named])

    def _file(self, root: Root, objects: Objects, entry: StoredObject) -> TableFile:
        dialect = dialect_of(root, entry.name)
        mark = object_fingerprint(entry, dialect)
        return TableFile(root.prefix + entry.name, f"{objects.address}/{entry.name}", entry.bytes, mark, dialect)

    def fingerprint(self, file: TableFile) -> str:
        if is_folder_table(file.path):
            return current_folder_fingerprint(file.path, file.dialect)
        folder, name = split_address(file.path)
        try:
            return object_fingerprint(Objects(folder).head(name), file.dialect)
        except FileNotFoundError:
            return ""

    def copy(self, file: TableFile, folder: Path) -> Copy:
        if is_folder_table(file.path):
            return _folder_as_it_is(file)
        place, name = split_address(file.path)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name  # its suffix tells the format
        return Copy(path, object_fingerprint(Objects(place).download(name, path), file.dialect), private=True)

    def open(self, path: str) -> AnyPath:
        return FolderPath(path) if is_folder_table(path) else ObjectPath(path)


def _folder_as_it_is(file: TableFile) -> Copy:
    """A table of many files, with the fingerprint of those that are read."""
    below = files_below(file.path)
    if not below:
        raise FileNotFoundError(2, "No such folder", file.path)
    files = data_files(file.path, below)
    return Copy(FolderPath(file.path, tuple(files)), folder_fingerprint(files, file.dialect), private=False)


def object_fingerprint(found: StoredObject, dialect: str) -> str:
    return f"{found.bytes}-{found.tag}-{dialect}"


def _is_listed(root: Root, name: str) -> bool:
    return may_be_table(name) and is_wanted(root, name)


def _by_folder(
    folders: Collection[str], found: Iterable[StoredObject]
) -> Iterator[tuple[str | None, list[StoredObject]]]:
    """The objects of each of the folders that are tables, the outermost, and those of none."""
    groups: dict[str | None, list[StoredObject]] = {}
    for entry in sorted(found, key=lambda entry: entry.name):
        above = itertools.accumulate(f"{part}/" for part in entry.name.split("/")[:-1])
        folder = next((folder for folder in ("", *above) if folder in folders), None)
        groups.setdefault(folder, []).append(entry)
    yield from groups.items()


def in_indexes(names: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of an index that lies among these names."""
    folders = tuple(name.removesuffix(MARKER) for name in names if _is_marker(name))
    return lambda name: name.startswith(folders)


def _is_marker(name: str) -> bool:
    return name == MARKER or name.endswith(f"/{MARKER}")
