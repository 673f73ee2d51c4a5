"""Values of several columns together, row by row: how many tuples of one table stand in another. Exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment

_ROOM = 1 << 62  # of a tuple's number


@dataclass(frozen=True)
class Shared:
    """Distinct tuples without a null: of the dependent columns, of the referenced ones, and of both."""

    dependent: int
    referenced: int
    common: int


class RowTuples:
    """Tuples of columns of one table, by the columns' numbers over the lake."""

    def __init__(self, columns: LakeColumns) -> None:
        self._columns = columns
        self._last: tuple[tuple[int, ...], Array] | None = None

    def distinct(self, columns: Sequence[int]) -> tuple[int, int]:
        """How many distinct tuples there are, and how many rows have one."""
        codes = [self._codes(column) for column in columns]
        numbers, rows = _numbered(codes, [self._size(column) for column in columns])
        return len(np.unique(numbers)), len(rows)

    def shared(self, dependent: Sequence[int], referenced: Sequence[int]) -> Shared:
        sizes = [self._size(column) for column in referenced]
        codes = [self._codes(column) for column in dependent]
        own = len(np.unique(_numbered(codes, [self._size(column) for column in dependent])[0]))
        moved = [
            np.append(self._translation(one, other), -1)[code]  # the last place is for null, whose code is -1
            for one, other, code in zip(dependent, referenced, codes, strict=True)
        ]
        if math.prod(sizes) <= _ROOM:
            mine, theirs = np.unique(_numbered(moved, sizes)[0]), self._of_referenced(tuple(referenced), sizes)
        else:  # numbers are drawn as they come, so both sides have to be numbered together
            others = [self._codes(column) for column in referenced]
            numbers, rows = _numbered([np.concatenate(pair) for pair in zip(moved, others, strict=True)], sizes)
            first = int(np.searchsorted(rows, len(moved[0])))
            mine, theirs = np.unique(numbers[:first]), np.unique(numbers[first:])
        return Shared(own, len(theirs), int(np.isin(mine, theirs, assume_unique=True).sum()))

    def _of_referenced(self, columns: tuple[int, ...], sizes: list[int]) -> Array:
        """The last ones are kept: many tables are compared with the same one."""
        if self._last is None or self._last[0] != columns:
            self._last = columns, np.unique(_numbered([self._codes(column) for column in columns], sizes)[0])
        return self._last[1]

    def _size(self, column: int) -> int:
        return max(1, int(self._columns.distinct[column]))

    def _codes(self, column: int) -> Array:
        segment, own = self._place(column)
        codes: Array = segment.rows.codes(own)
        return codes

    def _place(self, column: int) -> tuple[OpenSegment, int]:
        number = int(np.searchsorted(self._columns.offsets, column, side="right")) - 1
        return self._columns.segments[number], column - int(self._columns.offsets[number])

    def _translation(self, one: int, other: int) -> Array:
        """For each place of one column's set the place of the same token in the other's, or -1."""
        segment, own = self._place(one)
        other_segment, others_own = self._place(other)
        ids = segment.tokens.set_of(own)[0].astype(np.int64)
        if segment is not other_segment:
            ids = other_segment.tokens.find(segment.tokens.tokens(ids))
        members = other_segment.tokens.set_of(others_own)[0].astype(np.int64)
        places = np.searchsorted(members, ids)
        known = members[np.minimum(places, len(members) - 1)] == ids if len(members) else np.zeros(len(ids), bool)
        return np.where(known, places, -1)


def _numbered(codes: list[Array], sizes: list[int]) -> tuple[Array, Array]:
    """A number for each row without a null (-1), the same for the same tuple; and these rows.

    The number is the tuple's place among all that there could be; where these are too many, among those that there are.
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
