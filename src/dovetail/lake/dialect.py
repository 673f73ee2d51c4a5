"""A dialect of delimited text: the characters that make it, and what a user says of it on the command line."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dovetail.errors import InputError

csv.field_size_limit(sys.maxsize)  # the module's own limit of 128 KB would refuse tables with long cells

NumberedRow = tuple[int, int, list[str]]


@dataclass(frozen=True)
class Dialect:
    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    skip_space: bool = False

    def reader(self, lines: Iterable[str], strict: bool = False) -> Any:
        """The csv module's reader of this dialect."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            skipinitialspace=self.skip_space,
            strict=strict,
        )

    def rows(self, text: str) -> Iterator[list[str]]:
        """The rows of `text`, blank lines as empty lists."""
        rows: Iterator[list[str]] = self.reader(io.StringIO(text, newline=""))
        return rows

    def numbered_rows(self, lines: list[str]) -> Iterator[NumberedRow]:
        """(first line, one past the last line, cells) of each record that is not blank.

        For samples: a record that does not end well is read again as one line, so that a stray quote at the top
        of a file does not hide the rest of it.
        """
        start = width = 0
        while start < len(lines):
            reader = self.reader(islice(lines, start, None), strict=True)
            first = start
            try:
                for cells in reader:
                    end = first + reader.line_num
                    if len(cells) > 1 or (cells and cells[0].strip()):
                        yield start, end, cells
                        width = width or len(cells)
                    start = end
            except csv.Error:
                cells = self.one_line(lines[start])
                if width and len(cells) != width and first + reader.line_num == len(lines):
                    return  # not a stray quote but a cell that goes on beyond the sample
                yield start, start + 1, cells
                start += 1

    def one_line(self, line: str) -> list[str]:
        """The cells of a line that has stray quotes: as csv takes them, or literally where one does not close."""
        cells: list[str] = next(self.reader([line]), [])
        if cells and cells[-1].endswith(("\n", "\r")):
            cells = line.rstrip("\r\n").split(self.delimiter)
        return cells


WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|", "none": ""}
YES_NO = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class DialectOverride:
    """Every field is optional: None leaves the question to the sniffer, an empty string means `there is none`."""

    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    comment: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_lines: int | None = None


def parse_override(text: str) -> DialectOverride:
    """`delimiter=;,header=no,encoding=cp1252` as an override. A comma as the value is written `comma`."""
    values: dict[str, str | bool | int] = {}
    for item in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = item.partition("=")
        if not sign or name not in PARSERS:
            raise InputError(
                f"dialect setting {item!r} is unknown; allowed are {', '.join(PARSERS)}, each as name=value"
            )
        values[name] = PARSERS[name](name, value)
    return DialectOverride(**values)  # type: ignore[arg-type]


def one_character(name: str, value: str) -> str:
    found = WORDS.get(value.lower(), value)
    if len(found) > 1 or not found.isascii() or found in ("\n", "\r") or (name == "delimiter" and not found):
        raise InputError(f"{name}={value} is not one ASCII character; write for instance {name}=; or {name}=tab")
    return found


def codec_name(name: str, value: str) -> str:
    try:
        return codecs.lookup(value).name
    except LookupError:
        raise InputError(f"{name}={value} is not a known encoding; write for instance {name}=cp1252") from None


def yes_or_no(name: str, value: str) -> bool:
    if value.lower() not in YES_NO:
        raise InputError(f"{name}={value} is not a choice; write {name}=yes or {name}=no")
    return YES_NO[value.lower()]


def line_count(name: str, value: str) -> int:
    if not value.isdecimal():
        raise InputError(f"{name}={value} is not a number of lines; write for instance {name}=2")
    return int(value)


PARSERS: dict[str, Callable[[str, str], str | bool | int]] = {
    "delimiter": one_character,
    "quote": one_character,
    "escape": one_character,
    "comment": one_character,
    "encoding": codec_name,
    "header": yes_or_no,
    "skip_lines": line_count,
}
