"""Footnotes after the data: found from the end of the text, so that a stream needs to hold back only its tail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dovetail.lake.layout import Layout
from dovetail.lake.sniff import Dialect

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
