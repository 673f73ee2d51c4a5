"""Whether the first row names the columns, from what its cells look like beside those below."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

NUMBER = re.compile(r"[-+]?[$€£]?\s?(\d+|\d{1,3}([,.' ]\d{3})+)?([.,]\d+)?([eE][-+]?\d+)?\s?%?$")
WHOLE = re.compile(r"[-+]?\d+$")
DATE = re.compile(r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}\S*)?$")
TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?$")
LINK = re.compile(r"(https?|ftp)://\S+$|[\w.+-]+@[\w-]+(\.[\w-]+)+$")

COLUMNS_THAT_VOTE = 200
SAME = 0.8
"""The share of a column's cells that must agree before the column says anything about its header."""
PLAIN_WORD = re.compile(r"A?a*$")
TYPED = ("whole", "number", "date", "time", "link")
PATTERN_LENGTH = 24
CLASSES = str.maketrans(string.ascii_uppercase + string.ascii_lowercase + string.digits, "A" * 26 + "a" * 26 + "9" * 10)


def shape_of(cell: str) -> str:
    """`whole`, `number`, `date`, `time`, `link`, `code:<pattern>`, `text`, or nothing for a blank cell."""
    cell = cell.strip()
    if not cell:
        return ""
    if cell[0].isdigit() or cell[0] in "+-.$€£,":
        if WHOLE.match(cell):
            return "whole"
        if NUMBER.match(cell) and any(character.isdigit() for character in cell):
            return "number"
        if DATE.match(cell):
            return "date"
        if TIME.match(cell):
            return "time"
    if "/" in cell or "@" in cell:
        return "link" if LINK.match(cell) else "text"
    return "text"


def pattern_of(cell: str) -> str:
    """The cell with ASCII letters as `A` or `a` and digits as `9`: `de_DE` becomes `aa_AA`."""
    return cell.strip()[:PATTERN_LENGTH].translate(CLASSES)


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
