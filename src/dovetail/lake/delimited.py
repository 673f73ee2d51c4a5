"""Delimited text: settling the layout from the file's head, and reading it block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.blocks import BLOCK_BYTES, raw_chunks, text_blocks, whole_records
from dovetail.lake.dialect import Dialect, DialectOverride, sniff
from dovetail.lake.encoding import STRAYS, encoding_of, is_single_byte, is_utf8
from dovetail.lake.formats import refuse_empty, refuse_other_content, refuse_prose
from dovetail.lake.frame import TAIL_BYTES, frame_of, sep_hint, without_footer
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.object_path import TablePath
from dovetail.lake.parse import BlockParser
from dovetail.lake.streams import open_bytes, read_fully

HEAD_BYTES = 1 << 18
LARGEST_HEAD = 1 << 26
ENOUGH_LINES = 3
NEW_LINE = re.compile(rb"\r\n|\n|\r")


def detect_delimited(path: TablePath, compression: str, suffix: str, override: DialectOverride) -> Layout:
    head, complete = read_head(path, compression)
    refuse_empty(head)
    encoding = override.encoding or encoding_of(head, complete)
    refuse_other_content(head, wide=encoding.startswith(("utf-16", "utf-32")))
    text = decoded(head, encoding, complete)
    dialect, hinted = dialect_of(text, suffix, override)
    skip_lines = 1 if hinted and override.skip_lines is None else override.skip_lines
    frame = frame_of(text, dialect, override.header, skip_lines)
    if frame.width == 0:
        raise UnreadableTable("only white space")
    utf8 = head.removeprefix(b"\xef\xbb\xbf") if is_utf8(encoding) else text.encode("utf-8", errors="replace")
    return Layout(
        format="delimited",
        columns=distinct_names(frame.cells or [""] * frame.width),
        compression=compression,
        encoding=encoding,
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        escape=dialect.escape,
        comment=frame.comment if override.comment is None else override.comment,
        skip_space=dialect.skip_space,
        skip_lines=frame.skip_lines,
        header=frame.header,
        body=offset_of_line(utf8, frame.body_lines),
    )


def read_head(path: TablePath, compression: str) -> tuple[bytes, bool]:
    """The first bytes, and whether they are all. Enough for some lines, however long these are."""
    with open_bytes(path, compression) as file:
        head, wanted = b"", HEAD_BYTES
        while True:
            head += read_fully(file, wanted - len(head))
            if len(head) < wanted:
                return head, True
            lines = head.count(b"\n") + head.count(b"\r")
            if lines >= ENOUGH_LINES or (lines and wanted >= LARGEST_HEAD):
                return head, False
            if wanted >= LARGEST_HEAD:
                raise UnreadableTable(f"a first line of more than {LARGEST_HEAD >> 20} MB")
            wanted *= 4


def decoded(head: bytes, encoding: str, complete: bool) -> str:
    """The head as text, without byte order mark and without a last line that is cut off."""
    text = head.decode(encoding, errors=STRAYS).removeprefix("\ufeff")
    if complete:
        return text
    cut = max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1
    return text[:cut] or text


def dialect_of(text: str, suffix: str, override: DialectOverride) -> tuple[Dialect, bool]:
    """The dialect, and whether Excel's `sep=` line, which is to be skipped, named its delimiter."""
    hint = sep_hint(text)
    wanted = override.delimiter or hint
    if wanted:
        dialect = replace(sniff(text, suffix, wanted)[0], delimiter=wanted)
    else:
        dialect, score = sniff(text, suffix)
        if score == 0.0:
            refuse_prose(text, suffix)
    quote = dialect.quote if override.quote is None else override.quote
    escape = dialect.escape if override.escape is None else override.escape
    return replace(dialect, quote=quote, escape=escape), bool(hint)


def offset_of_line(data: bytes, line: int) -> int:
    """Where the physical line with this number (from 0) begins."""
    if line == 0:
        return 0
    for count, found in enumerate(NEW_LINE.finditer(data), start=1):
        if count == line:
            return found.end()
    return len(data)


def read_delimited(path: TablePath, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]:
    parser = BlockParser(layout, counter)
    for block in text_blocks(path, layout, part):
        data = without_footer(block.data, layout) if block.last else block.data
        yield from parser.parse(data, block.clean)


def split_delimited(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    """Byte ranges of whole records, by a walk over all of them."""
    size = path.stat().st_size
    if not is_divisible(layout) or size <= target_bytes:
        return [Part()]
    with open_bytes(path, "") as file:
        body = raw_body(file, layout)
        file.seek(body)
        cuts = record_cuts(raw_chunks(file, None), layout, body, size, max(target_bytes, TAIL_BYTES))
    edges = [0, *cuts]
    return [Part(start, stop) for start, stop in zip(edges, [*cuts, None], strict=True)]


def is_divisible(layout: Layout) -> bool:
    """Whether a byte offset has a meaning: not inside gz, zst or UTF-16."""
    return not layout.compression and (is_utf8(layout.encoding) or is_single_byte(layout.encoding))


def raw_body(file: BinaryIO, layout: Layout) -> int:
    """The body's offset in the file's own bytes: in a single-byte encoding a character is a byte."""
    if is_utf8(layout.encoding):
        return layout.body + (3 if layout.encoding == "utf-8-sig" else 0)
    text = file.read(layout.body).decode(layout.encoding, errors=STRAYS)
    return len(text.encode("utf-8")[: layout.body].decode("utf-8", errors="ignore"))


def record_cuts(chunks: Iterator[bytes], layout: Layout, body: int, size: int, target: int) -> list[int]:
    """Ends of records about `target` bytes apart. The last part keeps any footnotes whole."""
    block_bytes = min(BLOCK_BYTES, target // 4)
    cuts: list[int] = []
    end = last = body
    for block in whole_records(chunks, layout, block_bytes):
        end += len(block.data)
        if end >= size - TAIL_BYTES:
            break
        if end - last >= target:
            cuts.append(end)
            last = end
    return cuts
