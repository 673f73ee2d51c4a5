"""Pages of HTML: every table with at least two rows and two columns; of nested ones, the inner."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from dovetail.errors import UnreadableTable
from dovetail.lake.containers.registry import Member, gone, write_csv
from dovetail.lake.encoding import STRAYS, encoding_of

LARGEST_PAGE = 1 << 28  # bytes. A page is held in memory
_MOST_SPANNED = 1_000  # cells; HTML's own limit for colspan
_MOST_CELLS = 1 << 24  # of a table, with those that are spanned or filled up: about a gigabyte
_HEAD = 1 << 16

Rows = list[list[str]]


class HtmlPage:
    in_place = False

    def members(self, path: Path) -> list[Member]:
        tables = _tables(path)
        sizes = [sum(len(cell) + 1 for row in rows for cell in row) for rows in tables]
        return [Member(str(number), size) for number, size in enumerate(sizes, start=1)]

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        tables = dict(zip(map(str, range(1, 1 << 20)), _tables(path), strict=False))
        if name not in tables:
            raise gone(name)
        return write_csv(tables[name], folder / "member.csv")


def _tables(path: Path) -> list[Rows]:
    if path.stat().st_size > LARGEST_PAGE:
        raise UnreadableTable(f"page of HTML of more than {LARGEST_PAGE >> 20} MB")
    content = path.read_bytes()
    parser = _Parser()
    parser.feed(content.decode(encoding_of(content[:_HEAD], len(content) <= _HEAD), errors=STRAYS))
    parser.close()
    return [rows for rows in parser.tables if len(rows) > 1 and max(map(len, rows)) > 1]


class _Table:
    """A table that is being read. Cells that span others are repeated in all of them, as a person reads them."""

    def __init__(self) -> None:
        self.rows: Rows = []
        self._spanned: dict[tuple[int, int], str] = {}
        self._cell: list[str] | None = None
        self._spans = 1, 1
        self.inner = False
        self._cells = 0

    def start_row(self) -> None:
        self.end_cell()
        self.rows.append([])

    def start_cell(self, columns: int, rows: int) -> None:
        self.end_cell()
        if not self.rows:
            self.rows.append([])
        self._cell, self._spans = [], (columns, rows)

    def text(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def end_cell(self) -> None:
        if self._cell is None:
            return
        text, row, number = " ".join("".join(self._cell).split()), self.rows[-1], len(self.rows) - 1
        self._cell = None
        self._cells += self._spans[0] * self._spans[1]
        _refuse_many(self._cells)
        self.fill()
        for below in range(1, self._spans[1]):
            self._spanned |= {(number + below, len(row) + beside): text for beside in range(self._spans[0])}
        row += [text] * self._spans[0]

    def fill(self) -> None:
        """Cells of rows above that reach into this row."""
        row, number = self.rows[-1], len(self.rows) - 1
        while (number, len(row)) in self._spanned:
            row.append(self._spanned.pop((number, len(row))))

    def finished(self) -> Rows:
        self.end_cell()
        if self.rows:
            self.fill()
        rows = [row for row in self.rows if any(row)]
        width = max(map(len, rows), default=0)
        _refuse_many(width * len(rows))
        return [row + [""] * (width - len(row)) for row in rows]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Rows] = []
        self._open: list[_Table] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._hidden += 1
        elif tag == "table":
            if self._open:
                self._open[-1].inner = True
            self._open.append(_Table())
        elif self._open and tag == "tr":
            self._open[-1].start_row()
        elif self._open and tag in ("td", "th"):
            given = dict(attrs)
            self._open[-1].start_cell(_span(given.get("colspan")), _span(given.get("rowspan")))
        elif self._open and tag == "br":
            self._open[-1].text(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._hidden = max(0, self._hidden - 1)
        elif tag in ("td", "th", "tr") and self._open:
            self._open[-1].end_cell()
            if tag == "tr" and self._open[-1].rows:
                self._open[-1].fill()
        elif tag == "table" and self._open:
            table = self._open.pop()
            if not table.inner:
                self.tables.append(table.finished())

    def handle_data(self, data: str) -> None:
        if self._open and not self._hidden:
            self._open[-1].text(data)


def _refuse_many(cells: int) -> None:
    if cells > _MOST_CELLS:
        raise UnreadableTable(f"a table of HTML of more than {_MOST_CELLS:,} cells")


def _span(given: str | None) -> int:
    plain = given is not None and given.isascii() and given.isdigit() and len(given) < 6
    return min(_MOST_SPANNED, max(1, int(given))) if plain and given else 1
