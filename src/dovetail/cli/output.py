"""How answers are printed: `--json` for programs, plain tables for people."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import click

from dovetail._text import plain, tab_lines, table_lines
from dovetail.errors import InputError

_TERMINAL = re.compile("[\x7f-\x9f]")  # controls that JSON does not escape


class Explained(Protocol):
    """A hit of a search for tables to join or to append."""

    def explain(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...


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


def print_written(what: str, rows: int, output: Path, as_json: bool) -> None:
    """That an answer is in a file; `what` is its size in words."""
    if as_json:
        print_json({"rows": rows, "output": str(output)})
    else:
        echo(f"{what} written to {output}.")


def print_explanation(hits: Sequence[Explained], rank: int, as_json: bool) -> None:
    """What speaks for the hit with this rank."""
    if not 1 <= rank <= len(hits):
        raise InputError(f"There is no hit {rank}; the search found {len(hits)}.")
    hit = hits[rank - 1]
    if as_json:
        print_json({**hit.to_dict(), "explanation": hit.explain()})
    else:
        echo(hit.explain())


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
