"""Row pairs that are likely to join, by q-gram matches, grouped by pair of columns (section 4.4.1); and by dates."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.normalise import plain
from dovetail.transform.forms import DATE_PARTS, DatePart, date_names
from dovetail.transform.suffixes import SuffixArray, best_matches, suffix_array, whole_ranges

_LEAST_Q = 3
_COMBINED_ROWS = 200  # of the source, that are paired by all their columns together
_DATES = (
    200,
    2_000,
)  # source values and target values that are paired by the parts of dates; arbitrary, some milliseconds
_TOKENS = re.compile("[a-z]+|[0-9]+")
_MOST_SHARED = 4  # a q-gram in more target values than this pairs nothing by itself


@dataclass(frozen=True)
class Values:
    """The distinct values of a column, the first row of each, and their suffix array."""

    name: str
    texts: list[str]
    rows: list[int]
    suffixes: SuffixArray


@dataclass(frozen=True)
class RowPair:
    """A row of the source, one of the target, and the score 1/(n·m) of the q-gram that joins them."""

    source: int
    target: int
    score: float


@dataclass(frozen=True)
class ColumnMatch:
    """The likely pairs of one column of the source and one of the target, best first."""

    source: str
    target: str
    pairs: list[RowPair]
    weight: float  # how much of the values the q-grams explain, over all source values


def column_values(name: str, column: Sequence[str | None], rows: Sequence[int]) -> Values:
    """Of those rows."""
    first: dict[str, int] = {}
    for row in rows:
        text = column[row]
        if text:
            first.setdefault(text, row)
    texts = list(first)
    return Values(name, texts, list(first.values()), suffix_array([plain(text) for text in texts]))


def match(source: Values, target: Values) -> ColumnMatch:
    """The likely pairs of two columns. q is at least 3, or as long as the shortest value where that is shorter."""
    shortest = min(min(map(len, side.texts), default=_LEAST_Q) for side in (source, target))
    found = best_matches(source.suffixes, target.suffixes, min(_LEAST_Q, shortest))
    pairs: list[tuple[float, float, RowPair]] = []
    weight = 0.0
    for value in np.flatnonzero((found.q > 0) & (found.in_target <= _MOST_SHARED)):
        q, score = int(found.q[value]), 1.0 / float(found.in_source[value] * found.in_target[value])
        places = target.suffixes.order[found.first[value] : found.first[value] + found.in_target[value]]
        others = sorted({int(other) for other in target.suffixes.owner[places]})
        shorter = min(len(source.texts[value]), min(len(target.texts[other]) for other in others))
        weight += score * q / shorter
        pairs += [(score, q / shorter, RowPair(source.rows[value], target.rows[other], score)) for other in others]
    pairs.sort(key=lambda entry: (-entry[0], -entry[1], _scattered(entry[2])))
    return ColumnMatch(source.name, target.name, [pair for _, _, pair in pairs], weight)


def _scattered(pair: RowPair) -> tuple[int, int]:
    """An order that has nothing to do with that of the rows: in sorted tables, neighbours share too much."""
    return pair.source * 2_654_435_761 % (1 << 32), pair.target


def match_together(
    sources: Sequence[Values], columns: Mapping[str, Sequence[str | None]], rows: Sequence[int], target: Values
) -> ColumnMatch:
    """Pairs that no column gives alone: an hour, a minute or a second is in many times of day, all three in one.

    Whole cells are looked up in the target; the rarer there, the more they say. A row is paired with the target value
    for which its cells say most, where there is only one.
    """
    ranges = {}
    for source in sources:
        low, high = whole_ranges(source.suffixes, target.suffixes)
        ranges[source.name] = {text: (a, b) for text, a, b in zip(source.texts, low, high, strict=True) if a < b}
    pairs = []
    for row in rows[:: max(1, len(rows) // _COMBINED_ROWS)]:
        said = np.zeros(len(target.texts))
        for source in sources:
            low, high = ranges[source.name].get(columns[source.name][row] or "", (0, 0))
            found = np.unique(target.suffixes.owner[target.suffixes.order[low:high]])
            said[found] += math.log(1 + len(target.texts) / max(len(found), 1))
        best = np.flatnonzero(said >= said.max() - 1e-9)
        if len(best) == 1:
            pairs.append(RowPair(row, target.rows[int(best[0])], float(said.max())))
    pairs.sort(key=lambda pair: (-pair.score, _scattered(pair)))
    longest = max(sources, key=lambda source: len("".join(source.texts)) / max(len(source.texts), 1))
    return ColumnMatch(longest.name, target.name, pairs, 0.0)


def match_dates(source: Values, target: Values) -> ColumnMatch:
    """Pairs of a date and a text with a name of a month or a day, all of whose words and numbers are parts of the date.

    A date is paired where there is only one such text.
    """
    words = [set(_TOKENS.findall(plain(text))) for text in target.texts[: _DATES[1]]]
    named = [place for place, tokens in enumerate(words) if tokens & date_names()]
    pairs = []
    for text, row in zip(source.texts[: _DATES[0]], source.rows, strict=False) if named else ():
        parts = _parts_of_date(text)
        found = [place for place in named if words[place] <= parts] if parts else []
        if len(found) == 1:
            pairs.append(RowPair(row, target.rows[found[0]], 1.0))
    return ColumnMatch(source.name, target.name, sorted(pairs, key=_scattered), 0.0)


def _parts_of_date(text: str) -> set[str]:
    made = (DatePart(part, day_first).apply(text) for part in DATE_PARTS for day_first in (False, True))
    return {plain(part) for part in made if part}
