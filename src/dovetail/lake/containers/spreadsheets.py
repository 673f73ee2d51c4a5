"""Spreadsheets, of Excel and of OpenDocument: each sheet is a table, or has several on it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.containers.container import Member, gone, write_csv
from dovetail.lake.containers.sheet_tables import Cells, tables_of
from dovetail.lake.streams import broken

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

LARGEST_WORKBOOK = 1 << 29  # bytes. A sheet is held in memory
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
            "Reading spreadsheets needs the package python-calamine: pip install 'dovetail[files]'."
        ) from None

    if path.stat().st_size > LARGEST_WORKBOOK:
        raise UnreadableTable(f"spreadsheet of more than {LARGEST_WORKBOOK >> 20} MB")
    with broken("spreadsheet", CalamineError), CalamineWorkbook.from_path(str(path)) as book:
        yield book
