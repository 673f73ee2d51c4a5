"""Whether the first row names the columns, from what its cells look like beside those below."""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from operator import eq, itemgetter

NUMBER = re.compile(r"[-+]?[$€£]?\s?(\d+|\d{1,3}([,.' ]\d{3})+)?([.,]\d+)?([eE][-+]?\d+)?\s?%?$")
DECIMAL = re.compile(r"-?\d+\.\d+$")  # the usual number
WHOLE = re.compile(r"[-+]?\d+$")
DATE = re.compile(r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}\S*)?$")
TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?$")
LINK = re.compile(r"(https?|ftp)://\S+$|[\w.+-]+@[\w-]+(\.[\w-]+)+$")

COLUMNS_THAT_VOTE = 200
SAME = 0.8
"""The share of a column's cells that must agree before the column says anything about its header, and of the first
row's cells that a row must have to be the header again."""
PLAIN_WORD = re.compile(r"A?a*$")
TYPED = ("whole", "number", "date", "time", "link")
PATTERN_LENGTH = 24
RUN = re.compile(r"(.)\1+")
WORD = re.compile(r"[^\W\d_]+")
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*([_.][a-z0-9]+)*|[a-z]+([A-Z][a-z0-9]*)+")
MOSTLY = 0.9
SEVERAL = 2.0
"""So many columns that show the same give half of its weight: a hundred columns are not fifty times the evidence."""
LONG_CELL = 60
ROWS_IN_ORDER = 5
"""Fewer distinct values are in order by chance: four in either order, once in twelve."""

# fmt: off
NAME_WORDS = frozenset((
    "age", "area", "artist", "attendance", "avg", "away", "birth", "capacity", "category", "change", "code",
    "col", "count", "country", "date", "deaths", "density", "description", "distance", "event", "fips",
    "fourth", "frequency", "game", "gdp", "gender", "grade", "height", "home", "hometown", "id", "income",
    "index", "iso", "label", "language", "lat", "leg", "length", "location", "losses", "manufacturer", "margin",
    "model", "money", "month", "name", "nation", "notes", "num", "number", "outcome", "parent", "pct",
    "percent", "percentage", "place", "player", "points", "pop", "population", "pos", "position", "price",
    "production", "province", "quarter", "rank", "rate", "rating", "record", "region", "release", "result",
    "role", "score", "season", "seed", "sex", "share", "site", "size", "source", "speed", "start", "status",
    "team", "third", "tie", "time", "title", "total", "type", "value", "venue", "votes", "week", "weight",
    "wins", "year",
))
# fmt: on
"""Words that many headers have and few values: in 4 of 1,000 tables of the first half, in ten times as many headers as
first rows, and in tables of five sources at least."""

WEIGHTS = {
    "of their kind": -8.0,
    "of another kind": 4.5,
    "values that occur below": -3.5,
    "usual patterns": -2.0,
    "words that occur below": -2.0,
    "words that do not": 3.5,
    "no digits above digits": 2.5,
    "their order": -1.5,
    "repeated cells": -1.5,
    "words of names": 4.5,
    "identifiers": 1.5,
    "unnamed columns": 5.5,
    "long cells": -6.0,
}
"""How much each kind of evidence speaks for a header, as log-odds.

Fitted by logistic regression on one half of 15,499 tables, each with its first row, with a name in it repeated, and
without it, and rounded to halves (`benchmarks/reading/headers.py`, which also reports the errors on the other half).
"""
PRIOR = 2.0
"""Far more tables have a header than not. Of the multiples of 0.5, the largest that keeps the first row of a short list
of countries; it loses one header in 1,000 of the first half (`benchmarks/reading/README.md` has the other rates)."""
PER_COLUMN = tuple(WEIGHTS)[:7]
CLASSES = str.maketrans(string.ascii_uppercase + string.ascii_lowercase + string.digits, "A" * 26 + "a" * 26 + "9" * 10)


def shape_of(cell: str) -> str:
    """`whole`, `number`, `date`, `time`, `link`, `text`, or nothing for a blank cell."""
    cell = cell.strip()
    if not cell:
        return ""
    if cell.isdecimal():
        return "whole"
    if not cell[0].isalpha() and (cell[0].isdigit() or cell[0] in "+-.$€£,"):
        if DECIMAL.match(cell):
            return "number"
        if WHOLE.match(cell):
            return "whole"
        if NUMBER.match(cell) and has_digits(cell):
            return "number"
        if DATE.match(cell):
            return "date"
        if TIME.match(cell):
            return "time"
    if "/" in cell or "@" in cell:
        return "link" if LINK.match(cell) else "text"
    return "text"


