"""Which columns of two tables are compared by similarity: one pair of them, or all that correspond, together.

The constraint chooses (section 4.6 of the thesis): what joins most values, each with one key only, is the better way
to compare.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dovetail._deadline import Deadline
from dovetail.similar.matching import similar_pairs
from dovetail.similar.texts import words_of
from dovetail.transform.discover import likely_columns

Columns = Mapping[str, Sequence[str | None]]
# Chosen with the other constants of similarity on the AutoFJ development sets (docs/benchmarks.md).
_SAMPLE = 2_000  # distinct values of a column whose words are compared
_LEAST_COMMON_WORDS = 0.1  # of either column's, in the geometric mean
_SAME_NAME = 0.5  # what an equal name adds to that
_TRIED = (5_000, 50_000)  # rows of the smaller and the larger table on which columns are compared
_KEY_SHARE = 0.8  # of the filled rows that are distinct
_FILLED_SHARE = 0.5
_AS_GOOD = 0.95  # of what the best joins: then all columns together, whose similarity is less likely by chance


@dataclass(frozen=True)
class ComparedColumns:
    """Columns of the source, whose values look for their keys, and of the target, which has the keys."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    reversed: bool  # the right table is the source


def choose_columns(left: Columns, right: Columns, deadline: Deadline | None = None) -> ComparedColumns | None:
    """The columns that join most, of those that are nearly keys alone or together; None where none correspond."""
    smaller_first = _rows(left) <= _rows(right)
    few, many = (left, right) if smaller_first else (right, left)
    pairs = corresponding(few, many)
    single = [pair for pair in pairs if _is_key(few[pair[0]]) or _is_key(many[pair[1]])]
    likely = likely_columns(few, many, deadline)
    if likely and likely not in single:
        single.append(likely)
    ways = [pairs] * (len(pairs) > 1) + [[pair] for pair in single]
    if not ways:
        return None
    samples = sampled_rows(few, many)
    joined = [_joined(*samples, ways[0])] if len(ways) > 1 else [1]
    for way in ways[1:]:
        joined.append(0 if deadline is not None and deadline.is_over else _joined(*samples, way))
    best = 0 if joined[0] >= max(joined) * _AS_GOOD else joined.index(max(joined))
    mine, theirs = tuple(a for a, _ in ways[best]), tuple(b for _, b in ways[best])
    if has_keys(few, mine, many, theirs):
        return ComparedColumns(theirs, mine, reversed=smaller_first)
    return ComparedColumns(mine, theirs, reversed=not smaller_first)


def has_keys(table: Columns, names: Sequence[str], other: Columns, other_names: Sequence[str]) -> bool:
    """Whether a table has the keys that the other's values mean, rather than the other way round.

    The side that repeats no value has them. Where that says nothing, values are looked up from the side of which the
    greater share finds one clear key: of twenty towns and two hundred spellings of them, a spelling has one nearest
    town, a town has ten nearest spellings.
    """
    mine, theirs = together(table, names), together(other, other_names)
    unique = _is_key(mine), _is_key(theirs)
    if unique[0] != unique[1]:
        return unique[0]
    few, many = _distinct(mine, _TRIED[0]), _distinct(theirs, _TRIED[0])
    if not few or not many:
        return False
    return len(similar_pairs(many, few).values) / len(many) > len(similar_pairs(few, many).values) / len(few)


def corresponding(source: Columns, target: Columns) -> list[tuple[str, str]]:
    """Pairs of columns, each in one pair at most, those with most words in common first."""
    sides = [{name: _words(values) for name, values in side.items()} for side in (source, target)]
    shares = []
    for i, (a, mine) in enumerate(sides[0].items()):
        for j, (b, theirs) in enumerate(sides[1].items()):
            share = len(mine & theirs) / max(1.0, (len(mine) * len(theirs)) ** 0.5)
            if share >= _LEAST_COMMON_WORDS:
                shares.append((-share - _SAME_NAME * (a.casefold() == b.casefold()), i, j, a, b))
    return one_to_one((a, b) for *_, a, b in sorted(shares))


def one_to_one(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of pairs of columns, best first, those whose columns are in no better one."""
    found: dict[str, str] = {}
    for a, b in pairs:
        if a not in found and b not in found.values():
            found[a] = b
    return list(found.items())


def sampled_rows(one: Columns, other: Columns) -> tuple[Columns, Columns]:
    """Some rows of the smaller table, which look for theirs among more of the larger one."""
    fewer, more = _TRIED if _rows(one) <= _rows(other) else _TRIED[::-1]
    return _sampled(one, fewer), _sampled(other, more)


def together(table: Columns, names: Sequence[str]) -> list[str | None]:
    """The columns of each row as one text."""
    return [" ".join(filter(None, row)) or None for row in zip(*(table[name] for name in names), strict=True)]


def _joined(source: Columns, target: Columns, way: Sequence[tuple[str, str]]) -> int:
    sides = together(source, [a for a, _ in way]), together(target, [b for _, b in way])
    values, keys = (_distinct(side) for side in sides)
    return len(similar_pairs(values, keys, one_to_one=True).values)


def _distinct(texts: Sequence[str | None], most: int | None = None) -> list[str]:
    return list(dict.fromkeys(filter(None, texts)))[:most]


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
