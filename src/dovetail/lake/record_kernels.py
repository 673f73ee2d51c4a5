"""Where the records of delimited text begin: the one state machine that splitting, streaming and mending share.

It follows the rules of Python's csv module (a quote opens only at the start of a field; a doubled or escaped quote
stays inside; what follows a closing quote belongs to the field) and adds one: a quoted field may run over several
lines only if it closes cleanly and the record has the table's width. Otherwise its quote was a stray: the record ends
with its first line, and is marked *literal*, that is, to be read with quotes as plain characters. So an unbalanced
quote costs one row, not the rest of the file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail._compile import compiled

Bytes = NDArray[np.uint8]
Rules = NDArray[np.int64]

LF, CR, SPACE = 10, 13, 32
MORE = -1
"""The record does not end within the bytes given."""


@compiled
def line_end(data: Bytes, start: int) -> int:
    """One past the new line that ends the physical line at `start`."""
    i = start
    while i < data.size:
        if data[i] == LF:
            return i + 1
        if data[i] == CR:
            return i + 2 if i + 1 < data.size and data[i + 1] == LF else i + 1
        i += 1
    return i


@compiled
def line_width(data: Bytes, start: int, end: int, delimiter: int) -> int:
    width = 1
    for i in range(start, end):
        width += data[i] == delimiter
    return width


@compiled
def close_of(data: Bytes, start: int, quote: int, escape: int) -> tuple[int, bool]:
    """Where the quoted field whose content begins at `start` closes (-1: nowhere), and whether it spans lines."""
    i, several = start, False
    while i < data.size:
        c = data[i]
        if c == escape:
            i += 1
        elif c == quote:
            if i + 1 >= data.size or data[i + 1] != quote:
                return i, several
            i += 1
        elif c in (LF, CR):
            several = True
        i += 1
    return -1, several


@compiled
def clean_after(data: Bytes, i: int, delimiter: int) -> bool:
    """Whether a delimiter, a new line or the end follows, perhaps after spaces."""
    while i < data.size and data[i] == SPACE and delimiter != SPACE:
        i += 1
    return i >= data.size or data[i] == delimiter or data[i] == LF or data[i] == CR


@compiled
def record_end(data: Bytes, start: int, rules: Rules, final: bool) -> tuple[int, bool]:
    """One past the record at `start`, and whether it is literal; (MORE, False) where more bytes are needed."""
    delimiter, quote, escape, columns, skip_space = rules[0], rules[1], rules[2], rules[3], rules[4]
    i, width, fresh, several = start, 1, True, False
    while i < data.size:
        c = data[i]
        if c == quote and fresh:
            close, spans = close_of(data, i + 1, quote, escape)
            if not final and (close < 0 or close + 1 >= data.size):
                return MORE, False
            if close < 0 or (spans and not clean_after(data, close + 1, delimiter)):
                return line_end(data, start), True
            several = several or spans
            i, fresh = close + 1, False
            continue
        if c in (LF, CR):
            if c == CR and i + 1 >= data.size and not final:
                return MORE, False
            if several and width != columns:
                first = line_end(data, start)
                if line_width(data, start, first, delimiter) == columns:
                    return first, True
            return line_end(data, i), False
        if c == escape:
            i, fresh = i + 2, False
            continue
        if c == delimiter:
            width, fresh = width + 1, True
        elif not (c == SPACE and fresh and skip_space):
            fresh = False
        i += 1
    return (data.size, False) if final else (MORE, False)


@compiled
def record_starts(data: Bytes, rules: Rules, final: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The starts of all whole records and, last, one past the last of them; and which records are literal."""
    starts = np.empty(1024, dtype=np.int64)
    literal = np.empty(1024, dtype=np.bool_)
    count, i = 0, 0
    while i < data.size:
        end, stray = record_end(data, i, rules, final)
        if end == MORE:
            break
        if count + 1 >= starts.size:
            starts = np.concatenate((starts, np.empty_like(starts)))
            literal = np.concatenate((literal, np.empty_like(literal)))
        starts[count], literal[count] = i, stray
        count, i = count + 1, end
    starts[count] = i
    return starts[: count + 1], literal[:count]


@compiled
def last_boundary(data: Bytes, rules: Rules) -> tuple[int, bool]:
    """One past the last whole record in `data`, which may end inside one, and whether any record is literal."""
    i, strays = 0, False
    while i < data.size:
        end, stray = record_end(data, i, rules, False)
        if end == MORE:
            break
        i, strays = end, strays or stray
    return i, strays


@compiled
def boundary_from(data: Bytes, start: int, target: int, rules: Rules) -> int:
    """The first start of a record at or after `target`, walking from the record at `start`."""
    i = start
    while i < target and i < data.size:
        i, _ = record_end(data, i, rules, True)
    return i