def shapes_of(column: Sequence[str]) -> Counter[str]:
    """How many cells have which shape. Columns of whole numbers or of words, which most are, show it all at once."""
    if all(map(str.isdecimal, column)):
        return Counter(whole=len(column))
    together = "".join(column)
    if "/" not in together and "@" not in together and all(map(str.isalpha, map(itemgetter(0), column))):
        return Counter(text=len(column))
    return Counter(map(shape_of, column))


def pattern_of(cell: str) -> str:
    """The cell with ASCII letters as `A` or `a` and digits as `9`: `de_DE` becomes `aa_AA`."""
    return cell[:PATTERN_LENGTH].translate(CLASSES)


def patterns_of(column: Sequence[str]) -> list[str]:
    """The same for all cells of a column at once."""
    together = "\n".join([cell[:PATTERN_LENGTH] for cell in column])
    patterns = together.translate(CLASSES).split("\n")
    return patterns if len(patterns) == len(column) else list(map(pattern_of, column))


def has_header(first: Sequence[str], below: Sequence[list[str]]) -> bool:
    """Whether the first row names the columns, rather than being data like the rows below."""
    if not below:
        return True
    found = header_evidence(first, below)
    return PRIOR + sum(WEIGHTS[name] * value for name, value in found.items()) > 0


def header_evidence(first: Sequence[str], below: Sequence[list[str]]) -> dict[str, float]:
    """What the first row shows, beside those below, each between -1 and 1; `WEIGHTS` says what each speaks for."""
    cells = list(map(str.strip, first[:COLUMNS_THAT_VOTE]))
    rows = [list(map(str.strip, row[: len(cells)])) for row in below]
    cells, rows = without_flags(cells, rows)
    rows = without_repeated(cells, rows) or rows
    columns = [list(filter(None, column)) for column in zip(*rows, strict=True)]
    labels = are_labels(cells)
    sums = dict.fromkeys(PER_COLUMN, 0.0)
    for cell, column in zip(cells, columns, strict=True):
        if cell and column:
            kind = -1.0 if labels and shape_of(cell) == "whole" else fits(cell, column)
            if kind:
                sums["of their kind" if kind > 0 else "of another kind"] += abs(kind)
            else:
                for name, value in text_evidence(cell, column).items():
                    sums[name] += value
    order = sum(order_evidence(cell, column) for cell, column in zip(cells, columns, strict=True) if cell and column)
    unnamed = sum(not cell and bool(column) for cell, column in zip(cells, columns, strict=True))
    repeating = sum(map(has_repeats, rows)) / len(rows)
    usual_lengths = [len(cell) for cell, column in zip(cells, columns, strict=True) if is_as_long(column, cell)]
    return {name: sums[name] / (SEVERAL + abs(sums[name])) for name in PER_COLUMN} | {
        "their order": max(-1.0, min(order, 1.0)),
        "repeated cells": repeating if has_repeats(cells) else -repeating,
        "words of names": sum(bool(words_of(cell) & NAME_WORDS) for cell in cells) / len(cells),
        "identifiers": sum(IDENTIFIER.fullmatch(cell) is not None for cell in cells) / len(cells),
        "unnamed columns": unnamed / len(cells),
        "long cells": min(max(usual_lengths, default=0), LONG_CELL) / LONG_CELL,
    }


