"""JSON lines: an object a line, nested objects flattened with dots, lists kept as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.blocks import LARGEST_RECORD, RECORD_TOO_LONG, raw_chunks, transcoded
from dovetail.lake.encoding import STRAYS, encoding_of, is_utf8
from dovetail.lake.formats import refuse_empty
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.object_path import TablePath
from dovetail.lake.streams import open_bytes, read_fully
from dovetail.lake.strings import json_text

HEAD_BYTES = 1 << 23
PROBES, PROBE_BYTES = 16, 1 << 18
BATCH_BYTES = 1 << 23


class Written(float):
    """A JSON number with a fraction or exponent that remembers how it was written."""

    def __new__(cls, text: str) -> Written:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def detect_jsonl(path: TablePath, compression: str) -> Layout:
    """The columns are all keys in the first 8 MB and, in a larger file, in probes spread over the rest."""
    with open_bytes(path, compression) as file:
        head = read_fully(file, HEAD_BYTES)
        complete = len(head) < HEAD_BYTES
        refuse_empty(head)
        probes = [] if complete or compression else spread_probes(file, path.stat().st_size)
    encoding = encoding_of(head[:65536], complete and len(head) <= 65536)
    lines = head.decode(encoding, errors=STRAYS).removeprefix("\ufeff").split("\n")
    if not complete and len(lines) > 1:
        lines.pop()
    keys: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            keys |= dict.fromkeys(name for name, _ in cells_of(parsed(line, number)))
    for line in probes:
        keys |= dict.fromkeys(name for name, _ in cells_of(parsed(line, 0)))
    if not keys:
        raise UnreadableTable("no columns")
    return Layout("jsonl", distinct_names(keys), compression, encoding)


def spread_probes(file: Any, size: int) -> list[str]:
    """Whole lines from places all over a large file."""
    lines: list[bytes] = []
    for probe in range(1, PROBES + 1):
        file.seek(HEAD_BYTES + (size - HEAD_BYTES - PROBE_BYTES) * probe // PROBES)
        lines += file.read(PROBE_BYTES).split(b"\n")[1:-1]
    return [line.decode("utf-8", errors=STRAYS) for line in lines if line.strip()]


def parsed(line: str, number: int) -> Any:
    try:
        return json.loads(line, parse_float=Written)
    except (ValueError, RecursionError) as error:  # a line of brackets alone nests too deep
        where = f" in line {number}" if number else ""
        raise UnreadableTable(f"broken JSON lines{where}: {error}") from error


def cells_of(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, leaf) of a line. A line that is no object is one cell called `value`."""
    if not isinstance(value, dict):
        yield prefix or "value", value
        return
    for key, child in value.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(child, dict) and child:
            yield from cells_of(child, name)
        else:
            yield name, child


def cell_text(leaf: Any) -> str | None:
    if leaf is None or isinstance(leaf, str):
        return leaf
    if isinstance(leaf, bool):
        return "true" if leaf else "false"
    if isinstance(leaf, Written):
        return leaf.text
    return str(leaf) if isinstance(leaf, int | float) else json_text(leaf)


def read_jsonl(path: TablePath, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]:
    places = {name: place for place, name in enumerate(layout.columns)}
    rows: list[list[str | None]] = []
    size = 0
    for number, line in enumerate(text_lines(path, layout, part), start=1):
        if not line.strip():
            continue
        row: list[str | None] = [None] * len(places)
        surplus = False
        for name, leaf in cells_of(parsed(line, 0 if part.start else number)):
            place = places.get(name.strip(), -1)
            if place < 0:
                surplus = True
            else:
                row[place] = cell_text(leaf)
        counter.long += surplus
        rows.append(row)
        size += len(line)
        if size >= BATCH_BYTES:
            yield batch_of(rows, layout, counter)
            rows, size = [], 0
    if rows:
        yield batch_of(rows, layout, counter)


def batch_of(rows: Iterable[list[str | None]], layout: Layout, counter: RowCounter) -> pa.RecordBatch:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, names=list(layout.columns))
    counter.rows += batch.num_rows
    return batch


def text_lines(path: TablePath, layout: Layout, part: Part) -> Iterator[str]:
    """The part's lines. JSON escapes new lines inside strings, so a new line always ends a record."""
    with open_bytes(path, layout.compression) as file:
        if part.start:
            file.seek(part.start)
        raw = raw_chunks(file, None if part.stop is None else part.stop - part.start)
        pieces: list[bytes] = []
        for chunk in raw if is_utf8(layout.encoding) else transcoded(raw, layout.encoding):
            first, *rest = chunk.split(b"\n")
            pieces.append(first)
            if not rest and sum(map(len, pieces)) > LARGEST_RECORD:
                raise UnreadableTable(RECORD_TOO_LONG)
            for line in rest:
                yield b"".join(pieces).decode("utf-8", errors=STRAYS).removeprefix("\ufeff")
                pieces = [line]
        yield b"".join(pieces).decode("utf-8", errors=STRAYS)


def split_jsonl(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    if layout.compression or not is_utf8(layout.encoding):
        return [Part()]
    edges = [0]
    size = path.stat().st_size
    with open_bytes(path, "") as file:
        while edges[-1] + target_bytes < size:
            file.seek(edges[-1] + target_bytes)
            file.readline(LARGEST_RECORD)
            if file.tell() >= size:
                break
            edges.append(file.tell())
    return [Part(start, stop) for start, stop in zip(edges, [*edges[1:], None], strict=True)]
