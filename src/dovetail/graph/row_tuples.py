"""Combinations of values of several columns, row by row: how many of one table occur in another. Exact."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns

Columns = tuple[int, ...]

_ROOM = 1 << 62  # combinations that can be numbered
_RECENT_BYTES = 1 << 26  # some thousand columns of a lake of small tables


@dataclass(frozen=True)
class TupleOverlap:
    """Distinct combinations without a null: of the dependent columns, of the referenced ones, and of both."""

    dependent: int
    referenced: int
    common: int


class RowTuples:
    """Combinations of values of several columns of one table, row by row; columns by their numbers in the lake."""

    def __init__(self, columns: LakeColumns) -> None:
        self._columns = columns
        self._referenced: tuple[Columns, Array] | None = None
        self._dependent: dict[Columns, int] = {}
        self._recent = _RecentArrays()

    def distinct(self, columns: Sequence[int]) -> tuple[int, int]:
        """The number of distinct combinations, and of rows without a null."""
        codes = [self._codes(column) for column in columns]
        numbers, rows = _numbered(codes, [self._size(column) for column in columns])
        return len(np.unique(numbers)), len(rows)

    def overlap(self, dependent: Columns, referenced: Columns) -> TupleOverlap:
        sizes = [self._size(column) for column in referenced]
        codes = [self._codes(column) for column in dependent]
        if dependent not in self._dependent:
            self._dependent[dependent] = len(
                np.unique(_numbered(codes, [self._size(column) for column in dependent])[0])
            )
        moved = [
            np.append(self._translation(one, other), -1)[code]  # the last place is for null, whose code is -1
            for one, other, code in zip(dependent, referenced, codes, strict=True)
        ]
        if math.prod(sizes) <= _ROOM:
            mine, theirs = np.unique(_numbered(moved, sizes)[0]), self._of_referenced(referenced, sizes)
        else:  # numbers are assigned as combinations come, so both sides have to be numbered together
            others = [self._codes(column) for column in referenced]
            numbers, rows = _numbered([np.concatenate(pair) for pair in zip(moved, others, strict=True)], sizes)
            first = int(np.searchsorted(rows, len(moved[0])))
            mine, theirs = np.unique(numbers[:first]), np.unique(numbers[first:])
        places = np.minimum(np.searchsorted(theirs, mine), max(0, len(theirs) - 1))
        common = int(np.count_nonzero(theirs[places] == mine)) if len(theirs) else 0
        return TupleOverlap(self._dependent[dependent], len(theirs), common)

    def _of_referenced(self, columns: Columns, sizes: list[int]) -> Array:
        """The last ones are kept: many tables are compared with the same key."""
        if self._referenced is None or self._referenced[0] != columns:
            self._referenced = columns, np.unique(_numbered([self._codes(column) for column in columns], sizes)[0])
        return self._referenced[1]

    def _size(self, column: int) -> int:
        return max(1, int(self._columns.distinct[column]))

    def _codes(self, column: int) -> Array:
        def read() -> Array:
            segment, own = self._place(column)
            return np.asarray(self._columns.segments[segment].rows.codes(own))

        return self._recent.get(("codes", column), read)

    def _place(self, column: int) -> tuple[int, int]:
        """The segment of a column, and its number there."""
        number = int(np.searchsorted(self._columns.offsets, column, side="right")) - 1
        return number, column - int(self._columns.offsets[number])

    def _ids(self, column: int, segment: int) -> Array:
        """The ids of a column's values in the dictionary of a segment, -1 where it has no such value."""

        def read() -> Array:
            own_segment, own = self._place(column)
            tokens, target = self._columns.segments[own_segment].tokens, self._columns.segments[segment].tokens
            ids = tokens.set_of(own)[0].astype(np.int64)
            return ids if segment == own_segment else target.find(tokens.tokens(ids))

        return self._recent.get(("ids", column, segment), read)

    def _translation(self, one: int, other: int) -> Array:
        """For each value of one column, the position of the same value in the other column's set, or -1."""
        segment = self._place(other)[0]
        ids, members = self._ids(one, segment), self._ids(other, segment)
        places = members.searchsorted(ids)
        known = members[np.minimum(places, len(members) - 1)] == ids if len(members) else np.zeros(len(ids), bool)
        return np.where(known, places, -1)


class _RecentArrays:
    """The arrays that were read last, up to a number of bytes: the same columns are compared with many others."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[Hashable, Array] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, read: Callable[[], Array]) -> Array:
        if key in self._arrays:
            self._arrays.move_to_end(key)
            return self._arrays[key]
        array = self._arrays[key] = read()
        self._bytes += array.nbytes
        while self._bytes > _RECENT_BYTES:
            self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return array


def _numbered(codes: list[Array], sizes: list[int]) -> tuple[Array, Array]:
    """A number for each row without a null (-1), the same for the same combination; and these rows.

    The number is the combination's position among all possible ones, or, where these are too many, among those present.
    """
    rows = np.flatnonzero(np.logical_and.reduce([code >= 0 for code in codes]))
    numbers = np.zeros(len(rows), np.int64)
    room = 1
    for code, size in zip(codes, sizes, strict=True):
        if room * size > _ROOM:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            room = len(rows)
        numbers = numbers * size + code[rows]
        room *= size
    return numbers, rows
