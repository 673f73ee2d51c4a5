"""Tables in, Arrow record batches of raw strings out: `detect_layout` once, then `read` it whole or by parts."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from dovetail.lake import file_reader
from dovetail.lake.dialect import DialectOverride, parse_override
from dovetail.lake.folder_reader import detect_folder, read_folder, split_folder
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.streams import reasons
from dovetail.lake.table_folders import AnyPath, FolderPath

__all__ = ["DialectOverride", "Layout", "Part", "RowCounter", "detect_layout", "parse_override", "read", "split"]


def detect_layout(path: AnyPath, override: DialectOverride | None = None) -> Layout:
    """Everything that reading needs to know about a table. Raises `UnreadableTable` with the reason."""
    if isinstance(path, FolderPath):
        with reasons():
            return detect_folder(path, override)
    return file_reader.detect_layout(path, override)


def read(
    path: AnyPath, layout: Layout, part: Part | None = None, counter: RowCounter | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a part, or of the whole table, as batches of string columns named as in the layout.

    Memory stays bounded whatever the table's size. `counter`, where given, is kept up to date while the batches come.
    """
    if isinstance(path, FolderPath):
        with reasons():
            yield from read_folder(path, layout, part or Part(), counter or RowCounter())
    else:
        yield from file_reader.read(path, layout, part, counter)


def split(path: AnyPath, layout: Layout, target_bytes: int) -> list[Part]:
    """Parts of about `target_bytes` whose rows, in order, are exactly the rows of the whole."""
    if isinstance(path, FolderPath):
        with reasons():
            return split_folder(path, target_bytes)
    return file_reader.split(path, layout, target_bytes)
