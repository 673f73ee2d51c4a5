"""Whether the rows that a join brings together agree in other columns, too.

Rows about the same thing do, far more than rows drawn at random (Fellegi and Sunter 1969, doi:10.2307/2286061); rows
that only share a street or a party do not. Values are compared by their words: each word sets one of 64 bits, and two
values agree as far as they have the same bits. Rows drawn at random show how far that happens by chance.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.similar.texts import words_of
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

_PAIRS = 256  # of rows that are compared, drawn from either side; arbitrary, the error of a share is 0.03
_RANDOM_PAIRS = 2_000  # of rows drawn at random; arbitrary, and drawn once
_DOUBT = 8.0  # pairs of rows whose agreement says half as much as that of many; arbitrary
_NEAR = 1.25  # times as large; arbitrary
_LEAST = 1e-6
_WORD_BITS = 16  # of a word's hash, by which columns are compared: few of a sample collide
_SAMPLED = 2_000  # distinct values of a column whose words are compared with another's; arbitrary, milliseconds
_MOST_COLUMNS = 64  # of a table; arbitrary: more say nothing new
_LEAST_COMMON = 0.1  # of either column's words in the geometric mean, as in similar/columns.py
_SAME_NAME = 0.5  # what an equal name adds to that


class Rows(NamedTuple):
    """Pairs of rows of the left and of the right table."""

    left: Array
    right: Array


class Agreement:
    def __init__(self, left: InputTable, right: InputTable) -> None:
        self._tables = left, right
        self._bits: dict[tuple[int, int], Array] = {}

    def of(self, rows: Rows, own: Collection[tuple[int, int]]) -> float:
        """How far joined rows agree in the one of the other columns that correspond in which they agree most, 0 to 1.

        `own` are the pairs of columns by which they are joined. 0 without other columns.
        """
        if not len(rows.left):
            return 0.0
        mine, theirs = ({pair[side] for pair in own} for side in (0, 1))
        others = (place for place, (a, b) in enumerate(self._columns) if a not in mine and b not in theirs)
        return max((self._lift(place, rows) for place in others), default=0.0)

    def _lift(self, place: int, rows: Rows) -> float:
        """How much more the rows agree in one pair of columns than rows drawn at random, of what is possible."""
        similar, chance = self._similarity(place, rows), self._by_chance[place]
        if not len(similar) or chance == 1:
            return 0.0
        trust = len(similar) / (len(similar) + _DOUBT)
        return trust * max(0.0, (float(similar.mean()) - chance) / (1 - chance))

    @cached_property
    def _columns(self) -> list[tuple[int, int]]:
        """Columns of the left and of the right table that correspond, each in one pair at most."""
        names = [[name.casefold() for name in table.names[:_MOST_COLUMNS]] for table in self._tables]
        words = [
            np.stack([_words(table.column(name)) for name in table.names[:_MOST_COLUMNS]]) for table in self._tables
        ]
        sizes = [np.maximum(side.sum(axis=1), 1.0) for side in words]
        share = words[0] @ words[1].T / np.sqrt(np.outer(*sizes))
        same = np.array([[a == b for b in names[1]] for a in names[0]])
        share = np.where(share >= _LEAST_COMMON, share + _SAME_NAME * same, 0.0)
        for side, table in enumerate(self._tables):
            local = np.array([is_row_number(table.column(name)) for name in table.names[:_MOST_COLUMNS]])
            share[local if side == 0 else (slice(None), local)] = 0.0
        found: dict[int, int] = {}
        for place in np.argsort(-share, axis=None, kind="stable")[: np.count_nonzero(share)].tolist():
            a, b = divmod(place, share.shape[1])
            if a not in found and b not in found.values():
                found[a] = b
        return list(found.items())

    @cached_property
    def _by_chance(self) -> list[float]:
        """How far rows agree that are drawn at random, for each pair of columns; 1 where nothing can be said."""
        draw = np.random.default_rng(0)
        rows = Rows(*(draw.integers(0, table.rows, _RANDOM_PAIRS) for table in self._tables))
        found = (self._similarity(place, rows) for place in range(len(self._columns)))
        return [float(similar.mean()) if len(similar) else 1.0 for similar in found]

    def _similarity(self, place: int, rows: Rows) -> Array:
        """Of the values of one pair of columns, where both are there: the share of their words that both have."""
        mine, theirs = (
            self._bits_of(side, column)[each]
            for side, (column, each) in enumerate(zip(self._columns[place], rows, strict=True))
        )
        there = (mine > 0) & (theirs > 0)
        mine, theirs = mine[there], theirs[there]
        found: Array = np.bitwise_count(mine & theirs) / np.bitwise_count(mine | theirs)
        return found

    def _bits_of(self, side: int, place: int) -> Array:
        """The words of every row's value as bits."""
        if (side, place) not in self._bits:
            column = self._tables[side].column(self._tables[side].names[place])
            bits = word_bits(column.written) | magnitude_bits(column)
            self._bits[side, place] = np.append(bits, np.uint64(0))[column.codes()]
        return self._bits[side, place]


