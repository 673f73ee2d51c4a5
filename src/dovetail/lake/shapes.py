"""What a cell looks like, coarsely: the evidence for dialects and for headers."""

from __future__ import annotations

import re
import string

NUMBER = re.compile(r"[-+]?[$€£]?\s?(\d+|\d{1,3}([,.' ]\d{3})+)?([.,]\d+)?([eE][-+]?\d+)?\s?%?$")
WHOLE = re.compile(r"[-+]?\d+$")
DATE = re.compile(r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}\S*)?$")
TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?$")
LINK = re.compile(r"(https?|ftp)://\S+$|[\w.+-]+@[\w-]+(\.[\w-]+)+$")

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
