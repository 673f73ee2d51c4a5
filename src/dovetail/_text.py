"""Answers as plain text: tables as lines, aligned for people or separated by tabs for programs; lists of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.cells import cell_len, set_cell_size

_GAP = 2
_LEAST = 6  # characters of a column that has to give way: enough to recognise a word


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numbers: Sequence[str] = (),
    loose: Mapping[str, int] = MappingProxyType({}),
    width: int = 120,
) -> list[str]:
    """The headings and a line for each row; columns in `numbers` are aligned to the right.

    Where `width` is too little, the columns in `loose` give way, down to the width given there; then all others.
    """
    cells = [[one_line(value) for value in row] for row in rows]
    content = [max(map(cell_len, column)) for column in zip(headings, *cells, strict=True)]
    least = [min(wide, loose.get(heading, wide)) for heading, wide in zip(headings, content, strict=True)]
    room = width - _GAP * (len(content) - 1)
    if sum(least) > room:
        least = _narrowed(least, room)
    widths = _fit(content, least, room)
    lines = []
    for row in [headings, *cells]:
        parts = (
            _aligned(_shortened(text, room, keep_end=heading.strip() == "table"), room, heading in numbers)
            for text, room, heading in zip(row, widths, headings, strict=True)
        )
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def tab_lines(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The same for programs: cells separated by tabs, nothing shortened, numbers without separators."""
    return ["\t".join(map(_cell, row)) for row in (headings, *rows)]


def one_line(value: Any) -> str:
    """A value for a cell: whole numbers with separators, and nothing that could move the cursor."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else _cell(value)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return plain(" ".join(str(value).split()))


def plain(text: str) -> str:
    """The text without what a terminal would obey: names come from other people's files. New lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


def _narrowed(widths: list[int], room: int) -> list[int]:
    """The widest columns give way first, to the same width each, but not below what lets a word be recognised."""
    for most in range(max(widths), _LEAST - 1, -1):
        found = [min(width, most) for width in widths]
        if sum(found) <= room:
            return found
    return [min(width, _LEAST) for width in widths]


def _fit(content: list[int], least: list[int], room: int) -> list[int]:
    """A width for each column: all get their least, and the first take what they need of the rest."""
    widths, rest = [], room - sum(least)
    for wanted, given in zip(content, least, strict=True):
        more = max(0, min(wanted - given, rest))
        widths.append(given + more)
        rest -= more
    return widths


def _shortened(text: str, width: int, keep_end: bool) -> str:
    """Of a path the end says most, of other text the beginning."""
    if cell_len(text) <= width:
        return text
    return "…" + text[1 - width :] if keep_end else set_cell_size(text, width - 1) + "…"


def _aligned(text: str, width: int, right: bool) -> str:
    blank = " " * (width - cell_len(text))
    return blank + text if right else text + blank


def first_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" (+{more})" if more > 0 else "")