def word_bits(texts: pa.Array) -> Array:
    """A bit for each word of a text; 0 for a text without words."""
    words = words_of(texts.to_pylist())
    bits = np.uint64(1) << (words.hashes >> np.uint64(58))
    found = np.zeros(len(words), np.uint64)
    filled = np.flatnonzero(np.diff(words.first) > 0)
    if len(filled):
        found[filled] = np.bitwise_or.reduceat(bits, words.first[filled])
    return found


def magnitude_bits(column: InputColumn) -> Array:
    """A bit for about how large a number is: prices of the same thing are near each other; 0 for other values."""
    if column.type.kind not in ("integer", "real"):
        return np.zeros(column.size, np.uint64)
    size = np.abs(column.tokens.cast(pa.float64()).to_numpy())
    step = np.floor(np.log(np.maximum(size, _LEAST)) / np.log(_NEAR)).astype(np.int64)
    found: Array = np.uint64(1) << (step % 64).astype(np.uint64)
    return found


def is_row_number(column: InputColumn) -> bool:
    """Whether it numbers its rows from 0 or 1: such numbers mean nothing in another table."""
    if column.type.kind != "integer" or column.size < column.rows or not column.size:
        return False
    ends = pc.min_max(column.tokens.cast(pa.float64())).as_py()
    return bool(ends["min"] in (0, 1) and ends["max"] - ends["min"] == column.size - 1)


def _words(column: InputColumn) -> Array:
    """Which of the hashes of words are in a sample of the values, as 0 and 1."""
    step = -(-column.size // _SAMPLED) or 1
    sampled = column.written.take(pa.array(np.arange(0, column.size, step)))
    found = np.zeros(1 << _WORD_BITS, np.float32)
    found[(words_of(sampled.to_pylist()).hashes >> np.uint64(64 - _WORD_BITS)).astype(np.int64)] = 1.0
    return found


class Partners:
    """The rows of one table by key, to find a partner for rows of the other."""

    def __init__(self, codes: Array, rows: Array | None = None) -> None:
        """`codes` are the keys of all rows, -1 for none; `rows` are those with a key by key, if that is known."""
        self.codes = codes
        self.rows = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :] if rows is None else rows
        self._sorted = codes[self.rows]

    def of(self, wanted: Array, draw: np.random.Generator) -> Array:
        """A row with each key, drawn from all that have it; -1 where none has."""
        first, last = (np.searchsorted(self._sorted, wanted, side) for side in ("left", "right"))
        place = first + (draw.random(len(wanted)) * (last - first)).astype(np.int64)
        found: Array = np.append(self.rows, -1)[np.where(last > first, place, len(self.rows))]
        return found


def sampled_rows(left: Partners, right: Partners) -> Rows:
    """Some of the pairs of rows with the same key, drawn from either side."""
    draw = np.random.default_rng(0)
    found = []
    for one, other in ((left, right), (right, left)):
        rows = one.rows[draw.integers(0, len(one.rows), _PAIRS)] if len(one.rows) > _PAIRS else one.rows
        partners = other.of(one.codes[rows], draw)
        matched = partners >= 0
        found.append((rows[matched], partners[matched]))
    (a, b), (d, c) = found
    return Rows(np.concatenate([a, c]), np.concatenate([b, d]))
