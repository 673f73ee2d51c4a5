"""The frame of a table inside its text: what stands before the header, whether there is one, and the width."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from dovetail.lake.shapes import pattern_of, shape_of
from dovetail.lake.sniff import Dialect, NumberedRow

SEP_HINT = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE)
COMMENT_MARKS = ("#", "%", "//")
ROWS_LOOKED_AT, LINES_LOOKED_AT = 100, 1000
ROWS_THAT_VOTE, COLUMNS_THAT_VOTE = 40, 200
ROWS_FOR_A_COLUMN = 10
SAME = 0.8
"""The share of a column's cells that must agree before the column says anything about its header."""
PLAIN_WORD = re.compile(r"A?a*$")
TYPED = ("whole", "number", "date", "time", "link")


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


def has_header(first: Sequence[str], below: Sequence[list[str]]) -> bool:
    """Whether the first row names the columns. Each column whose cells agree in kind votes; a tie means yes.

    A first cell of the column's own kind speaks for data, another kind for a name. Numbers that count up (years, column
    numbers) are names.
    """
    if not below:
        return True
    labels = are_labels(first)
    names = data = 0.0
    for position, cell in enumerate(first[:COLUMNS_THAT_VOTE]):
        if not cell.strip():
            continue
        verdict = fits(cell, [row[position] for row in below if row[position].strip()])
        if labels and shape_of(cell) == "whole":
            verdict = -1.0
        names -= min(verdict, 0.0)
        data += max(verdict, 0.0)
    return data < 1 or names >= data


def are_labels(cells: Sequence[str]) -> bool:
    """Whether the whole numbers among the cells count (0, 1, 2 …) or are years in order: names, though numbers."""
    numbers = [int(cell) for cell in cells if shape_of(cell) == "whole"]
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) < 2 or 0 in steps:
        return False
    ordered = min(steps) > 0 or max(steps) < 0
    return len(steps) == 1 or (ordered and all(1500 <= number <= 2100 for number in numbers))


def fits(cell: str, column: Sequence[str]) -> float:
    """From 1 (of the kind that the column's cells agree on) to -1 (of another kind); 0 where they agree on none."""
    if not column:
        return 0.0
    shapes = Counter(map(shape_of, column))
    usual, count = shapes.most_common(1)[0]
    shape = shape_of(cell)
    if shapes["whole"] + shapes["number"] >= SAME * len(column):
        return 1.0 if shape in ("whole", "number") and (shape == usual or shapes[shape] * 10 >= len(column)) else -1.0
    if count < SAME * len(column):
        return 0.0
    if usual in TYPED:
        return 1.0 if shape == usual else -1.0
    return fits_pattern(cell, column) if len(column) > 2 else 0.0


def fits_pattern(cell: str, column: Sequence[str]) -> float:
    """For columns of codes alike (`AF`, `de_DE`, `A-17`), and for case: a small `name` above `Capital` values.

    Codes of letters only speak half as loud, because a name may look the same (`ID`, `ISO`).
    """
    patterns = Counter(map(pattern_of, column))
    usual, count = patterns.most_common(1)[0]
    if count >= 0.95 * len(column) and not PLAIN_WORD.match(usual):
        weight = 0.5 if set(usual) == {"A"} else 1.0
        return weight if pattern_of(cell) == usual else -1.0
    capitals = sum(value.strip()[0].isupper() for value in column)
    return -1.0 if capitals >= 0.95 * len(column) and cell.strip()[0].islower() else 0.0
