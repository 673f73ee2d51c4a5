"""How answers are printed: `--json` for programs, plain tables for people."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from dovetail._text import plain, tab_lines, table_lines

_TERMINAL = re.compile("[\x7f-\x9f]")  # controls that JSON does not escape


def echo(text: str = "", err: bool = False) -> None:
    """Print lines for people."""
    click.echo(plain(text), err=err)


def print_json(answer: Any, indent: int | None = 2) -> None:
    written = json.dumps(answer, ensure_ascii=False, indent=indent)
    click.echo(_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", written))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numbers: Sequence[str] = (),
    loose: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """A table as wide as the terminal; without a terminal, tabs between the cells: another program may read it."""
    if not sys.stdout.isatty():
        click.echo("\n".join(tab_lines(headings, rows)))
        return
    lines = table_lines(headings, rows, numbers, loose, shutil.get_terminal_size().columns)
    click.echo(click.style(lines[0], bold=True))
    for line in lines[1:]:
        click.echo(line)


def distinct(values: int, exact: bool) -> str:
    """The number of the lake's distinct values; an estimate says that it is one."""
    return ("" if exact else "about ") + count(values, "distinct value")


def note(text: str) -> None:
    """A line beside a table: on the error stream where the table goes to another program."""
    echo(text, err=not sys.stdout.isatty())


def wider(pattern: str, finds: Callable[[str], object]) -> str:
    """A hint at the glob that was probably meant, where a wider one finds something."""
    for glob in (f"{pattern.rstrip('/')}/*", f"*{pattern}*"):
        if finds(glob):
            return f" Try '{glob}'."
    return ""


def count(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun; `plural` where an s is not enough."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: float) -> str:
    """Bytes as a person says them."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
