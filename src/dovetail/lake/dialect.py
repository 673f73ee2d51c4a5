"""A dialect of delimited text: the characters that make it, what a user says of it, and how it is found in a sample.

`sniff` parses the sample in candidate dialects, and the one that makes the best table wins. Stock sniffers were
measured first (benchmarks/reading): clevercsv is right but slow, DuckDB's is wrong on four tables in ten. What tells a
delimiter is that rows get the same width under it, that the first row has that width too, and that cells do not hold
what delimiters leave behind (outer spaces, other delimiters).
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dovetail.errors import InputError
from dovetail.lake.header import shape_of

csv.field_size_limit(sys.maxsize)  # the module's own limit of 128 KB would refuse tables with long cells

NumberedRow = tuple[int, int, list[str]]
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|", "none": ""}
YES_NO = {"yes": True, "true": True, "no": False, "false": False}
PRIOR = {
    ",": 1.0,
    "\t": 1.0,
    ";": 0.97,
    "|": 0.97,
    "#": 0.9,
    "^": 0.8,
    "~": 0.8,
    "\x01": 1.0,
    "\x1f": 1.0,
    ":": 0.5,
    " ": 0.5,
}
"""How likely a character delimits at all, before the sample speaks."""
WITHIN_VALUES = " :"
"""Characters that values hold, too (`Maker A`, `12:30`): they delimit only if the first row has them."""
BY_SUFFIX = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
NAMED_BONUS = 1.3
STRONG = re.compile(r"[;|\t]")
NEVER = "\x1f"
SAMPLE_LINES = 100
SAMPLE_CHARACTERS = 1 << 14
CELLS_LOOKED_AT = 150
SEALED = 0.7
"""The least evenness where quotes stand on both sides of the delimiter in row after row: ragged, but no doubt."""
ENOUGH = 0.2
"""A score below this is no table of several columns."""


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


def sample_of(text: str) -> list[str]:
    """The first lines, at least one."""
    lines = []
    size = 0
    for line in islice(io.StringIO(text, newline=""), SAMPLE_LINES):
        lines.append(line)
        size += len(line)
        if size > SAMPLE_CHARACTERS:
            break
    return lines


def sniff(text: str, suffix: str = "", delimiters: str = "".join(PRIOR)) -> tuple[Dialect, float]:
    """The best dialect for `text` and its score: 0 where no delimiter makes a table, which then has one column."""
    lines = sample_of(text)
    sample = "".join(lines)
    best, best_score = Dialect(), 0.0
    for delimiter in delimiters:
        if delimiter not in sample:
            continue
        for dialect in variants(delimiter, sample):
            score = score_of(dialect, lines) * (NAMED_BONUS if BY_SUFFIX.get(suffix) == delimiter else 1.0)
            if score > best_score:
                best, best_score = dialect, score
    return (best, best_score) if best_score >= ENOUGH else (one_column(lines), 0.0)


def one_column(lines: list[str]) -> Dialect:
    """A comma, unless the one column's values hold commas: then a character that no text holds."""
    dialect = next(variants(",", "".join(lines)))
    if any(len(cells) > 1 for _, _, cells in dialect.numbered_rows(lines)):
        return replace(dialect, delimiter=NEVER)
    return dialect


def variants(delimiter: str, sample: str) -> Iterator[Dialect]:
    """The quoting styles worth trying with a delimiter, the likelier first: a tie keeps the first."""
    plain = Dialect(delimiter)
    quote = quote_of(delimiter, sample)
    if quote != '"':
        yield replace(plain, quote=quote)
        return
    if '\\"' in sample and re.search(r'\\"(?!\s*([\r\n]|$|' + re.escape(delimiter) + "))", sample):
        yield replace(plain, escape="\\")
    yield plain
    if (delimiter == " " and "  " in sample) or (delimiter != " " and delimiter + ' "' in sample):
        yield replace(plain, skip_space=True)


def quote_of(delimiter: str, sample: str) -> str:
    """A double quote unless the sample's double quotes are plainly no quoting, or single quotes plainly are."""
    edge = re.escape(delimiter)
    if '"' in sample:
        opens = len(re.findall(rf'(?:^|{edge}) ?"', sample, re.MULTILINE))
        closes = len(re.findall(rf'"(?=\s*?(?:{edge}|[\r\n]|\Z))', sample))
        return "" if opens > 2 and closes * 3 < opens else '"'
    if "'" in sample:
        quoted = len(re.findall(rf"(?:^|{edge})'[^'\r\n]*'(?={edge}|[\r\n]|\Z)", sample, re.MULTILINE))
        opens = len(re.findall(rf"(?:^|{edge})'", sample, re.MULTILINE))
        return "'" if quoted > 1 and quoted == opens else '"'
    return '"'


def score_of(dialect: Dialect, lines: list[str]) -> float:
    """Between 0 and about 1: evenness of widths × width × tidiness of cells × prior."""
    rows = [cells for _, _, cells in dialect.numbered_rows(lines)]
    if not rows:
        return 0.0
    widths = Counter(map(len, rows))
    widths[1] += sum(line.strip() == dialect.quote * 2 != "" for line in lines)  # an empty cell, not a blank line
    width, count = widths.most_common(1)[0]
    if width < 2 or (dialect.delimiter in WITHIN_VALUES and len(rows[0]) == 1):
        return 0.0
    even = count / widths.total()
    if sum(line.count(f'"{dialect.delimiter}"') for line in lines) >= len(rows):
        even = max(even, SEALED)
    first = 1.0 if len(rows[0]) == width else 0.9
    return PRIOR.get(dialect.delimiter, 1.0) * even * even * first * (1 - 1 / width) * tidiness(rows)


def tidiness(rows: list[list[str]]) -> float:
    """1 where no cell shows what a wrong dialect leaves: outer spaces, other delimiters, loose quotes."""
    cells = [cell for row in rows[:30] for cell in row[:30] if cell][:CELLS_LOOKED_AT]
    if not cells:
        return 0.5
    spaced = loose = mixed = 0
    for cell in cells:
        spaced += cell[0] == " " or cell[-1] == " "
        loose += cell.count('"') % 2 or "\n" in cell
        mixed += bool(STRONG.search(cell)) and shape_of(cell) == "text"
    return 1 - (0.3 * spaced + 0.5 * loose + 0.4 * mixed) / len(cells)
