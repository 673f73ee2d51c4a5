"""Blocks of delimited text to Arrow: Arrow's own parser for regular text, Python's csv module for the rest.

Both give the same table on regular text (a property test says so). Which one runs is decided for each block: small
blocks go to csv, which has less overhead, large ones to Arrow, which hands back the rows that do not fit. A result is
trusted where it has one row for each line; where cells may span lines, the records are checked by `record_kernels`.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice, pairwise, repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dovetail.lake.blocks import record_rules
from dovetail.lake.dialect import Dialect
from dovetail.lake.encoding import STRAYS
from dovetail.lake.frame import is_comment
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.record_kernels import record_starts

ARROW_FROM = 1 << 16
"""Below this many bytes the csv module is faster than a call of Arrow's parser."""

ARROW_BLOCK = 1 << 20
"""Arrow's own unit of work; a longer record goes to the csv module."""
CELLS_AT_ONCE = 1 << 24
"""Twice the cells that an ordinary block can hold, each with a delimiter: 64 MB of Arrow's offsets."""
LF = 10
LEFT_OUT = -1

Row = list[str]


def mended(block: bytes) -> bytes:
    """The block as valid UTF-8: stray bytes of another encoding are read as cp1252."""
    try:
        block.decode()
    except UnicodeDecodeError:
        return block.decode("utf-8", errors=STRAYS).encode()
    return block


