"""Tables as lines of plain text, for the command line and for Python's prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.cells import cell_len, set_cell_size

_GAP = 2


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numbers: Sequence[str] = (),
    loose: Mapping[str, int] = MappingProxyType({}),
    width: int = 120,
) -> list[str]:
    """The headings and a line for each row; columns in `numbers` stand to the right.

    Where `width` is too little, the columns in `loose` give way, down to the width given there.
    """
    cells = [[one_line(value) for value in row] for row in rows]
    content = [max(map(cell_len, column)) for column in zip(headings, *cells, strict=True)]
    least = [min(wide, loose.get(heading, wide)) for heading, wide in zip(headings, content, strict=True)]
    widths = _fit(content, least, width - _GAP * (len(content) - 1))
    lines = []
    for row in [headings, *cells]:
        parts = (
            _place(_shorten(text, room, from_left=heading == "table"), room, heading in numbers)
            for text, room, heading in zip(row, widths, headings, strict=True)
        )
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def one_line(value: Any) -> str:
    """A value for a cell: whole numbers with separators, and nothing that could move the cursor."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return "".join(character if character.isprintable() else "�" for character in text)


def _fit(content: list[int], least: list[int], room: int) -> list[int]:
    """A width for each column: all get their least, and the first take what they need of the rest."""
    widths, rest = [], room - sum(least)
    for wanted, given in zip(content, least, strict=True):
        more = max(0, min(wanted - given, rest))
        widths.append(given + more)
        rest -= more
    return widths


def _shorten(text: str, width: int, from_left: bool) -> str:
    """Of a path the end says most, of other text the beginning."""
    if cell_len(text) <= width:
        return text
    return "…" + text[1 - width :] if from_left else set_cell_size(text, width - 1) + "…"


def _place(text: str, width: int, right: bool) -> str:
    blank = " " * (width - cell_len(text))
    return blank + text if right else text + blank
