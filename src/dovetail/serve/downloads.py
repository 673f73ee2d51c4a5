"""A table as a file that a browser saves.

It is written to disk first: who takes it slowly, or not at all, holds none of it in memory.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa

from dovetail._output import csv_text
from dovetail.serve.problems import TOO_LARGE, Busy, Refused

_EXCEL_ROWS, _EXCEL_COLUMNS, _EXCEL_CELL = 1_048_575, 16_384, 32_767  # what a sheet can hold below its heading
_CHUNK = 1 << 18  # bytes that are read at once
_BUSY_SECONDS = 10  # until who comes too many should try again; arbitrary
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _csv(table: pa.Table, file: IO[bytes]) -> None:
    for text in csv_text(table):
        file.write(text.encode())


def _parquet(table: pa.Table, file: IO[bytes]) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, file)


def _excel(table: pa.Table, file: IO[bytes]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    if table.num_rows > _EXCEL_ROWS or table.num_columns > _EXCEL_COLUMNS:
        raise Refused(TOO_LARGE, f"A sheet holds at most {_EXCEL_ROWS:,} rows of {_EXCEL_COLUMNS:,} columns.")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("result")

    def cell(value: object) -> object:
        """Text stays text: what looks like a formula must not run."""
        if value is None or isinstance(value, bool | int | float):
            return value
        written = WriteOnlyCell(sheet, _printable(str(value)))
        if str(value).startswith(_FORMULA):
            written.data_type = "s"
        return written

    sheet.append([cell(name) for name in table.column_names])
    for batch in table.to_batches(max_chunksize=10_000):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([cell(value) for value in row])
    book.save(file)


def _printable(text: str) -> str:
    """XML allows no control characters, and a cell no more than so many."""
    return "".join(each if each >= " " or each in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for each in text)[
        :_EXCEL_CELL
    ]


Writer = Callable[[pa.Table, IO[bytes]], None]
WRITERS: dict[str, tuple[Writer, str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
    "xlsx": (_excel, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}


class Downloads:
    """Files on their way to clients, so many at the same time. Each has no name, and ends with its answer."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._open: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()

    def check_room(self) -> None:
        if len(self._open) >= self._most:
            raise Busy(_BUSY_SECONDS)

    def write(self, table: pa.Table, suffix: str) -> IO[bytes]:
        self.check_room()
        file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  # closed by `chunks`, or with the answer
        self._open.add(file)
        WRITERS[suffix][0](table, file)
        file.seek(0, os.SEEK_END)  # Excel's is not written from beginning to end
        return file


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk
