"""Tables that are folders of files: partitioned ones, what Spark writes, Delta Lake and Iceberg.

Such a table is named by the path of its folder, with a slash at the end. Its files, as they are now, decide what is in
it: those of a Delta or Iceberg table are the ones of its current snapshot. They are read in turn, under the names of
all, with what the folders tell.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from dovetail._objects import Objects, StoredObject, is_remote, split_address
from dovetail.errors import UnreadableTable
from dovetail.lake.columnar import grouped
from dovetail.lake.dialect import DialectOverride
from dovetail.lake.formats import format_of
from dovetail.lake.lakehouses import delta_files, iceberg_files
from dovetail.lake.layout import DataFile, Layout, Part, RowCounter, distinct_names
from dovetail.lake.reader import detect_layout, read

DELTA_LOG, ICEBERG = "_delta_log", "metadata"
_PARTITION = re.compile(r"([^=/]+)=(.*)")
_PART_FILE = re.compile(r"part-([mr]-)?\d{5}([-.].*)?")
_SUCCESS, _METADATA = "_SUCCESS", ".metadata.json"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
FORMAT = "folder"


def is_folder_table(path: str) -> bool:
    return path.endswith("/")


def is_mark(name: str, below: str | None = None) -> bool:
    """Whether a name in a folder shows that the folder is a table: of a file, or of a folder with `below` in it."""
    if below is None:
        return name == _SUCCESS or (_PART_FILE.fullmatch(name) is not None and format_of(name) is not None)
    return name == DELTA_LOG or "=" in name[1:] or (name == ICEBERG and below.endswith(_METADATA))


def table_folders(names: Iterable[str]) -> set[str]:
    """The folders among names of files that are tables, each with a slash at its end; the top is the empty name."""
    found = set()
    for name in names:
        parts = [*name.split("/"), None]
        for place, (part, below) in enumerate(itertools.pairwise(parts)):
            if is_mark(str(part), below):
                found.add("".join(f"{part}/" for part in parts[:place]))
    return found


def data_files(address: str, listed: Sequence[DataFile] | None = None) -> list[DataFile]:
    """The files of a table as it is now, in the order of their names; `listed` are all files of the folder."""
    listed = files_below(address) if listed is None else listed
    if any(file.path.startswith(f"{address}{DELTA_LOG}/") for file in listed):
        return delta_files(address)
    metadata = [
        file for file in listed if file.path.startswith(f"{address}{ICEBERG}/") and file.path.endswith(_METADATA)
    ]
    if metadata:
        return iceberg_files(max(metadata, key=_version).path)
    found = [
        file for file in listed if file.bytes and format_of(file.path) and _is_public(file.path.removeprefix(address))
    ]
    return sorted(found, key=lambda file: file.path)


def files_below(address: str) -> list[DataFile]:
    """All files in the folder of a table, at any depth, of its data or not. None where there is no such folder."""
    return list(_remote_files(address) if is_remote(address) else _local_files(address))


def _version(metadata: DataFile) -> tuple[int, str]:
    """`v12.metadata.json` and `00012-….metadata.json` are the twelfth."""
    name = metadata.path.rpartition("/")[2]
    number = re.match(r"v?(\d+)", name)
    return (int(number.group(1)) if number else -1, name)


def folder_fingerprint(files: Iterable[DataFile], dialect: str) -> str:
    """Of all files together."""
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        digest.update(f"{file.path}\0{file.mark}\0".encode("utf-8", "surrogateescape"))
    return f"{digest.hexdigest()}-{dialect}"


def current_folder_fingerprint(address: str, dialect: str) -> str:
    """Of the table as it is now; empty where it is gone."""
    listed = files_below(address)
    return folder_fingerprint(data_files(address, listed), dialect) if listed else ""


def _local_files(address: str) -> Iterator[DataFile]:
    for folder, folders, files in os.walk(address, onerror=_raise):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            status = path.stat()
            told = partition_of(str(path).removeprefix(address))
            yield DataFile(str(path), status.st_size, _mark(status), told)


def _raise(error: OSError) -> None:
    """Rows of a folder that cannot be listed would be missing."""
    raise error


def _remote_files(address: str) -> Iterator[DataFile]:
    objects = Objects(address.rstrip("/"))
    return (object_file(address, entry) for entry in objects.entries())


def object_file(address: str, entry: StoredObject) -> DataFile:
    """A file of a table, of an object that is named from its folder on."""
    return DataFile(address + entry.name, entry.bytes, _object_mark(entry), partition_of(entry.name))


def is_as_listed(file: DataFile) -> bool:
    """Whether nobody has changed a file since it was listed. FileNotFoundError where it is gone."""
    if file.is_final:
        return True
    if is_remote(file.path):
        folder, name = split_address(file.path)
        return _object_mark(Objects(folder).head(name)) == file.mark
    return _mark(Path(file.path).stat()) == file.mark


def _mark(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"


def _object_mark(entry: StoredObject) -> str:
    return f"{entry.bytes}-{entry.tag}"


def _is_public(name: str) -> bool:
    """Whether a file is no private one of its writer: hidden, or in a folder such as `_temporary`."""
    return all(not part.startswith((".", "_")) or _PARTITION.fullmatch(part) for part in name.split("/"))


def partition_of(name: str) -> tuple[tuple[str, str | None], ...]:
    """The columns that the names of the folders of a file tell: `year=2024`."""
    found = [match.groups() for part in name.split("/")[:-1] if (match := _PARTITION.fullmatch(part))]
    return tuple((unquote(name), None if value == _NO_VALUE else unquote(value)) for name, value in found)


@dataclass(frozen=True)
class FolderPath:
    """The folder of a table, here or in an object store. A part of it is a range of files."""

    address: str
    listed: tuple[DataFile, ...] | None = None
    """Its files, where somebody has just listed them."""

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        return tuple(data_files(self.address)) if self.listed is None else self.listed

    @property
    def name(self) -> str:
        return self.address.rstrip("/").rpartition("/")[2]

    def detect(self, override: DialectOverride | None) -> Layout:
        """The columns of all files, in the order of their first appearance; those that folders tell come last."""
        files = self.files
        if not files:
            raise UnreadableTable("folder without files of a table")
        first = detect_layout(files[0].table_path, override)
        names = dict.fromkeys(name for file in files for name in _layout_of(file, first).columns)
        told = dict.fromkeys(name for file in files for name, _ in file.partition)
        columns = distinct_names([*names, *(name for name in told if name not in names)])
        return replace(first, format=FORMAT, columns=columns)

    def read(self, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]:
        for file in part.files or self.files[part.start : part.stop]:
            told = dict(file.partition)
            for batch in read(file.table_path, _layout_of(file, layout), None, counter):
                columns = [_column(batch, name, told) for name in layout.columns]
                yield pa.RecordBatch.from_arrays(columns, names=list(layout.columns))

    def split(self, layout: Layout, target_bytes: int) -> list[Part]:
        parts = grouped([file.bytes for file in self.files], target_bytes)
        return [replace(part, files=self.files[part.start : part.stop]) for part in parts]


def _column(batch: pa.RecordBatch, name: str, told: dict[str, str | None]) -> pa.Array:
    place = batch.schema.get_field_index(name)
    if place >= 0:
        return batch.column(place)
    return pa.array([told.get(name)] * batch.num_rows, pa.string())


def _layout_of(file: DataFile, like: Layout) -> Layout:
    """How one of the files is read: text in the dialect of the first, since a writer writes all alike."""
    same = DialectOverride()
    if like.delimiter:
        same = DialectOverride(delimiter=like.delimiter, quote=like.quote, header=like.header)
    return detect_layout(file.table_path, same)
