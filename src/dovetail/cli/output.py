"""How answers are printed: `--json` for programs, plain tables for people."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import click
from rich.cells import cell_len, set_cell_size

Command = TypeVar("Command", bound=Callable[..., Any])

json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with stable keys (docs/reference/json.md)."
)
_GAP = 2


def print_json(answer: Any) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False, indent=2))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numbers: Sequence[str] = (),
    loose: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """A table as wide as the terminal; columns in `numbers` stand to the right.

    Where the terminal is too narrow, the columns in `loose` give way, down to the width given there.
    """
    cells = [[one_line(value) for value in row] for row in rows]
    content = [max(map(cell_len, column)) for column in zip(headings, *cells, strict=True)]
    least = [min(width, loose.get(heading, width)) for heading, width in zip(headings, content, strict=True)]
    widths = _fit(content, least, _page_width() - _GAP * (len(content) - 1))
    for number, row in enumerate([headings, *cells]):
        parts = (
            _place(_shorten(text, width, from_left=heading == "table"), width, heading in numbers)
            for text, width, heading in zip(row, widths, headings, strict=True)
        )
        line = (" " * _GAP).join(parts).rstrip()
        click.echo(line if number else click.style(line, bold=True))


def _page_width() -> int:
    """Without a terminal nothing is shortened: another program may read it."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


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


def wider(pattern: str, finds: Callable[[str], object]) -> str:
    """A hint at the glob that was probably meant, where a wider one finds something."""
    for glob in (f"{pattern.rstrip('/')}/*", f"*{pattern}*"):
        if finds(glob):
            return f" Try '{glob}'."
    return ""


def one_line(value: Any) -> str:
    """A value for a cell: whole numbers with separators, and nothing that could move the cursor."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return "".join(character if character.isprintable() else "�" for character in text)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def size(number: float) -> str:
    """Bytes as a person says them."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
