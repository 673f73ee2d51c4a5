"""How answers are printed: `--json` for programs, plain tables for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

Command = TypeVar("Command", bound=Callable[..., Any])

json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with stable keys (docs/reference/json.md)."
)


def print_json(answer: Any) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False, indent=2))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], numbers: Sequence[str] = ()) -> None:
    """A table as wide as the terminal; columns named in `numbers` are set to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(one_line(value) for value in row))
    console = Console(highlight=False, markup=False)
    console.print(table) if console.is_terminal else Console(width=200, highlight=False, markup=False).print(table)


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