def without_flags(cells: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Without columns that hold their own name or nothing, such as `OECD` in a list of countries: flags, no values."""
    columns = zip(*rows, strict=True)
    kept = [place for place, (cell, column) in enumerate(zip(cells, columns, strict=True)) if set(column) != {cell, ""}]
    if not kept or len(kept) == len(cells):
        return cells, rows
    return [cells[place] for place in kept], [[row[place] for place in kept] for row in rows]


def without_repeated(cells: Sequence[str], rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows without those that have most of the first row's cells: a header printed again, no values."""
    filled = [place for place, cell in enumerate(cells) if cell]
    if len(filled) < 2:
        return list(rows)
    header = [cells[place] for place in filled]
    pick = itemgetter(*filled)
    return [row for row in rows if sum(map(eq, header, pick(row))) < SAME * len(filled)]


def has_repeats(row: Sequence[str]) -> bool:
    """Whether a text occurs twice; numbers do so by chance."""
    if len(set(row)) == len(row):
        return False
    return any(count > 1 and shape_of(cell) == "text" for cell, count in Counter(row).items())


def is_as_long(column: Sequence[str], cell: str) -> bool:
    """Whether the column has a value at least as long as the cell: a long cell above shorter ones is a long name."""
    return len(cell) <= max(map(len, column), default=0)


def text_evidence(cell: str, column: Sequence[str]) -> dict[str, float]:
    """Of a column of text without a common pattern: whether its values look like the cell above, and share words.

    How much it means that the cell shares nothing with the values depends on how much these share with each other.
    """
    outlines = Counter(map(without_runs, patterns_of(column)))
    shared_outlines = sum(count for count in outlines.values() if count > 1) / len(column)
    word_sets = [words_of(value) for value in column]
    counts = Counter(chain.from_iterable(word_sets))
    shared = {word for word, count in counts.items() if count > 1}
    shared_words = [len(words & shared) / len(words) for words in word_sets if words]
    usual = sum(shared_words) / len(shared_words) if shared_words else 0.0
    words = words_of(cell)
    known = sum(word in counts for word in words) / len(words) if words else usual
    return {
        "values that occur below": float(cell in column),
        "usual patterns": 1.0 if outline_of(cell) in outlines else -shared_outlines,
        "words that occur below": known,
        "words that do not": max(0.0, usual - known),
        "no digits above digits": float(not has_digits(cell) and sum(map(has_digits, column)) > MOSTLY * len(column)),
    }


def has_digits(text: str) -> bool:
    return any(map(str.isdigit, text))


def order_evidence(cell: str, column: Sequence[str]) -> float:
    """Of text in alphabetical order, either way: 1 where the cell continues the order upwards, -1 where not."""
    if shape_of(cell) != "text" or shape_of(column[0]) != "text":
        return 0.0
    for rows in (column[:ROWS_IN_ORDER], column):  # few columns are in order: most show it in the first rows
        values = list(map(sort_key, rows))
        rising = values == sorted(values)
        if not (rising or values == sorted(values, reverse=True)):
            return 0.0
    if len(set(values)) < ROWS_IN_ORDER:
        return 0.0
    first = sort_key(cell)
    return 1.0 if (first <= values[0] if rising else first >= values[0]) else -1.0


def sort_key(text: str) -> str:
    """Lower case without accents, as lists are sorted: `Åland` comes before `Brazil`."""
    text = text.lower()
    if text.isascii():
        return text
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))


def words_of(cell: str) -> set[str]:
    return set(WORD.findall(cell.lower()))


def outline_of(cell: str) -> str:
    """The pattern of a cell with every run as one character: `New York` becomes `Aa Aa`."""
    return without_runs(pattern_of(cell))


@functools.lru_cache(10_000)  # arbitrary: patterns are short, and tables have the same ones again and again
def without_runs(pattern: str) -> str:
    return RUN.sub(lambda run: run[1], pattern)


def are_labels(cells: Sequence[str]) -> bool:
    """Whether the whole numbers among the cells count (0, 1, 2 …) or are years in order: names, though numbers."""
    numbers = [int(cell) for cell in cells if shape_of(cell) == "whole"]
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) < 2 or 0 in steps:
        return False
    ordered = min(steps) > 0 or max(steps) < 0
    return len(steps) == 1 or (ordered and all(1500 <= number <= 2100 for number in numbers))


def fits(cell: str, column: Sequence[str]) -> float:
    """From 1 (of the kind that the column's cells agree on) to -1 (of another kind); 0 where they agree on none."""
    if not column:
        return 0.0
    shapes = shapes_of(column)
    usual, count = shapes.most_common(1)[0]
    shape = shape_of(cell)
    if shapes["whole"] + shapes["number"] >= SAME * len(column):
        return 1.0 if shape in ("whole", "number") and (shape == usual or shapes[shape] * 10 >= len(column)) else -1.0
    if count < SAME * len(column):
        return 0.0
    if usual in TYPED:
        return 1.0 if shape == usual else -1.0
    return fits_pattern(cell, column) if len(column) > 2 else 0.0


def fits_pattern(cell: str, column: Sequence[str]) -> float:
    """For columns of codes alike (`AF`, `de_DE`, `A-17`), and for case: a small `name` above `Capital` values.

    Codes of letters only speak half as loud, because a name may look the same (`ID`, `ISO`).
    """
    patterns = Counter(patterns_of(column))
    usual, count = patterns.most_common(1)[0]
    if count >= 0.95 * len(column) and not PLAIN_WORD.match(usual):
        weight = 0.5 if set(usual) == {"A"} else 1.0
        return weight if pattern_of(cell) == usual else -1.0
    if not cell[0].islower():
        return 0.0
    return -1.0 if sum(value[0].isupper() for value in column) >= 0.95 * len(column) else 0.0
