"""A table as a file that a browser saves."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pyarrow as pa

from dovetail._output import csv_text
from dovetail.serve.problems import TOO_LARGE, Refused

_EXCEL_ROWS, _EXCEL_COLUMNS, _EXCEL_CELL = 1_048_575, 16_384, 32_767  # what a sheet can hold below its heading
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _csv(table: pa.Table) -> Iterator[bytes]:
    for text in csv_text(table):
        yield text.encode()


def _parquet(table: pa.Table) -> Iterator[bytes]:
    import pyarrow.parquet

    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    yield sink.getvalue().to_pybytes()


def _excel(table: pa.Table) -> Iterator[bytes]:
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
    content = io.BytesIO()
    book.save(content)
    yield content.getvalue()


def _printable(text: str) -> str:
    """XML allows no control characters, and a cell no more than so many."""
    return "".join(each if each >= " " or each in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for each in text)[
        :_EXCEL_CELL
    ]


Writer = Callable[[pa.Table], Iterator[bytes]]
WRITERS: dict[str, tuple[Writer, str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
    "xlsx": (_excel, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}


def file_content(table: pa.Table, suffix: str) -> tuple[list[bytes], str]:
    """The bytes of the file, and its media type."""
    write, media = WRITERS[suffix]
    return list(write(table)), media
