"""The joining groups of a predicate of two tables: counted, split by further columns, closed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dovetail._types import Array
from dovetail.join.best_predicate.coding import Coded, CodedTable
from dovetail.join.best_predicate.kernels import children, common_groups, first_rows, holds, rows_by_code, split_rows
from dovetail.join.best_predicate.scores import Joined

Pair = tuple[int, int, int, int]
"""A table and its coded column, a later table and its coded column; of two tables, 0 and 1."""


class TwoCoded:
    """Two coded tables, with the rows of each column by code, sorted once."""

    passed_over = False

    def __init__(self, coded: Coded) -> None:
        self.left, self.right = coded.tables
        self.sizes = self.left.rows, self.right.rows
        self._excluded = coded.excluded
        self.by_code = [[rows_by_code(codes, coded.size) for codes in table.codes] for table in coded.tables]

    @cached_property
    def root(self) -> Groups:
        """All rows in one group: the predicate without a pair."""
        return Groups(self, np.zeros(self.left.rows, np.int32), np.zeros(self.right.rows, np.int32), 1)

    def pairs(self) -> list[Pair]:
        pairs = ((0, a, 1, b) for a in range(self.left.width) for b in range(self.right.width))
        return [pair for pair in pairs if pair not in self._excluded]

    def joining(self, found: Sequence[Pair]) -> list[Pair]:
        """All pairs with which anything joins: those that were found at the root."""
        return list(found)

    def fresh(self, _: Sequence[Pair], __: Pair) -> list[Pair]:
        """The pairs that can be added only after this one: none of two tables."""
        return []

    def promising(self, pairs: Sequence[Pair], *_: object) -> Sequence[Pair]:
        """The pairs that are worth counting: all, since they are counted together."""
        return pairs

    def joined(self, pairs: Sequence[Pair]) -> Joined | None:
        """The counts of the join on these pairs; None if nothing joins."""
        return self.groups(pairs[:-1]).children(pairs[-1:]).get(pairs[-1])

    def groups(self, pairs: Sequence[Pair]) -> Groups:
        found = self.root
        for pair in pairs:
            found = found.split(pair)
        return found


class Groups:
    def __init__(self, tables: TwoCoded, left: Array, right: Array, number: int) -> None:
        self.tables = tables
        self.left, self.right = left, right  # the group of each row, or -1
        self.number = number

    def split(self, pair: Pair) -> Groups:
        """The groups that also agree on one more pair of columns."""
        left, right = np.empty_like(self.left), np.empty_like(self.right)
        number = common_groups(self._split(0, pair[1]), self._split(1, pair[3]), left, right)
        return Groups(self.tables, left, right, number)

    def children(self, pairs: Sequence[Pair]) -> dict[Pair, Joined]:
        """The counts after adding each of the pairs; without those with which nothing joins."""
        if not pairs:
            return {}
        used = sorted({pair[1] for pair in pairs}), sorted({pair[3] for pair in pairs})
        places = {pair: (used[0].index(pair[1]), used[1].index(pair[3])) for pair in pairs}
        wanted = np.zeros((len(used[0]), len(used[1])), np.bool_)
        for place in places.values():
            wanted[place] = True
        lists = [self._split(side, column)[1:] for side in (0, 1) for column in used[side]]
        keys = np.concatenate([each[0] for each in lists])
        counts = np.concatenate([np.diff(each[1]) for each in lists])
        ends = np.concatenate([[0], np.cumsum([len(each[0]) for each in lists])]).astype(np.int64)
        numbers = np.zeros((*wanted.shape, 5), np.int64)
        spreads = np.zeros(wanted.shape)
        children(keys, counts, ends, len(used[0]), wanted, numbers, spreads)
        found = {}
        for pair, place in places.items():
            left, right, rows, groups, most = numbers[place].tolist()
            if groups:
                found[pair] = Joined((left, right), rows, groups, float(spreads[place]), most, self.tables.sizes)
        return found

    def closure(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Those of the pairs that are equal in every joined row anyway."""
        left, right = self.tables.left.codes, self.tables.right.codes
        firsts = first_rows(self.left, self.number), first_rows(self.right, self.number)
        return [
            (0, a, 1, b)
            for _, a, _, b in pairs
            if holds(left[a], self.left, right[b], firsts[1]) and holds(right[b], self.right, left[a], firsts[0])
        ]

    def _split(self, side: int, column: int) -> tuple[Array, Array, Array]:
        table: CodedTable = (self.tables.left, self.tables.right)[side]
        groups = (self.left, self.right)[side]
        return split_rows(self.tables.by_code[side][column], table.codes[column], groups, self.number)
