"""Tables in, Arrow record batches of raw strings out: `detect_layout` once, then `read` it whole or by parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.avro import detect_avro, read_avro, split_avro
from dovetail.lake.columnar import COLUMNAR, detect_columnar, read_columnar, split_columnar
from dovetail.lake.delimited import detect_delimited, read_delimited, split_delimited
from dovetail.lake.dialect import DialectOverride, parse_override
from dovetail.lake.formats import COMPRESSION_BY_SUFFIX, format_of, split_suffix
from dovetail.lake.jsonl import detect_jsonl, read_jsonl, split_jsonl
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.object_path import ObjectPath, TablePath
from dovetail.lake.streams import compression_of, reasons

__all__ = ["DialectOverride", "Layout", "Part", "RowCounter", "detect_layout", "parse_override", "read", "split"]

READERS = {
    "delimited": read_delimited, "jsonl": read_jsonl, "avro": read_avro, **dict.fromkeys(COLUMNAR, read_columnar)
}  # fmt: skip
SPLITTERS = {
    "delimited": split_delimited, "jsonl": split_jsonl, "avro": split_avro, **dict.fromkeys(COLUMNAR, split_columnar)
}  # fmt: skip


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
        return _detect_file(path, override)
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
        yield from _read_file(path, layout, part, counter)
    else:
        with reasons():
            yield from path.read(layout, part or Part(), counter or RowCounter())


def split(path: AnyPath, layout: Layout, target_bytes: int) -> list[Part]:
    """Parts of about `target_bytes` whose rows, in order, are exactly the rows of the whole."""
    if isinstance(path, Path | ObjectPath):
        return _split_file(path, layout.whole, target_bytes)
    with reasons():
        return path.split(layout.whole, target_bytes)


def _detect_file(path: TablePath, override: DialectOverride | None) -> Layout:
    found = format_of(path.name)
    if found is None:
        raise UnreadableTable(f"not a table by its name: {path.suffix or 'no suffix'}")
    format, compression = found
    with reasons():
        if format in COLUMNAR:
            return detect_columnar(path, format)
        if format == "avro":
            return detect_avro(path)
        compression = compression or compression_of(path)
        if format == "jsonl":
            return detect_jsonl(path, compression)
        return detect_delimited(path, compression, text_suffix(path.name), override or DialectOverride())


def text_suffix(name: str) -> str:
    """`.tsv` of `a.tsv.gz`."""
    stem, suffix = split_suffix(name)
    return split_suffix(stem)[1] if suffix in COMPRESSION_BY_SUFFIX else suffix


def _read_file(
    path: TablePath, layout: Layout, part: Part | None, counter: RowCounter | None
) -> Iterator[pa.RecordBatch]:
    with reasons():
        yield from READERS[layout.format](path, layout, part or Part(), counter or RowCounter())


def _split_file(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    with reasons():
        return SPLITTERS[layout.format](path, layout, target_bytes)
