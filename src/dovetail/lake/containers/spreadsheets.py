"""Spreadsheets, of Excel and of OpenDocument: each sheet is a table, or has several on it.

Those are rectangles of cells between empty rows and columns. Titles and notes that stand apart are no tables: those
have at least two rows and two columns. Where no rectangle has, the whole sheet is one. A rectangle below another of the
same width that begins as the other ends belongs to it: an empty row is often there for the eye alone.
"""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.containers.registry import Member, gone, write_csv
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
Cells = list[list[str]]


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


class Box(NamedTuple):
    """Rows and columns, each from the first to before the last."""

    top: int
    bottom: int
    left: int
    right: int


def tables_of(cells: Cells) -> list[Cells]:
    """The tables of a sheet, from top to bottom; `cells` are rows of equal length."""
    boxes = _boxes(cells, Box(0, len(cells), 0, len(cells[0]) if cells else 0))
    found = [box for box in boxes if box.bottom - box.top > 1 and box.right - box.left > 1]
    if not found and boxes:
        found = [_around(boxes)]
    return [[row for row in _inside(cells, box) if any(row)] for box in _put_together(cells, sorted(found))]


def _boxes(cells: Cells, box: Box) -> list[Box]:
    """Cut at empty rows, then at empty columns, until there are none."""
    rows = _runs([any(cells[row][box.left : box.right]) for row in range(box.top, box.bottom)], box.top)
    if len(rows) != 1:
        return [part for top, bottom in rows for part in _boxes(cells, Box(top, bottom, box.left, box.right))]
    top, bottom = rows[0]
    filled = [any(cells[row][column] for row in range(top, bottom)) for column in range(box.left, box.right)]
    columns = _runs(filled, box.left)
    if len(columns) != 1:
        return [part for left, right in columns for part in _boxes(cells, Box(top, bottom, left, right))]
    return [Box(top, bottom, *columns[0])]


def _runs(filled: list[bool], offset: int) -> list[tuple[int, int]]:
    """From where to where there is something."""
    edges = [place for place in range(len(filled) + 1) if _at(filled, place) != _at(filled, place - 1)]
    return [(offset + first, offset + last) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _at(filled: list[bool], place: int) -> bool:
    return 0 <= place < len(filled) and filled[place]


def _around(boxes: list[Box]) -> Box:
    tops, bottoms, lefts, rights = zip(*boxes, strict=True)
    return Box(min(tops), max(bottoms), min(lefts), max(rights))


def _inside(cells: Cells, box: Box) -> Cells:
    return [row[box.left : box.right] for row in cells[box.top : box.bottom]]


def _put_together(cells: Cells, boxes: list[Box]) -> list[Box]:
    made: list[Box] = []
    for box in boxes:
        above = next((place for place, other in enumerate(made) if _goes_on(cells, other, box)), None)
        if above is None:
            made.append(box)
        else:
            made[above] = made[above]._replace(bottom=box.bottom)
    return made


def _goes_on(cells: Cells, above: Box, box: Box) -> bool:
    """Whether the first row of a box has numbers where the last row of that above has them, and somewhere at all."""
    if (above.left, above.right) != (box.left, box.right) or above.bottom > box.top:
        return False
    last = [_is_number(cell) for cell in cells[above.bottom - 1][box.left : box.right]]
    first = [_is_number(cell) for cell in cells[box.top][box.left : box.right]]
    return any(last) and last == first


def _is_number(text: str) -> bool:
    return bool(text) and text.lstrip("+-")[:1].isdigit()
