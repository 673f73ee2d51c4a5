"""The dialect of delimited text: candidate dialects parse a sample, and the one that makes the best table wins.

Stock sniffers were measured first (benchmarks/reading): clevercsv is right but slow, DuckDB's is wrong on four tables
in ten. What tells a delimiter is that rows get the same width under it, that the first row has that width too, and that
cells do not hold what delimiters leave behind (outer spaces, other delimiters).
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from dovetail.lake.dialect import Dialect
from dovetail.lake.header import shape_of

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
    return PRIOR.get(dialect.delimiter, 1.0) * even * even * first * (1 - 1 / width) * tidiness(dialect, rows)


def tidiness(dialect: Dialect, rows: list[list[str]]) -> float:
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
