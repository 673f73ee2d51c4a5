"""Which columns of two tables are compared by similarity: one pair of them, or all that correspond, together.

What most values find a likely key by is the better way to compare. That is tried on a sample of the rows.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.similar.matching import similar_pairs
from dovetail.similar.text_kernels import token_numbers
from dovetail.similar.texts import words_of

Columns = Mapping[str, Sequence[str | None]]
# Chosen with the other constants of similarity on the AutoFJ development sets (docs/benchmarks.md).
_SAMPLE = 2_000  # distinct values of a column whose words and trigrams are compared with another's
_LEAST_COMMON = 0.1  # of either column's words, or words and trigrams, in the geometric mean
_SAME_NAME = 0.5  # what an equal name adds to that
_KEY_SHARE = 0.8  # of the filled rows that are distinct
_FILLED_SHARE = 0.5
# Arbitrary, for time: a second or less for tables of any size.
_MOST_SINGLE = 6  # pairs of columns that are tried alone
_TRIED = (200, 4_000)  # distinct values, and distinct keys among which they look for theirs
_BITS = 22  # of a token's hash, enough that few of a sample collide


@dataclass(frozen=True)
class ComparedColumns:
    """Columns of the source, whose values look for their keys, and of the target, which has the keys."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    reversed: bool  # the right table is the source
    found: float = 0.0  # the share of the sampled values whose key is likely right


def choose_columns(left: Columns, right: Columns, deadline: Deadline | None = None) -> ComparedColumns | None:
    """The columns by which most values find a key; None where none correspond."""
    return next(iter(ways_to_compare(left, right, deadline)), None)


def ways_to_compare(left: Columns, right: Columns, deadline: Deadline | None = None) -> list[ComparedColumns]:
    """Columns of which one is nearly a key, if there are any, and all together; those first that find most keys."""
    together_, single = corresponding(left, right), _most_in_common(left, right)
    ways = [together_] * (len(together_) > 1)
    with_key = [pair for pair in single if _counted(left[pair[0]]).is_key or _counted(right[pair[1]]).is_key]
    ways += [[pair] for pair in (with_key or single)[:_MOST_SINGLE]]
    found = [
        directed_way(left, [a for a, _ in way], right, [b for _, b in way], deadline)
        for way in ways
        if deadline is None or not deadline.is_over
    ]
    return sorted((way for way in found if way.found), key=lambda way: -way.found)


def directed_way(
    left: Columns,
    mine: Sequence[str],
    right: Columns,
    theirs: Sequence[str],
    deadline: Deadline | None = None,
    counts: tuple[Array | None, Array | None] = (None, None),
) -> ComparedColumns:
    """Which of the two tables has the keys that the other's values mean.

    The side that repeats no value has them. Where that says nothing, values are looked up from the side of which the
    greater share finds one clear key: of twenty towns and two hundred spellings of them, a spelling has one nearest
    town, a town has ten nearest spellings. `counts` says how many rows each row of either table stands for, if not one.
    """
    sides = _counted(together(left, mine), counts[0]), _counted(together(right, theirs), counts[1])
    unique = tuple(side.is_key for side in sides)
    forth = ComparedColumns(
        tuple(mine), tuple(theirs), False, 0.0 if unique == (True, False) else _found(*sides, deadline)
    )
    back = ComparedColumns(
        tuple(theirs), tuple(mine), True, 0.0 if unique == (False, True) else _found(sides[1], sides[0], deadline)
    )
    if unique[0] != unique[1]:
        return back if unique[0] else forth
    return max(forth, back, key=lambda way: way.found)


@dataclass(frozen=True)
class _Counted:
    """The texts of a column, the number of rows of each, and of all rows, empty ones included."""

    texts: Counter[str]
    rows: int

    @property
    def is_key(self) -> bool:
        """Whether most rows have a text, and few of them that of another."""
        filled = self.texts.total()
        return filled >= _FILLED_SHARE * self.rows and len(self.texts) >= _KEY_SHARE * filled


def _counted(column: Sequence[str | None], counts: Array | None = None) -> _Counted:
    if counts is None:
        return _Counted(Counter(filter(None, column)), len(column))
    texts: Counter[str] = Counter()
    for text, rows in zip(column, counts.tolist(), strict=True):
        if text:
            texts[text] += rows
    return _Counted(texts, int(counts.sum()))


def _found(source: _Counted, target: _Counted, deadline: Deadline | None) -> float:
    """The share of the sampled values whose key is likely right; a key that several rows have counts less.

    0 after the deadline.
    """
    if deadline is not None and deadline.is_over:
        return 0.0
    values, keys = (_sampled(side.texts, most) for side, most in zip((source, target), _TRIED, strict=True))
    pairs = similar_pairs(list(values), list(keys))
    rows = np.fromiter(keys.values(), np.float64, len(keys))[pairs.keys]
    return float((pairs.probability / rows).sum() / max(1, len(values)))


def corresponding(left: Columns, right: Columns) -> list[tuple[str, str]]:
    """Pairs of columns, each in one pair at most, those with most words in common first."""
    return one_to_one(_in_common(left, right, lambda values: _tokens(values, words_only=True)))


def _most_in_common(left: Columns, right: Columns) -> list[tuple[str, str]]:
    """Pairs of columns, those with most words and trigrams in common first: misspelled words share trigrams only."""
    return list(_in_common(left, right, lambda values: _tokens(values, words_only=False)))


def _in_common(
    left: Columns, right: Columns, tokens: Callable[[Sequence[str | None]], Array]
) -> Iterator[tuple[str, str]]:
    sides = [{name: tokens(values) for name, values in side.items()} for side in (left, right)]
    shares = []
    for i, (a, mine) in enumerate(sides[0].items()):
        for j, (b, theirs) in enumerate(sides[1].items()):
            common = len(np.intersect1d(mine, theirs, assume_unique=True))
            share = common / max(1.0, (len(mine) * len(theirs)) ** 0.5)
            if share >= _LEAST_COMMON:
                shares.append((-share - _SAME_NAME * (a.casefold() == b.casefold()), i, j, a, b))
    return ((a, b) for *_, a, b in sorted(shares))


def one_to_one(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of pairs of columns, best first, those whose columns are in no better one."""
    found: dict[str, str] = {}
    for a, b in pairs:
        if a not in found and b not in found.values():
            found[a] = b
    return list(found.items())


def together(table: Columns, names: Sequence[str]) -> list[str | None]:
    """The columns of each row as one text."""
    return [" ".join(filter(None, row)) or None for row in zip(*(table[name] for name in names), strict=True)]


def _sampled(counts: Counter[str], most: int) -> Counter[str]:
    if len(counts) <= most:
        return counts
    return Counter({text: counts[text] for text in random.Random(len(counts)).sample(list(counts), most)})


def _tokens(values: Sequence[str | None], words_only: bool) -> Array:
    distinct = list(dict.fromkeys(value for value in values if value))
    words = words_of(distinct[:: -(-len(distinct) // _SAMPLE) or 1])
    if words_only:
        return np.unique(words.hashes)
    return np.unique(token_numbers(words.codes, words.starts, words.first, words.hashes, _BITS)[1])
