"""Footnotes after the data: found from the end of the text, so that a stream needs to hold back only its tail."""

from __future__ import annotations

import re

from dovetail.lake.layout import Layout
from dovetail.lake.sniff import Dialect

TAIL_BYTES = 1 << 14
NEW_LINE = re.compile(rb"\r\n|\n|\r")
NOTE = re.compile(r"\W{0,2}((sources?|notes?|footnotes?|see|last updated|updated|generated)\b|\(?\d\)|[*†‡©])", re.IGNORECASE)
MANY_WORDS = 4


def without_footer(block: bytes, layout: Layout) -> bytes:
    """`block`, the end of a file's text, without the notes after its last data row.

    Notes are rows much narrower than the table. A blank line before them is proof enough; without one they must also
    read like notes, because a data row may have lost its last cells.
    """
    width = len(layout.columns)
    if width < 2:
        return block
    offset = max(0, len(block) - TAIL_BYTES)
    lines = tail_lines(block, offset)
    first_note, blank_above, all_notes = len(lines), False, True
    for index in range(len(lines) - 1, -1, -1):
        text = lines[index][1]
        if not text.strip():
            blank_above = first_note < len(lines)
            continue
        if not is_narrow(text, layout, width):
            break
        if blank_above:  # what stands above the blank line is another paragraph of notes, or data
            all_notes = all_notes and reads_like_note(text)
            if not reads_like_note(text):
                break
        first_note, blank_above = index, False
        all_notes = all_notes and reads_like_note(text)
    else:
        return block  # no row of the table in sight: not a footer but something else
    if first_note == len(lines) or not (blank_above or all_notes):
        return block
    return block[: lines[first_note][0]]


def tail_lines(block: bytes, offset: int) -> list[tuple[int, str]]:
    """(where it starts, text) of each line after `offset`; a first line that is cut is left out."""
    lines, start = [], offset
    for found in NEW_LINE.finditer(block, offset):
        lines.append((start, block[start : found.start()].decode("utf-8", errors="replace")))
        start = found.end()
    if start < len(block):
        lines.append((start, block[start:].decode("utf-8", errors="replace")))
    return lines[1:] if offset else lines


def is_narrow(text: str, layout: Layout, width: int) -> bool:
    quote = layout.quote
    if quote and text.count(quote) % 2:
        return False  # perhaps the end of a quoted cell of several lines
    dialect = Dialect(layout.delimiter, quote, layout.escape, layout.skip_space)
    cells = next(iter(dialect.rows(text)), [])
    filled = sum(bool(cell.strip()) for cell in cells)
    return 0 < filled <= width / 2 and bool(cells[0].strip()) and len(cells) < width


def reads_like_note(text: str) -> bool:
    return bool(NOTE.match(text)) or len(text.split()) >= MANY_WORDS
