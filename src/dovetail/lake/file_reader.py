"""One file in, Arrow record batches of raw strings out: `detect_layout` once, then `read` it whole or by parts."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.avro import detect_avro, read_avro, split_avro
from dovetail.lake.columnar import COLUMNAR, detect_columnar, read_columnar, split_columnar
from dovetail.lake.delimited import detect_delimited, read_delimited, split_delimited
from dovetail.lake.dialect import DialectOverride
from dovetail.lake.formats import COMPRESSION_BY_SUFFIX, format_of, split_suffix
from dovetail.lake.jsonl import detect_jsonl, read_jsonl, split_jsonl
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.object_path import TablePath
from dovetail.lake.streams import compression_of, reasons

READERS = {
    "delimited": read_delimited, "jsonl": read_jsonl, "avro": read_avro, **dict.fromkeys(COLUMNAR, read_columnar)
}  # fmt: skip
SPLITTERS = {
    "delimited": split_delimited, "jsonl": split_jsonl, "avro": split_avro, **dict.fromkeys(COLUMNAR, split_columnar)
}  # fmt: skip


def detect_layout(path: TablePath, override: DialectOverride | None = None) -> Layout:
    """Everything that reading needs to know about a file. Raises `UnreadableTable` with the reason."""
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


def read(
    path: TablePath, layout: Layout, part: Part | None = None, counter: RowCounter | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a part, or of the whole file, as batches of string columns named as in the layout.

    Memory stays bounded whatever the file's size. `counter`, where given, is kept up to date while the batches come.
    """
    with reasons():
        yield from READERS[layout.format](path, layout, part or Part(), counter or RowCounter())


def split(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    """Parts of about `target_bytes` whose rows, in order, are exactly the rows of the whole."""
    with reasons():
        return SPLITTERS[layout.format](path, layout, target_bytes)
