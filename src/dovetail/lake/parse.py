"""Blocks of delimited text to Arrow: Arrow's own parser for regular text, Python's csv module for the rest.

Both give the same table on regular text (a property test says so). Which one runs is decided for each block: small
blocks go to csv, which has less overhead, large ones to Arrow, and back to csv if Arrow refuses a row. A result is
trusted where it has one row for each line; where cells may span lines, the records are checked against `boundaries`.
"""

from __future__ import annotations

from itertools import chain, islice, repeat

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from dovetail.lake.boundaries import record_starts, rules_of
from dovetail.lake.encoding import STRAYS
from dovetail.lake.frame import is_comment
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.sniff import Dialect

ARROW_FROM = 1 << 16
"""Below this many bytes the csv module is faster than a call of Arrow's parser."""

Row = list[str]


class BlockParser:
    """Parses the blocks of one file. Every value is a string as written; only missing cells are null."""

    def __init__(self, layout: Layout, counter: RowCounter) -> None:
        self.layout = layout
        self.counter = counter
        self.width = len(layout.columns)
        self.dialect = Dialect(layout.delimiter, layout.quote, layout.escape, layout.skip_space)
        self.schema = pa.schema([(name, pa.string()) for name in layout.columns])

    def parse(self, block: bytes) -> pa.RecordBatch:
        batch = self.by_arrow(block) if len(block) >= ARROW_FROM and not self.layout.skip_space else None
        if batch is None:
            batch = self.by_csv(block)
        self.counter.rows += batch.num_rows
        return batch

    def by_arrow(self, block: bytes) -> pa.RecordBatch | None:
        """None where the text is not regular: ragged, stray quotes, or bytes that are not UTF-8."""
        try:
            table = pyarrow.csv.read_csv(pa.BufferReader(block), *self.arrow_options(len(block)))
        except pa.ArrowInvalid:
            return None
        if not self.is_plain(block, table.num_rows) and self.strays(block).any():
            return None
        batches = table.combine_chunks().to_batches()
        return pa.RecordBatch.from_arrays(batches[0].columns, schema=self.schema) if batches else None

    def arrow_options(self, size: int) -> tuple[object, object, object]:
        names = [str(position) for position in range(self.width)]
        return (
            pyarrow.csv.ReadOptions(use_threads=False, block_size=size + 1, column_names=names),
            pyarrow.csv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char=self.layout.quote or False,
                escape_char=self.layout.escape or False,
                newlines_in_values=True,
            ),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )

    def is_plain(self, block: bytes, rows: int) -> bool:
        """Whether each row is one line, so that no quote can have swallowed a line."""
        if not self.layout.quote or self.layout.quote.encode() not in block:
            return True
        lines = block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n") + (block[-1:] not in (b"\n", b"\r"))
        return lines == rows

    def strays(self, block: bytes) -> NDArray[np.bool_]:
        return record_starts(np.frombuffer(block, dtype=np.uint8), rules_of(self.layout), True)[1]

    def by_csv(self, block: bytes) -> pa.RecordBatch:
        rows = [row for row in self.dialect.rows(block.decode("utf-8", errors=STRAYS)) if row]
        if not self.is_plain(block, len(rows)) and self.strays(block).any():
            rows = self.mended_rows(block)
        return self.batch_of([row for row in rows if len(row) == self.width or self.is_row(row)])

    def is_row(self, row: Row) -> bool:
        """A row of another width than the table's may be a comment or nothing but white space."""
        return not is_comment(row, self.layout.comment) and (len(row) > 1 or row[0].strip() != "")

    def mended_rows(self, block: bytes) -> list[Row]:
        """Rows by record, those with a stray quote read with quotes as plain characters."""
        starts, literal = record_starts(np.frombuffer(block, dtype=np.uint8), rules_of(self.layout), True)
        plain = Dialect(self.layout.delimiter, quote="")
        rows: list[Row] = []
        done = 0
        for index in np.flatnonzero(literal).tolist():
            start, end = int(starts[index]), int(starts[index + 1])
            for dialect, piece in ((self.dialect, block[done:start]), (plain, block[start:end])):
                rows += [row for row in dialect.rows(piece.decode("utf-8", errors=STRAYS)) if row]
            done = end
            self.counter.literal += 1
        return rows + [row for row in self.dialect.rows(block[done:].decode("utf-8", errors=STRAYS)) if row]

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
