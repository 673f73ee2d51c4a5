"""Which columns of two tables are compared by likeness: one pair of them, or all that say the same together.

The constraints choose (section 4.6): what joins most values, each with one key only, is the better way to compare.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.similar.matching import fuzzy_matches
from dovetail.similar.texts import words_of
from dovetail.transform.discover import likely_columns

Columns = Mapping[str, Sequence[str | None]]
_SAMPLE = 2_000  # distinct values of a column whose words are compared
_LEAST = 0.1  # of the words that either has, in the geometric mean, that both have
_SAME_NAME = 0.5  # that columns of one name are more alike
_TRIED = (5_000, 50_000)  # rows of the smaller and the larger table on which ways are compared
_KEY_SHARE = 0.8
_FILLED_SHARE = 0.5
_AS_GOOD = 0.95  # of what the best joins: then all columns together, which are less likely alike by chance


@dataclass(frozen=True)
class Compared:
    """Columns of the source and of the target whose texts are compared; the right table may be the source."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    reversed: bool


def likely_ways(left: Columns, right: Columns) -> Compared | None:
    """The columns that join most, of those that are nearly keys alone or together."""
    turned = _rows(left) > _rows(right)  # the fuller the keys, the clearer that the second is farther
    source, target = (right, left) if turned else (left, right)
    pairs = aligned(source, target)
    single = [pair for pair in pairs if _is_key(source[pair[0]]) and _is_key(target[pair[1]])]
    likely = likely_columns(left, right)
    if likely and likely[2] == turned and likely[:2] not in single:
        single.append(likely[:2])
    ways = [pairs] * (len(pairs) > 1) + [[pair] for pair in single]
    if not ways:
        return None
    samples = tried(source, target)
    joined = [_joined(*samples, way) for way in ways] if len(ways) > 1 else [1]
    enough = max(joined) * _AS_GOOD
    best = 0 if joined[0] >= enough else int(np.argmax(joined))
    return Compared(tuple(a for a, _ in ways[best]), tuple(b for _, b in ways[best]), turned)


def aligned(source: Columns, target: Columns) -> list[tuple[str, str]]:
    """Pairs of columns, each in one pair at most, those with most words in common first."""
    sides = [{name: _words(values) for name, values in side.items()} for side in (source, target)]
    shares = []
    for i, (a, mine) in enumerate(sides[0].items()):
        for j, (b, theirs) in enumerate(sides[1].items()):
            share = len(mine & theirs) / max(1.0, (len(mine) * len(theirs)) ** 0.5)
            if share >= _LEAST:
                shares.append((-share - _SAME_NAME * (a.casefold() == b.casefold()), i, j, a, b))
    return one_to_one((a, b) for *_, a, b in sorted(shares))


def one_to_one(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of pairs of columns, best first, those whose columns are in no better one."""
    found: dict[str, str] = {}
    for a, b in pairs:
        if a not in found and b not in found.values():
            found[a] = b
    return list(found.items())


def tried(one: Columns, other: Columns) -> tuple[Columns, Columns]:
    """Rows on which ways are compared: some of the smaller table, which look for theirs in more of the larger one."""
    fewer, more = _TRIED if _rows(one) <= _rows(other) else _TRIED[::-1]
    return _sampled(one, fewer), _sampled(other, more)


def together(table: Columns, names: Sequence[str]) -> list[str | None]:
    """The columns of each row as one text."""
    return [" ".join(filter(None, row)) or None for row in zip(*(table[name] for name in names), strict=True)]


def _joined(source: Columns, target: Columns, way: Sequence[tuple[str, str]]) -> int:
    sides = together(source, [a for a, _ in way]), together(target, [b for _, b in way])
    values, keys = (list(dict.fromkeys(filter(None, side))) for side in sides)
    return len(fuzzy_matches(values, keys))


def _rows(table: Columns) -> int:
    return len(next(iter(table.values()), ()))


def _sampled(table: Columns, most: int) -> Columns:
    rows = _rows(table)
    if rows <= most:
        return table
    chosen = random.Random(rows).sample(range(rows), most)
    return {name: [column[row] for row in chosen] for name, column in table.items()}


def _is_key(column: Sequence[str | None]) -> bool:
    filled = [text for text in column if text]
    return len(filled) >= _FILLED_SHARE * len(column) and len(set(filled)) >= _KEY_SHARE * len(filled)


def _words(values: Sequence[str | None]) -> set[int]:
    distinct = list(dict.fromkeys(value for value in values if value))
    return set(words_of(distinct[:: -(-len(distinct) // _SAMPLE) or 1]).hashes.tolist())
