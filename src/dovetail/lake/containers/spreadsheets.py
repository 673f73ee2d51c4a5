"""Spreadsheets, of Excel and of OpenDocument: each sheet is a table, or has several on it."""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.containers.container import Member, gone, write_csv
from dovetail.lake.containers.sheet_tables import Cells, tables_of
from dovetail.lake.streams import broken

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

LARGEST_WORKBOOK = 1 << 30  # bytes, unpacked. A sheet is held in memory
MOST_CELLS = 1 << 24
"""Of a sheet from its first corner to its last cell, which are all held in memory, some 100 bytes each. A cell at the
far corner of an empty sheet would make 17 billion of them."""
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_CHUNK, _OVERLAP = 1 << 24, 64
_WHOLE = 1e15  # floats up to it hold every whole number


class Workbook:
    """A sheet with one table is a member by its name; of several, by its name, `/` and a number."""

    in_place = False

    def members(self, path: Path) -> list[Member]:
        with _opened(path) as book:
            return [Member(name, _size(cells)) for name, cells in _tables(book, book.sheet_names)]

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        with _opened(path) as book:
            sheet = name if name in book.sheet_names else name.rpartition("/")[0]
            if sheet not in book.sheet_names:
                raise gone(name)
            found = dict(_tables(book, [sheet]))
        if name not in found:
            raise gone(name)
        return write_csv(found[name], folder / "member.csv")


def _tables(book: CalamineWorkbook, sheets: list[str]) -> Iterator[tuple[str, Cells]]:
    for sheet in sheets:
        rows = [[_text(cell) for cell in row] for row in book.get_sheet_by_name(sheet).to_python()]
        width = max(map(len, rows), default=0)
        found = tables_of([row + [""] * (width - len(row)) for row in rows])
        for number, cells in enumerate(found, start=1):
            yield sheet if len(found) == 1 else f"{sheet}/{number}", cells


def _size(cells: Cells) -> int:
    return sum(len(cell) + 1 for row in cells for cell in row)


def _text(value: Any) -> str:
    """A cell as a person reads it: spreadsheets know no whole numbers, and midnight is a date."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


@contextmanager
def _opened(path: Path) -> Iterator[CalamineWorkbook]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            "Reading spreadsheets needs the package python-calamine: pip install 'dovetail-lake[files]'."
        ) from None

    if path.stat().st_size > LARGEST_WORKBOOK:
        raise _too_large()
    if zipfile.is_zipfile(path):
        _check_contents(path)
    with broken("spreadsheet", CalamineError), CalamineWorkbook.from_path(str(path)) as book:
        yield book


def _check_contents(path: Path) -> None:
    """Raises for what would not fit into memory, before it is read into it."""
    damage = zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError
    with broken("spreadsheet", *damage), zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > LARGEST_WORKBOOK:
            raise _too_large()
        for info in archive.infolist():
            if "worksheets/" in info.filename.lower() and info.filename.lower().endswith(".xml"):
                with archive.open(info) as sheet:
                    _check_places(sheet)


def _check_places(sheet: IO[bytes]) -> None:
    """Raises for a sheet of Excel whose cells are far apart."""
    rows = columns = 0
    rest = b""
    while chunk := sheet.read(_CHUNK):
        found = set(_PLACE.findall(rest + chunk))
        columns = max([columns, *(_column(letters) for letters in {letters for letters, _ in found})])
        rows = max([rows, *(int(digits) for digits in {digits for _, digits in found})])
        if rows * columns > MOST_CELLS:
            raise UnreadableTable(f"a sheet of {rows:,} rows and {columns:,} columns; {MOST_CELLS:,} cells can be read")
        rest = chunk[-_OVERLAP:]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _too_large() -> UnreadableTable:
    return UnreadableTable(f"spreadsheet of more than {LARGEST_WORKBOOK >> 20} MB, unpacked")
