"""Tables in, Arrow record batches of raw strings out: `detect_layout` once, then `read` it whole or by parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from dovetail.lake import file_reader
from dovetail.lake.dialect import DialectOverride, parse_override
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.object_path import ObjectPath, TablePath
from dovetail.lake.streams import reasons

__all__ = ["DialectOverride", "Layout", "Part", "RowCounter", "detect_layout", "parse_override", "read", "split"]


class Readable(Protocol):
    """A table that is no single file, and knows how it is read. What goes wrong is raised as for files."""

    @property
    def name(self) -> str: ...

    def detect(self, override: DialectOverride | None) -> Layout: ...

    def read(self, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]: ...

    def split(self, layout: Layout, target_bytes: int) -> list[Part]: ...


AnyPath = TablePath | Readable


def detect_layout(path: AnyPath, override: DialectOverride | None = None) -> Layout:
    """Everything that reading needs to know about a table. Raises `UnreadableTable` with the reason."""
    if isinstance(path, Path | ObjectPath):
        return file_reader.detect_layout(path, override)
    with reasons():
        return path.detect(override)


def read(
    path: AnyPath, layout: Layout, part: Part | None = None, counter: RowCounter | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a part, or of the whole table, as batches of string columns named as in the layout, and no others.

    Memory stays bounded whatever the table's size. `counter`, where given, is kept up to date while the batches come.
    """
    batches = _read_whole(path, layout.whole, part, counter)
    yield from (batch.select(layout.kept) for batch in batches) if layout.excluded else batches


def _read_whole(
    path: AnyPath, layout: Layout, part: Part | None, counter: RowCounter | None
) -> Iterator[pa.RecordBatch]:
    if isinstance(path, Path | ObjectPath):
        yield from file_reader.read(path, layout, part, counter)
    else:
        with reasons():
            yield from path.read(layout, part or Part(), counter or RowCounter())


def split(path: AnyPath, layout: Layout, target_bytes: int) -> list[Part]:
    """Parts of about `target_bytes` whose rows, in order, are exactly the rows of the whole."""
    if isinstance(path, Path | ObjectPath):
        return file_reader.split(path, layout.whole, target_bytes)
    with reasons():
        return path.split(layout.whole, target_bytes)
