"""Joining groups of more than two tables (section V.D of the paper).

A predicate grows from the first table: each pair of columns connects a further table, or two that are connected
already, so that no predicate is made whose tables do not hang together. The tables that are not connected yet count
with the most rows that any pair of columns leaves them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.join.best_predicate.coding import Coded
from dovetail.join.best_predicate.groups import Pair, TwoCoded
from dovetail.join.best_predicate.kernels import rows_by_code, split_rows
from dovetail.join.best_predicate.key_kernels import (
    classes_of_rows,
    codes_of_classes,
    count_pair,
    join_keys,
    renumber,
)
from dovetail.join.best_predicate.scores import Joined

MOST_KEYS = 20_000_000  # of a predicate; one with more is passed over
_KEYS_A_SECOND = 1_000_000  # arbitrary, not measured: no keys are made that need more than the time left
_SHIFT = 32

Split = tuple[Array, Array, Array]
"""See `key_kernels`."""


class ManyCoded:
    """More than two coded tables, with what every pair of columns joins by itself."""

    def __init__(self, coded: Coded, deadline: Deadline) -> None:
        self.tables = coded.tables
        self.sizes = tuple(table.rows for table in coded.tables)
        self.passed_over = False  # whether a predicate had too many keys, or the time was over
        self.deadline = deadline
        self.by_code = [[rows_by_code(codes, coded.size) for codes in table.codes] for table in coded.tables]
        alone = dict(self._joined_alone(coded))
        self.most = [
            max(
                (joined.matched[(x, y).index(table)] for (x, _, y, _), joined in alone.items() if table in (x, y)),
                default=0,
            )
            for table in range(len(self.tables))
        ]
        self.single: dict[Pair, Joined] = {}
        if all(self.most):  # otherwise a table joins nothing
            self.single = {pair: self._with_others(pair, joined) for pair, joined in sorted(alone.items())}

    def _joined_alone(self, coded: Coded) -> Iterable[tuple[Pair, Joined]]:
        """What pairs of columns join of their two tables, all of two tables at once."""
        for x, y in itertools.combinations(range(len(self.tables)), 2):
            if self.deadline.is_over:
                self.passed_over = True
                return
            two = TwoCoded(coded.two(x, y))
            for (_, a, _, b), joined in two.root.children(two.pairs()).items():
                yield (x, a, y, b), joined

    def _with_others(self, pair: Pair, joined: Joined) -> Joined:
        x, _, y, _ = pair
        matched = list(self.most)
        matched[x], matched[y] = joined.matched
        others = [most for table, most in enumerate(self.most) if table not in (x, y)]
        times = math.prod(others)
        most_groups = min(joined.most_groups * times, joined.rows * times // max(others))
        return Joined(
            tuple(matched), joined.rows * times, joined.groups, joined.spread, most_groups, self.sizes, False
        )  # fmt: skip

    @property
    def root(self) -> ManyGroups:
        classes = [np.zeros(table.rows, np.int32) for table in self.tables]
        return ManyGroups(self, frozenset([0]), classes, np.zeros((1, len(self.tables)), np.int32))

    def pairs(self) -> list[Pair]:
        """Those of the first table."""
        return [pair for pair in self.single if pair[0] == 0]

    def joining(self, _: Sequence[Pair]) -> list[Pair]:
        """All pairs with which anything joins."""
        return list(self.single)

    def fresh(self, parent: Sequence[Pair], pair: Pair) -> list[Pair]:
        """The pairs that can be added only after this one, since it connects a further table."""
        known = _connected(parent)
        new = {pair[0], pair[2]} - known
        return [each for each in self.single if new & {each[0], each[2]} and not known & {each[0], each[2]}]

    def promising(
        self, pairs: Sequence[Pair], joined: Joined | None, is_hopeless: Callable[[Joined], bool]
    ) -> list[Pair]:
        """The pairs that are not ruled out before they are counted, by their own counts and those of the parent."""
        limits = ((pair, self.single[pair]) for pair in pairs)
        return [pair for pair, alone in limits if not is_hopeless(_least(alone, joined) if joined else alone)]

    def joined(self, pairs: Sequence[Pair]) -> Joined | None:
        """The counts of the join on these pairs, which connect the first table with others; None if nothing joins."""
        *others, last = in_order(pairs)
        return self.groups(others).children([last]).get(last)

    def groups(self, pairs: Sequence[Pair]) -> ManyGroups:
        found = self.root
        for pair in in_order(pairs):
            found = found.split(pair)
        return found

    def most_keys(self) -> int:
        return min(MOST_KEYS, int(self.deadline.left * _KEYS_A_SECOND))


class ManyGroups:
    """The joining groups of a predicate, as `Groups` for two tables: for every row its class, and the keys of classes.

    All rows of a table that is not connected are one class.
    """

    def __init__(self, tables: ManyCoded, connected: frozenset[int], classes: list[Array], keys: Array) -> None:
        self.tables, self.connected = tables, connected
        self.classes, self.keys = classes, keys
        self.numbers = [int(column.max(initial=-1)) + 1 for column in keys.T]
        self._weights = [
            np.bincount(classes[table][classes[table] >= 0], minlength=self.numbers[table]).astype(np.float64)
            if table in connected
            else np.array([float(tables.most[table])])
            for table in range(len(classes))
        ]
        self._splits: dict[tuple[int, int], tuple[Array, Array, Split]] = {}

    def children(self, pairs: Sequence[Pair]) -> dict[Pair, Joined]:
        """The counts after adding each of the pairs; without those with which nothing joins.

        The rows of a column are sorted by class and code once, and merged with those of every other column.
        """
        if self.connected == {0}:  # no pair yet
            return {pair: self.tables.single[pair] for pair in pairs if pair in self.tables.single}
        found: dict[Pair, Joined] = {}
        for (x, y), some in itertools.groupby(sorted(pairs, key=lambda p: (p[0], p[2])), lambda p: (p[0], p[2])):
            counter = _Counter(self, x, y)
            for pair in some:
                if self.tables.deadline.is_over:
                    self.tables.passed_over = True
                    return found
                joined = counter.count(pair)
                if joined is not None and joined.groups > self.tables.most_keys():
                    self.tables.passed_over = True
                elif joined is not None:
                    found[pair] = joined
        return {pair: found[pair] for pair in pairs if pair in found}

    def closure(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Those of the pairs of connected tables that are equal in every joined row anyway."""
        codes: dict[tuple[int, int], Array] = {}

        def of(table: int, column: int) -> Array:
            if (table, column) not in codes:
                found = codes_of_classes(
                    self.tables.tables[table].codes[column], self.classes[table], self.numbers[table]
                )
                codes[table, column] = found[self.keys[:, table]]
            return codes[table, column]

        return [
            (x, a, y, b)
            for x, a, y, b in pairs
            if self.connected >= {x, y} and of(x, a)[0] >= 0 and np.array_equal(of(x, a), of(y, b))
            and (of(x, a) >= 0).all()
        ]  # fmt: skip

    def split(self, pair: Pair) -> ManyGroups:
        """The groups that also agree on one more pair of columns."""
        x, a, y, b = pair
        mine, theirs = self.split_of(x, a), self.split_of(y, b)
        size = int(_Counter(self, x, y).groups(pair))
        keys = np.empty((size, self.keys.shape[1]), np.int32)
        join_keys(self.keys, x, y, mine[2], theirs[2], keys)
        classes = list(self.classes)
        for table in range(len(classes)):
            places, keys[:, table] = np.unique(keys[:, table], return_inverse=True)
            if table in (x, y):
                rows, runs, _ = mine if table == x else theirs
                classes[table] = classes_of_rows(rows, runs, places, self.tables.sizes[table])
            elif len(places) < self.numbers[table]:
                numbers = np.full(self.numbers[table], -1, np.int32)
                numbers[places] = np.arange(len(places))
                classes[table] = renumber(classes[table], numbers)
        return ManyGroups(self.tables, self.connected | {x, y}, classes, keys)

    def split_of(self, table: int, column: int) -> tuple[Array, Array, Split]:
        """The rows of a column by class and code, where their runs begin, and the runs as kernels take them."""
        if (table, column) not in self._splits:
            number = self.numbers[table]
            rows, keys, runs = split_rows(
                self.tables.by_code[table][column], self.tables.tables[table].codes[column], self.classes[table], number
            )
            starts = np.searchsorted(keys, np.arange(number + 1, dtype=np.int64) << _SHIFT)
            self._splits[table, column] = rows, runs, (keys, np.diff(runs), starts)
        return self._splits[table, column]

    def products(self, but: tuple[int, int]) -> tuple[Array, Array]:
        """For every key the rows of its classes multiplied, but for two tables; and the largest of these numbers."""
        found, largest = np.ones(len(self.keys)), np.ones(len(self.keys))
        for table, weights in enumerate(self._weights):
            if table not in but:
                rows = weights[self.keys[:, table]]
                found *= rows
                np.maximum(largest, rows, out=largest)
        return found, largest

    def matched(self, table: int, keys: Array) -> int:
        """The rows of a table in some of the keys."""
        places = np.zeros(self.numbers[table], np.bool_)
        places[self.keys[keys, table]] = True
        return int(self._weights[table][places].sum())


