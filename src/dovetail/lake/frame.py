"""The frame of a table inside its text: what stands before the header, whether there is a header, how wide the table is."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from dovetail.lake.shapes import pattern_of, shape_of
from dovetail.lake.sniff import Dialect

SEP_HINT = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE)
COMMENT_MARKS = ("#", "%", "//")
ROWS_LOOKED_AT = 100
SAME = 0.8
"""The share of a column's cells that must agree before the column says anything about its header."""
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
    rows = numbered_rows(text, dialect, skip_lines or 0)
    if not rows:
        return Frame((), 0, skip_lines or 0, skip_lines or 0, True, "")
    width = usual_width([cells for _, _, cells in rows])
    comment = comment_mark(rows, width, dialect)
    first = 0 if skip_lines is not None else preamble_length(rows, width, comment)
    start, end, cells = rows[first]
    below = [row for _, _, row in rows[first + 1 :] if not (comment and row[0].startswith(comment) and len(row) != width)]
    if header is None:
        header = has_header(cells, [row for row in below if len(row) >= len(cells)][:ROWS_LOOKED_AT])
    if header:
        return Frame(tuple(cells), len(cells), start, end, True, comment)
    return Frame((), widest([cells, *below]), start, start, False, comment)


NumberedRow = tuple[int, int, list[str]]


def numbered_rows(text: str, dialect: Dialect, skip: int) -> list[NumberedRow]:
    """(first line, one past the last line, cells) of each row that is not blank."""
    lines = io.StringIO(text, newline="")
    skipped = sum(len(line) for line in islice(lines, skip))
    reader = dialect.rows(text[skipped:])
    rows, start = [], skip
    for cells in islice(reader, ROWS_LOOKED_AT):
        end = skip + reader.line_num  # type: ignore[attr-defined]
        if any(cell.strip() for cell in cells):
            rows.append((start, end, cells))
        start = end
    return rows


def usual_width(rows: Sequence[list[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def widest(rows: Sequence[list[str]]) -> int:
    """The widest row that is no accident: with no header to say it, every cell of a usual row has a place."""
    usual = usual_width(rows)
    return max(len(row) for row in rows if len(row) <= 2 * usual)


def comment_mark(rows: Sequence[NumberedRow], width: int, dialect: Dialect) -> str:
    """A mark that begins rows which do not fit the table, wherever they stand."""
    for mark in COMMENT_MARKS:
        if mark != dialect.delimiter and any(
            cells[0].lstrip().startswith(mark) and len(cells) != width for _, _, cells in rows
        ):
            return mark
    return ""


def preamble_length(rows: Sequence[NumberedRow], width: int, comment: str) -> int:
    """How many of the first rows are titles, sources and comments: much narrower than the table that follows."""
    for index, (_, _, cells) in enumerate(rows):
        filled = len(cells) if cells[-1] else sum(map(bool, cells))
        if len(cells) != width and comment and cells[0].startswith(comment):
            continue
        if width > 1 and filled <= width / 2 and len(cells) < width:
            continue
        return index
    return 0


def has_header(first: Sequence[str], below: Sequence[list[str]]) -> bool:
    """Whether the first row names the columns. Each column whose cells agree in kind votes; a tie means yes.

    A first cell of the column's own kind speaks for data, another kind for a name. Numbers that count up (years, column
    numbers) are names.
    """
    if not below:
        return True
    labels = counts_up(first)
    names = data = 0
    for position, cell in enumerate(first):
        if not cell.strip():
            continue
        verdict = fits(cell, [row[position] for row in below if row[position].strip()])
        if verdict is None:
            continue
        if verdict and not (labels and shape_of(cell) == "whole"):
            data += 1
        else:
            names += 1
    return names >= data


def counts_up(cells: Sequence[str]) -> bool:
    """Whether the whole numbers among the cells rise evenly: 1960, 1961, 1962 … or 0, 1, 2."""
    numbers = [int(cell) for cell in cells if shape_of(cell) == "whole"]
    steps = {after - before for before, after in zip(numbers, numbers[1:], strict=False)}
    return len(numbers) > 1 and len(steps) == 1 and steps != {0}


def fits(cell: str, column: Sequence[str]) -> bool | None:
    """Whether a cell is of the kind that a column's cells agree on; None where they do not agree on any."""
    if not column:
        return None
    shapes = Counter(map(shape_of, column))
    usual, count = shapes.most_common(1)[0]
    numbers = shapes["whole"] + shapes["number"]
    if numbers >= SAME * len(column):
        shape = shape_of(cell)
        return shape in ("whole", "number") and (shape == usual or shapes[shape] * 10 >= len(column))
    if count < SAME * len(column):
        return None
    if usual in TYPED:
        return shape_of(cell) == usual
    return fits_pattern(cell, column)


def fits_pattern(cell: str, column: Sequence[str]) -> bool | None:
    """For columns of codes alike (`AF`, `de_DE`, `A-17`): at least three, all of one pattern, none of plain small letters."""
    patterns = Counter(map(pattern_of, column))
    usual, count = patterns.most_common(1)[0]
    if len(column) < 3 or count < 0.95 * len(column) or set(usual) <= {"a"}:
        return None
    return pattern_of(cell) == usual
