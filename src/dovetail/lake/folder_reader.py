"""Tables of many files: the rows of each file in turn, under the names of all, with what the folders tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.columnar import grouped
from dovetail.lake.data_file import DataFile
from dovetail.lake.dialect import DialectOverride
from dovetail.lake.file_reader import detect_layout, read
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.table_folders import data_files

FORMAT = "folder"


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