class _Counter:
    """Counts the joins on further pairs of columns of two tables."""

    def __init__(self, groups: ManyGroups, x: int, y: int) -> None:
        self._groups = groups
        self._tables = x, y
        both = groups.keys[:, x].astype(np.int64) * groups.numbers[y] + groups.keys[:, y]
        known, self._place, times = np.unique(both, return_inverse=True, return_counts=True)
        self._combinations = np.stack(np.divmod(known, groups.numbers[y]), axis=1)
        products, largest = groups.products((x, y))
        self._weights = np.bincount(self._place, products)
        self._logs = np.bincount(self._place, products * np.log2(products))
        self._shares = np.bincount(self._place, products / largest)
        self._times = times.astype(np.float64)
        self._marks: dict[tuple[int, int], Array] = {}
        self._mark = 0

    def groups(self, pair: Pair) -> float:
        return self._count(pair)[0][1]

    def count(self, pair: Pair) -> Joined | None:
        groups, x, y = self._groups, pair[0], pair[2]
        (rows, number, spread, most, mine, theirs), joins = self._count(pair)
        if not number:
            return None
        keys = np.flatnonzero(joins[self._place])
        connected = groups.connected | {x, y}
        matched = [
            groups.matched(table, keys) if table in groups.connected else groups.tables.most[table]
            for table in range(len(groups.classes))
        ]
        matched[x], matched[y] = int(mine), int(theirs)
        return Joined(
            tuple(matched), int(rows), int(number), spread, math.ceil(most), groups.tables.sizes,
            len(connected) == len(matched),
        )  # fmt: skip

    def _count(self, pair: Pair) -> tuple[tuple[float, float, float, float, float, float], Array]:
        x, a, y, b = pair
        mine, theirs = self._groups.split_of(x, a)[2], self._groups.split_of(y, b)[2]
        self._mark += 1
        left_marks, right_marks = (
            self._marks.setdefault(column, np.zeros(len(split[0]), np.int32))
            for column, split in (((x, a), mine), ((y, b), theirs))
        )
        joins = np.zeros(len(self._combinations), np.bool_)
        counts = count_pair(
            mine, theirs, self._combinations, self._weights, self._logs, self._shares, self._times, left_marks,
            right_marks, self._mark, joins,
        )  # fmt: skip
        return counts, joins


def _connected(pairs: Iterable[Pair]) -> set[int]:
    """The tables that pairs connect with the first."""
    return {0}.union(*((x, y) for x, _, y, _ in pairs))


def in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs, each connected with those before it and the first table."""
    waiting, found, known = sorted(pairs), [], {0}
    while waiting:
        pair = next(each for each in waiting if known & {each[0], each[2]})
        waiting.remove(pair)
        known |= {pair[0], pair[2]}
        found.append(pair)
    return found


def _least(one: Joined, other: Joined) -> Joined:
    """The most that a join can have that has no more than either."""
    matched = tuple(map(min, one.matched, other.matched))
    rows, groups = min(one.rows, other.rows), min(one.most_groups, other.most_groups)
    return Joined(matched, rows, groups, 0.0, groups, one.sizes, False)


def spanning_tree(tables: int, edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the edges, best first, those that connect more tables (Kruskal)."""
    component = list(range(tables))
    chosen = []
    for x, y in edges:
        if component[x] != component[y]:
            chosen.append((x, y))
            component = [component[x] if each == component[y] else each for each in component]
    return chosen
