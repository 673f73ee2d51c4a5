"""The frame of a table inside its text: what stands before the header, whether there is one, and the width."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dovetail.lake.dialect import Dialect, NumberedRow
from dovetail.lake.header import has_header
from dovetail.lake.layout import Layout

SEP_HINT = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE)
COMMENT_MARKS = ("#", "%", "//")
ROWS_LOOKED_AT, LINES_LOOKED_AT = 100, 1000
ROWS_THAT_VOTE = 40
ROWS_FOR_A_COLUMN = 10


@dataclass(frozen=True)
class Frame:
    """`skip_lines` and `body_lines` count physical lines: before the header, and before the first data record."""

    cells: tuple[str, ...]
    width: int
    skip_lines: int
    body_lines: int
    header: bool
    comment: str


def sep_hint(text: str) -> str:
    """The delimiter that Excel's `sep=;` line names, or nothing."""
    first = next(io.StringIO(text, newline=""), "")
    found = SEP_HINT.match(first)
    return found[1] if found else ""


def frame_of(text: str, dialect: Dialect, header: bool | None = None, skip_lines: int | None = None) -> Frame:
    """Looks for the frame in the first rows of `text`. `header` and `skip_lines`, where given, are obeyed."""
    rows = first_rows(text, dialect, skip_lines or 0)
    if not rows:
        return Frame((), 0, skip_lines or 0, skip_lines or 0, True, "")
    width = usual_width([cells for _, _, cells in rows])
    comment = comment_mark(rows, width, dialect)
    first = 0 if skip_lines is not None else preamble_length(rows, width, comment)
    start, end, cells = rows[first]
    below = [row for _, _, row in rows[first + 1 :] if len(row) == width or not is_comment(row, comment)]
    if header is None:
        header = has_header(cells, list(islice((row for row in below if len(row) >= len(cells)), ROWS_THAT_VOTE)))
    if header:
        cells = [*cells, *[""] * unnamed(len(cells), below)]
        return Frame(tuple(cells), len(cells), start, end, True, comment)
    return Frame((), widest([cells, *below]), start, start, False, comment)


def first_rows(text: str, dialect: Dialect, skip: int) -> list[NumberedRow]:
    lines = list(islice(io.StringIO(text, newline=""), skip + LINES_LOOKED_AT))[skip:]
    rows = islice(dialect.numbered_rows(lines), ROWS_LOOKED_AT)
    return [(skip + start, skip + end, cells) for start, end, cells in rows]


def unnamed(width: int, below: Sequence[list[str]]) -> int:
    """How many columns the header fails to name: those that every one of many rows has and fills.

    A few longer rows are ragged, and lose what is beyond the header; a whole column must not be lost.
    """
    widths = {len(row) for row in below}
    if len(below) < ROWS_FOR_A_COLUMN or len(widths) > 1 or min(widths) <= width:
        return 0
    return min(widths) - width if any(cell.strip() for row in below for cell in row[width:]) else 0


def usual_width(rows: Sequence[list[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def widest(rows: Sequence[list[str]]) -> int:
    """The widest row that is no accident: with no header to say it, every cell of a usual row has a place."""
    usual = usual_width(rows)
    return max(len(row) for row in rows if len(row) <= 2 * usual)


def comment_mark(rows: Sequence[NumberedRow], width: int, dialect: Dialect) -> str:
    """A mark that begins rows which do not fit the table, wherever they stand."""
    for mark in COMMENT_MARKS:
        if mark != dialect.delimiter and any(len(cells) != width and is_comment(cells, mark) for _, _, cells in rows):
            return mark
    return ""


def is_comment(cells: Sequence[str], mark: str) -> bool:
    """Whether a row starts with the mark and says something: a column may be called `#`."""
    start = cells[0].strip()
    return bool(mark) and start.startswith(mark) and start != mark


def preamble_length(rows: Sequence[NumberedRow], width: int, comment: str) -> int:
    """How many of the first rows are titles, sources and comments: much narrower than the table that follows.

    Spreadsheets pad titles with empty cells to the table's width; such rows count by what is filled, provided that a
    fuller row follows.
    """
    for index, (_, _, cells) in enumerate(rows):
        if len(cells) != width and is_comment(cells, comment):
            continue
        if width > 1 and len(cells) <= width / 2:
            continue
        return index + padded_titles([cells for _, _, cells in rows[index:]])
    return 0


def padded_titles(rows: Sequence[list[str]]) -> int:
    """How many rows at the top are padded titles, and blank rows after them, above a row that fills its cells."""
    if not is_padded_title(rows[0]):
        return 0
    for index, cells in enumerate(rows):
        if filled(cells) and not is_padded_title(cells):
            return index if filled(cells) > len(cells) / 2 else 0
    return 0


def is_padded_title(cells: Sequence[str]) -> bool:
    return len(cells) > 2 and bool(cells[0].strip()) and filled(cells) == 1


def filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


TAIL_BYTES = 1 << 14
NOTE = re.compile(
    r"\W{0,2}((sources?|notes?|footnotes?|see|last updated|updated|generated)\b|\(?\d\)|[*†‡©])",
    re.IGNORECASE,
)
MANY_WORDS = 8


def without_footer(block: bytes, layout: Layout) -> bytes:
    """`block`, the end of a file's text, without the notes after its last data row.

    Notes are rows much narrower than the table. A blank line before them is proof enough; without one they must also
    read like notes, because a data row may have lost its last cells.
    """
    width = len(layout.columns)
    cut, blank = len(block), f" \t{layout.delimiter}{layout.quote}"
    all_notes = separated = True
    for start, text in lines_from_end(block) if width > 1 else ():
        if not text.strip(blank) and not is_cell_end(text, layout):
            separated = True
            cut = start if cut < len(block) else cut
            continue
        note = reads_like_note(text)
        if not is_narrow(text, layout, width) or (separated and cut < len(block) and not note):
            return block[:cut] if separated or all_notes else block
        cut, all_notes, separated = start, all_notes and note, False
    return block  # no row of the table in sight: this is no footer but something else


def lines_from_end(block: bytes) -> Iterator[tuple[int, str]]:
    """(where it starts, text) of the block's lines, the last first, as far back as footnotes may reach."""
    end = len(block)
    limit = max(0, end - TAIL_BYTES)
    while end > limit:
        inner = end - 2 if block[end - 2 : end] == b"\r\n" else end - 1 if block[end - 1] in b"\r\n" else end
        start = max(block.rfind(b"\n", limit, inner), block.rfind(b"\r", limit, inner)) + 1
        if start == 0 and limit:
            return
        yield start, block[start:inner].decode("utf-8", errors="replace")
        end = start


def is_narrow(text: str, layout: Layout, width: int) -> bool:
    if is_cell_end(text, layout):
        return False
    dialect = Dialect(layout.delimiter, layout.quote, layout.escape, layout.skip_space)
    cells = next(iter(dialect.rows(text)), [])
    filled = sum(bool(cell.strip()) for cell in cells)
    if not cells or not cells[0].strip():
        return False
    return filled <= width / 2 if len(cells) < width else filled == 1 and width > 2 and bool(NOTE.match(text))


def is_cell_end(text: str, layout: Layout) -> bool:
    """Whether a line may close a quoted cell of several lines: going up, that is where the data begins."""
    if not layout.quote:
        return False
    if layout.escape:
        text = text.replace(layout.escape + layout.quote, "")
    return text.count(layout.quote) % 2 == 1


def reads_like_note(text: str) -> bool:
    return bool(NOTE.match(text)) or len(text.split()) >= MANY_WORDS