@contextmanager
def collector_paused() -> Iterator[None]:
    """Rows as Python lists hold no cycles, but their number makes the garbage collector take half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class BlockParser:
    """Parses the blocks of one file. Every value is a string as written; only missing cells are null."""

    def __init__(self, layout: Layout, counter: RowCounter) -> None:
        self.layout = layout
        self.counter = counter
        self.width = len(layout.columns)
        self.dialect = Dialect(layout.delimiter, layout.quote, layout.escape, layout.skip_space)
        edge = re.escape(layout.delimiter.encode())
        self.null_mark = re.compile(rb"(?:(?<=[\r\n])|(?<=" + edge + rb")|^)\\N(?=[\r\n]|" + edge + rb"|$)")
        """`\\N`, a database's null, which the parsers would turn into `N` where the backslash escapes."""
        self.schema = pa.schema([(name, pa.string()) for name in layout.columns])

    def parse(self, block: bytes, clean: bool = False) -> Iterator[pa.RecordBatch]:
        """Batches from a block of whole records. `clean`: no stray quotes, as the caller knows.

        Rows that lack most cells are filled up, so that a small block can make a huge batch: it is cut before.
        """
        lines = block.count(b"\n") + block.count(b"\r") + 1
        if lines * self.width <= CELLS_AT_ONCE:
            yield self.parse_whole(block, clean)
            return
        starts = record_starts(np.frombuffer(block, dtype=np.uint8), record_rules(self.layout), True)[0].tolist()
        step = max(1, CELLS_AT_ONCE // self.width)
        edges = [*starts[:-1:step], starts[-1]]
        for start, end in pairwise(edges):
            yield self.parse_whole(block[start:end], clean)

    def parse_whole(self, block: bytes, clean: bool = False) -> pa.RecordBatch:
        block = mended(block)
        if self.layout.escape == "\\":
            block = self.null_mark.sub(rb"\\\\N", block)
        batch = None
        if len(block) >= ARROW_FROM and not self.layout.skip_space:
            batch = self.by_arrow(block, clean)
        if batch is None:
            batch = self.by_csv(block, clean)
        self.counter.rows += batch.num_rows
        return batch

    def by_arrow(self, block: bytes, clean: bool = False) -> pa.RecordBatch | None:
        """None where Arrow's parser fails or a stray quote misled it. Ragged rows are put right one by one."""
        odd: list[tuple[int, str]] = []
        options = self.arrow_options(odd)
        try:
            table = pyarrow.csv.read_csv(pa.BufferReader(block), *options).combine_chunks()
        except pa.ArrowInvalid:
            return None
        if not clean and self.misled(block, table.num_rows + len(odd)):
            return None
        batch = self.named(table.to_batches()[0]) if table.num_rows else self.batch_of([])
        return self.with_odd_rows(batch, odd) if odd else batch

    def arrow_options(self, odd: list[tuple[int, str]]) -> tuple[object, object, object]:
        """Options that note (number from 1, text) of the rows that do not have the table's width in `odd`."""

        def note(row: Any) -> str:
            odd.append((row.number, row.text))
            return "skip"

        names = [str(position) for position in range(self.width)]
        return (
            pyarrow.csv.ReadOptions(use_threads=False, block_size=ARROW_BLOCK, column_names=names),
            pyarrow.csv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char=self.layout.quote or False,
                escape_char=self.layout.escape or False,
                newlines_in_values=True,
                invalid_row_handler=note,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )

    def named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)

    def with_odd_rows(self, batch: pa.RecordBatch, odd: list[tuple[int, str]]) -> pa.RecordBatch:
        """The odd rows back in their places, padded or cut; comments and blank rows among them are left out."""
        parsed = [(number - 1, next(iter(self.dialect.rows(text)), [])) for number, text in odd]
        kept = [(place, row) for place, row in parsed if row and self.is_row(row)]
        source = np.zeros(batch.num_rows + len(odd), dtype=np.int64)
        source[[place for place, _ in parsed]] = LEFT_OUT
        source[source != LEFT_OUT] = np.arange(batch.num_rows)
        source[[place for place, _ in kept]] = batch.num_rows + np.arange(len(kept))
        both = pa.concat_batches([batch, self.batch_of([row for _, row in kept])])
        return both.take(pa.array(source[source != LEFT_OUT]))

    def misled(self, block: bytes, rows: int) -> bool:
        """Whether stray quotes have joined lines. Where each row is one line, only the last can hold one."""
        if not self.layout.quote or self.layout.quote.encode() not in block:
            return False
        data = np.frombuffer(block, dtype=np.uint8)
        lines = np.count_nonzero(data == LF) + (block[-1:] != b"\n")
        if lines == rows and b"\r" not in block:
            data = data[block.rfind(b"\n", 0, len(block) - 1) + 1 :]
        return bool(record_starts(data, record_rules(self.layout), True)[1].any())

    def by_csv(self, block: bytes, clean: bool = False) -> pa.RecordBatch:
        with collector_paused():
            rows = [row for row in self.dialect.rows(block.decode()) if row]
            if not clean and self.misled(block, len(rows)):
                rows = self.mended_rows(block)
            return self.batch_of([row for row in rows if len(row) == self.width or self.is_row(row)])

    def is_row(self, row: Row) -> bool:
        """A row of another width than the table's may be a comment or nothing but white space."""
        return not is_comment(row, self.layout.comment) and (len(row) > 1 or row[0].strip() != "")

    def mended_rows(self, block: bytes) -> list[Row]:
        """Rows by record, those with a stray quote read with quotes as plain characters."""
        starts, literal = record_starts(np.frombuffer(block, dtype=np.uint8), record_rules(self.layout), True)
        plain = Dialect(self.layout.delimiter, quote="")
        rows: list[Row] = []
        done = 0
        for index in np.flatnonzero(literal).tolist():
            start, end = int(starts[index]), int(starts[index + 1])
            for dialect, piece in ((self.dialect, block[done:start]), (plain, block[start:end])):
                rows += [row for row in dialect.rows(piece.decode()) if row]
            done = end
            self.counter.literal += 1
        return rows + [row for row in self.dialect.rows(block[done:].decode()) if row]

    def batch_of(self, rows: list[Row]) -> pa.RecordBatch:
        if not rows:
            return pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in self.schema], schema=self.schema)
        even = rows if all(len(row) == self.width for row in rows) else [self.fitted(row) for row in rows]
        columns = [pa.array(column, pa.string()) for column in zip(*even, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def fitted(self, row: Row) -> list[str | None]:
        self.counter.short += len(row) < self.width
        self.counter.long += len(row) > self.width
        return list(islice(chain(row, repeat(None)), self.width))
