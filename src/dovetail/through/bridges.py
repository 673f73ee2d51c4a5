"""Which tables of the lake hold values of two columns, and the pairs of values that stand in one row of them.

A *bridge* is a pair of columns of one table: one holds values of the left column, the other values of the right one.
`find_bridges` is exact: the posting lists give all columns that hold enough values of one side, and only columns of
their tables are asked for the other side. The cost follows the tables that hold both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.input_column import TEXT_TYPES

LEAST_HELD = 2  # values of either side that a bridge holds: one is found by chance too often


@dataclass(frozen=True)
class Values:
    """The distinct values of one side, as tokens."""

    tokens: pa.LargeStringArray
    is_text: bool = True  # words rather than numbers and codes: they may be spelled differently
    is_code: bool = False  # codes rather than numbers: they may be written by another rule

    _numbers: dict[OpenSegment, tuple[Array, Array]] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def texts(self) -> list[str]:
        texts: list[str] = self.tokens.to_pylist()
        return texts

    def places(self, segment: OpenSegment, column: int) -> Array:
        """Of each token of a column of the lake, its position among the values; -1 if it is none of them."""
        sought, order = self._sought(segment)
        ids = segment.tokens.set_of(column)[0].astype(np.int64)
        if not len(order):
            return np.full(len(ids), -1, np.int64)
        place = np.minimum(np.searchsorted(sought, ids), len(order) - 1)
        found: Array = np.where(sought[place] == ids, order[place], -1)
        return found

    def _sought(self, segment: OpenSegment) -> tuple[Array, Array]:
        """The numbers of the values in a segment, ascending, and which value each is; looked up once."""
        if segment not in self._numbers:
            numbers = segment.tokens.find(self.tokens)
            order = np.argsort(numbers, kind="stable")
            self._numbers[segment] = numbers[order], order
        return self._numbers[segment]


@dataclass(frozen=True)
class BridgePlace:
    """Two columns of a table of the lake, and how many values of either side they hold."""

    segment: int
    table: int
    columns: tuple[int, int]
    held: tuple[int, int]

    @property
    def at(self) -> tuple[int, int]:
        return self.segment, self.table


@dataclass(frozen=True)
class Reach:
    """Of each token of a column, which value it is, and how likely that is (1 if it is equal)."""

    places: Array
    probability: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def equal(cls, places: Array) -> Reach:
        return cls(places, (places >= 0).astype(np.float64))


@dataclass(frozen=True)
class Bridge:
    """The pairs of values that stand in one row of a table, each once.

    `fan_out` says how many different values of the table's right column stand beside the left value of each pair,
    whether they are among the right values or not; `fan_in` the same the other way round. Of two tables in a row
    (chains.py), they are the inverse of the probabilities that a walk from one value ends at the other.
    """

    place: BridgePlace
    left: Array
    right: Array
    fan_out: Array
    fan_in: Array
    probability: Array  # that both values mean what stands in the table; 1 if they are equal
    known: tuple[Array, Array]  # the values of either side that have anything beside them
    then: BridgePlace | None = None  # the second of two tables in a row

    @classmethod
    def empty(cls, place: BridgePlace) -> Bridge:
        none = np.empty(0, np.int64)
        return cls(place, none, none, none, none, np.empty(0), (none, none))

    @property
    def places(self) -> tuple[BridgePlace, ...]:
        return (self.place, self.then) if self.then else (self.place,)

    def __len__(self) -> int:
        return len(self.left)


def find_bridges(
    segments: Sequence[OpenSegment], left: Values, right: Values, least: int = LEAST_HELD
) -> list[BridgePlace]:
    """All pairs of columns of one table that hold at least `least` values of the left and of the right side."""
    found = []
    if len(left) < least or len(right) < least:
        return []
    for number, segment in enumerate(segments):
        alive = segment.alive[segment.table_of]
        mine = segment.josie.search(left.tokens, len(alive) + 1, least, alive)
        tables = np.zeros(len(segment.alive), bool)
        tables[segment.table_of[mine.columns]] = True
        theirs = segment.josie.search(right.tokens, len(alive) + 1, least, alive & tables[segment.table_of])
        for i, j in zip(*equal_pairs(segment.table_of[mine.columns], segment.table_of[theirs.columns]), strict=True):
            columns = int(mine.columns[i]), int(theirs.columns[j])
            if columns[0] != columns[1]:
                held = int(mine.overlaps[i]), int(theirs.overlaps[j])
                found.append(BridgePlace(number, int(segment.table_of[columns[0]]), columns, held))
    return found


def equal_pairs(left: Array, right: Array) -> tuple[Array, Array]:
    """The positions of all pairs of equal numbers."""
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    counts = last - first
    lefts = np.repeat(np.arange(len(left)), counts)
    within = np.arange(len(lefts)) - np.repeat(np.cumsum(counts) - counts, counts)
    return lefts, order[first[lefts] + within] if len(lefts) else lefts


def read_bridge(segment: OpenSegment, place: BridgePlace, left: Reach, right: Reach) -> Bridge:
    """The pairs of values in the rows of the two columns."""
    one, other = (segment.rows.codes(column).astype(np.int64) for column in place.columns)
    mine, theirs = np.append(left.places, -1), np.append(right.places, -1)
    concerned = (one >= 0) & (other >= 0) & ((mine[one] >= 0) | (theirs[other] >= 0))
    cells = np.unique(one[concerned] * len(theirs) + other[concerned])
    one, other = cells // len(theirs), cells % len(theirs)
    here, there = mine[one] >= 0, theirs[other] >= 0
    both = here & there
    known = np.unique(mine[one[here]]), np.unique(theirs[other[there]])
    fan_out, fan_in = np.bincount(one[here], minlength=len(mine)), np.bincount(other[there], minlength=len(theirs))
    one, other = one[both], other[both]
    return Bridge(
        place, mine[one], theirs[other], fan_out[one], fan_in[other],
        left.probability[one] * right.probability[other], known,
    )  # fmt: skip


def text_columns(segment: OpenSegment, types: Sequence[str] = TEXT_TYPES) -> Array:
    """Which columns have texts rather than numbers, dates or flags."""
    kinds = segment.catalog.columns["kind"]
    found: Array = pc.is_in(kinds, pa.array(types)).to_numpy()
    return found
