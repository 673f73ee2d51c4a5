"""A text file as UTF-8 blocks of whole records: what the parsers take, whatever the encoding, compression or size."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.errors import UnreadableTable
from dovetail.lake.encoding import STRAYS, is_utf8
from dovetail.lake.frame import TAIL_BYTES
from dovetail.lake.layout import Layout, Part
from dovetail.lake.object_path import TablePath
from dovetail.lake.record_kernels import boundary_from, last_boundary, line_end, line_width
from dovetail.lake.streams import open_bytes

BLOCK_BYTES = 1 << 23
LONG_RECORD, LARGEST_RECORD = 1 << 25, 1 << 28
"""A longer record of several lines is suspected of, or taken for, an open quote, and cut at its first line.

No record is read beyond the second: a compressed file of a few megabytes may hold a line of any length. Both were
chosen far above the longest cells of real tables; nothing else depends on them.
"""
RECORD_TOO_LONG = f"a row of more than {LARGEST_RECORD >> 20} MB"


class Block(NamedTuple):
    """Whole records as UTF-8. `clean`: known to hold no stray quote. `last`: nothing follows in the file."""

    data: bytes
    clean: bool = False
    last: bool = False


def text_blocks(path: TablePath, layout: Layout, part: Part) -> Iterator[Block]:
    """The part as blocks of whole records."""
    chunks = utf8_chunks(path, layout, part)
    return with_last(whole_records(chunks, layout), ends_file=part.stop is None)


def utf8_chunks(path: TablePath, layout: Layout, part: Part) -> Iterator[bytes]:
    """The part's text as UTF-8, without byte order mark, header and what stands before it.

    UTF-8 goes through as it is, strays and all: they are rare, and mended in the block that has them.
    """
    with open_bytes(path, layout.compression) as file:
        if part.start:
            file.seek(part.start)
        raw = raw_chunks(file, None if part.stop is None else part.stop - part.start)
        chunks = raw if is_utf8(layout.encoding) else transcoded(raw, layout.encoding)
        if part.start:
            yield from chunks
        else:
            yield from after(chunks, layout.body + (3 if layout.encoding == "utf-8-sig" else 0))


def raw_chunks(file: object, size: int | None) -> Iterator[bytes]:
    left = BLOCK_BYTES if size is None else size
    while left > 0:
        chunk: bytes = file.read(min(left, BLOCK_BYTES))  # type: ignore[attr-defined]
        if not chunk:
            return
        if size is not None:
            left -= len(chunk)
        yield chunk


def transcoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors=STRAYS)
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", errors="replace")
    yield decoder.decode(b"", final=True).encode("utf-8", errors="replace")


def after(chunks: Iterator[bytes], skip: int) -> Iterator[bytes]:
    for chunk in chunks:
        if skip < len(chunk):
            yield chunk[skip:]
        skip = max(0, skip - len(chunk))


def whole_records(chunks: Iterator[bytes], layout: Layout, block_bytes: int = 0) -> Iterator[Block]:
    """Joins and cuts the chunks at ends of records. A text that fits one block is never scanned."""
    rules = record_rules(layout)
    block_bytes = block_bytes or BLOCK_BYTES
    rest, wanted = b"", block_bytes
    for chunk in chunks:
        rest += chunk
        while len(rest) > wanted:
            data = np.frombuffer(rest, dtype=np.uint8)
            cut, strays = last_boundary(data[:wanted], rules)
            if cut == 0 and is_stray(data[:wanted], layout):
                cut, strays = line_end(data, 0), True
            if cut == 0 and wanted >= LARGEST_RECORD:
                raise UnreadableTable(RECORD_TOO_LONG)
            if cut == 0:
                wanted *= 2
                continue
            yield Block(rest[:cut], clean=not strays)
            rest, wanted = rest[cut:], block_bytes
    while len(rest) > block_bytes:
        cut = boundary_from(np.frombuffer(rest, dtype=np.uint8), 0, block_bytes, rules)
        yield Block(rest[:cut])
        rest = rest[cut:]
    if rest:
        yield Block(rest)


def record_rules(layout: Layout) -> Array:
    """Delimiter, quote, escape (-1: none), width and whether space is skipped, as the kernels take them."""
    codes = [ord(mark) if mark else -1 for mark in (layout.delimiter, layout.quote, layout.escape)]
    return np.array([*codes, len(layout.columns), layout.skip_space], dtype=np.int64)


def is_stray(data: Array, layout: Layout) -> bool:
    """Whether a record so long is an open quote: its first line is a row of the table, or it is past all limits."""
    if len(data) < LONG_RECORD:
        return False
    first = line_end(data, 0)
    regular = line_width(data, 0, first, ord(layout.delimiter)) == len(layout.columns)
    return first < len(data) and (regular or len(data) >= LARGEST_RECORD)


def with_last(blocks: Iterator[Block], ends_file: bool) -> Iterator[Block]:
    """Marks the last block, which is made long enough to hold any footnotes whole."""
    held = Block(b"", clean=True)
    for block in blocks:
        if held.data and len(block.data) > TAIL_BYTES:
            yield held
            held = block
        else:
            held = Block(held.data + block.data, held.clean and block.clean)
    if held.data:
        yield held._replace(last=ends_file)
