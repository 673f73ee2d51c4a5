"""Row pairs that are likely to join, by q-gram matches, grouped by pair of columns (section 4.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.join.transform.suffixes import SuffixArray, best_matches, suffix_array
from dovetail.join.transform.text import plain

_LEAST_Q = 3
_MOST_SHARED = 4  # a q-gram in more target values than this pairs nothing by itself


@dataclass(frozen=True)
class Values:
    """The distinct values of a column, the first row of each, and their suffix array."""

    name: str
    texts: list[str]
    rows: list[int]
    suffixes: SuffixArray


@dataclass(frozen=True)
class Pair:
    """A row of the source, one of the target, and the score 1/(n·m) of the q-gram that joins them."""

    source: int
    target: int
    score: float


@dataclass(frozen=True)
class Group:
    """The likely pairs of one column of the source and one of the target, best first."""

    source: str
    target: str
    pairs: list[Pair]
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


def match(source: Values, target: Values) -> Group:
    """The likely pairs of two columns. q is at least 3, or as long as the shortest value where that is shorter."""
    shortest = min(min(map(len, side.texts), default=_LEAST_Q) for side in (source, target))
    found = best_matches(source.suffixes, target.suffixes, min(_LEAST_Q, shortest))
    pairs: list[tuple[float, int, Pair]] = []
    weight = 0.0
    for value in np.flatnonzero((found.q > 0) & (found.in_target <= _MOST_SHARED)):
        q, score = int(found.q[value]), 1.0 / float(found.in_source[value] * found.in_target[value])
        places = target.suffixes.order[found.first[value] : found.first[value] + found.in_target[value]]
        others = sorted({int(other) for other in target.suffixes.owner[places]})
        shorter = min(len(source.texts[value]), min(len(target.texts[other]) for other in others))
        weight += score * q / shorter
        pairs += [(score, q, Pair(source.rows[value], target.rows[other], score)) for other in others]
    pairs.sort(key=lambda entry: (-entry[0], -entry[1], entry[2].source, entry[2].target))
    return Group(source.name, target.name, [pair for _, _, pair in pairs], weight)
