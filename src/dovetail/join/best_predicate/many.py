"""Joining groups of more than two tables (section V.D of the paper).

Columns that a predicate makes equal, directly or not, are one variable. The joining keys are then the natural
join of the tables' distinct values of their variables, each with the rows that have them; rows are never joined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.join.best_predicate.coding import Coded
from dovetail.join.best_predicate.groups import Pair, TwoCoded
from dovetail.join.best_predicate.scores import Joined

MOST_KEYS = 20_000_000  # of a predicate; one with more is passed over
_KEYS_A_SECOND = 1_000_000  # arbitrary, not measured: no join of keys is begun that needs more than the time left


class ManyCoded:
    def __init__(self, coded: Coded, deadline: Deadline) -> None:
        self.tables = coded.tables
        self.sizes = tuple(table.rows for table in coded.tables)
        self.passed_over = False  # whether a predicate had too many keys, or the time was over
        self.deadline = deadline
        self._excluded = coded.excluded
        self._known = dict(self._single(coded))

    def _single(self, coded: Coded) -> Iterable[tuple[frozenset[Pair], Joined | None]]:
        """Predicates of one pair, counted two tables at a time; the other tables are multiplied in."""
        for x, y in itertools.combinations(range(len(self.tables)), 2):
            if self.deadline.is_over:
                self.passed_over = True
                return
            two = TwoCoded(coded.two(x, y))
            others = [table for table in range(len(self.tables)) if table not in (x, y)]
            times = math.prod(self.tables[table].rows for table in others)
            for pair, joined in two.root.children(two.pairs()).items() if times else ():
                matched = list(self.sizes)
                matched[x], matched[y] = joined.matched
                rows = joined.rows * times
                spread = joined.spread * times + joined.rows * times * math.log2(times)
                key = frozenset([(x, pair[1], y, pair[3])])
                yield key, Joined(tuple(matched), rows, joined.groups, spread, rows, self.sizes, False)

    @property
    def root(self) -> ManyGroups:
        return self.groups(())

    def groups(self, pairs: Sequence[Pair]) -> ManyGroups:
        return ManyGroups(self, pairs)

    def pairs(self) -> list[Pair]:
        return sorted(
            (x, a, y, b)
            for x, y in itertools.combinations(range(len(self.tables)), 2)
            for a in range(self.tables[x].width)
            for b in range(self.tables[y].width)
            if (x, a, y, b) not in self._excluded
        )

    def joined(self, pairs: Iterable[Pair]) -> Joined | None:
        """The counts of the join on these pairs; None if nothing joins."""
        key = frozenset(pairs)
        if key not in self._known and len(key) > 1:
            self._known[key] = self._count(sorted(key))
        return self._known.get(key)

    def _count(self, pairs: Sequence[Pair]) -> Joined | None:
        variables = _variables(pairs)
        matched = [0] * len(self.tables)
        rows, groups, spread = 1, 1, 0.0
        parts = list(_components(len(self.tables), pairs))
        for part in parts:
            keys = self._keys(part, variables)
            if keys is None or not len(keys.weights):
                return None
            sizes = keys.weights.prod(axis=1, dtype=np.int64)
            logs = float(sizes @ np.log2(sizes))
            mine = int(sizes.sum())
            rows, groups, spread = rows * mine, groups * len(sizes), spread * mine + logs * rows
            for place, table in enumerate(keys.tables):
                matched[table] = keys.matched(place)
        return Joined(tuple(matched), rows, groups, spread, rows, self.sizes, len(parts) == 1)

    def _keys(self, part: Sequence[int], variables: dict[tuple[int, int], int]) -> _Keys | None:
        found: _Keys | None = None
        waiting = list(part)
        while waiting:
            # A table that shares a variable with those before, so that nothing is multiplied out.
            table = next((t for t in waiting if found and found.shares(_names(t, variables))), waiting[0])
            waiting.remove(table)
            mine = self._distinct(table, variables)
            most = min(MOST_KEYS, int(self.deadline.left * _KEYS_A_SECOND))
            found = mine if found is None else found.join(mine, most)
            if found is None:
                self.passed_over = True
                return None
        return found

    def _distinct(self, table: int, variables: dict[tuple[int, int], int]) -> _Keys:
        names = sorted(set(_names(table, variables)))
        columns = []
        alive = np.ones(self.tables[table].rows, bool)
        for name in names:
            codes = [
                self.tables[table].codes[c] for (t, c), variable in variables.items() if (t, variable) == (table, name)
            ]
            for code in codes:
                alive &= (code >= 0) & (code == codes[0])
            columns.append(codes[0])
        if not names:
            once = np.zeros((1, 1), np.int64)
            return _Keys([table], [], np.empty((1, 0), np.int64), once + self.tables[table].rows, once)
        values, counts = np.unique(np.stack(columns, axis=1)[alive], axis=0, return_counts=True)
        return _Keys([table], names, values, counts[:, None], np.arange(len(values))[:, None])


class ManyGroups:
    """The joining groups of a predicate, as `Groups` for two tables."""

    def __init__(self, tables: ManyCoded, pairs: Sequence[Pair]) -> None:
        self.tables = tables
        self.at = tuple(pairs)

    def children(self, pairs: Sequence[Pair]) -> dict[Pair, Joined]:
        found = {}
        for pair in pairs:
            if self.tables.deadline.is_over:
                self.tables.passed_over = True
                break
            joined = self.tables.joined((*self.at, pair))
            if joined is not None:
                found[pair] = joined
        return found

    def closure(self, pairs: Sequence[Pair]) -> list[Pair]:
        here = self.tables.joined(self.at)
        return [pair for pair, joined in self.children(pairs).items() if here is not None and joined.rows == here.rows]


class _Keys:
    """Distinct values of some variables, and for each table how many of its rows, and which of its values, they are."""

    def __init__(self, tables: list[int], names: list[int], values: Array, weights: Array, origins: Array) -> None:
        self.tables, self.names, self.values = tables, names, values
        self.weights, self.origins = weights, origins

    def shares(self, names: Iterable[int]) -> bool:
        return not set(self.names).isdisjoint(names)

    def matched(self, place: int) -> int:
        """Rows of a table, each counted once, though its values may be in several keys."""
        _, first = np.unique(self.origins[:, place], return_index=True)
        return int(self.weights[first, place].sum())

    def join(self, other: _Keys, most: int) -> _Keys | None:
        """The natural join; None if it has more keys than allowed."""
        shared = [name for name in self.names if name in other.names]
        mine, theirs = _numbered(self._columns(shared), other._columns(shared))
        order = np.argsort(theirs, kind="stable")
        first, last = (np.searchsorted(theirs[order], mine, side) for side in ("left", "right"))
        size = int((last - first).sum())
        if size > most:
            return None
        left = np.repeat(np.arange(len(mine)), last - first)
        places = np.arange(size) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
        right = order[np.repeat(first, last - first) + places]
        fresh = [place for place, name in enumerate(other.names) if name not in self.names]
        return _Keys(
            self.tables + other.tables,
            self.names + [other.names[place] for place in fresh],
            np.concatenate([self.values[left], other.values[right][:, fresh]], axis=1),
            np.concatenate([self.weights[left], other.weights[right]], axis=1),
            np.concatenate([self.origins[left], other.origins[right]], axis=1),
        )

    def _columns(self, names: Sequence[int]) -> Array:
        found: Array = self.values[:, [self.names.index(name) for name in names]]
        return found


def spanning_tree(tables: int, edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the edges, best first, those that connect more tables (Kruskal)."""
    component = list(range(tables))
    chosen = []
    for x, y in edges:
        if component[x] != component[y]:
            chosen.append((x, y))
            component = [component[x] if each == component[y] else each for each in component]
    return chosen


def _numbered(mine: Array, theirs: Array) -> tuple[Array, Array]:
    """A number for each row, the same for the same values."""
    if not mine.shape[1]:
        return np.zeros(len(mine), np.int64), np.zeros(len(theirs), np.int64)
    _, numbers = np.unique(np.concatenate([mine, theirs]), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    return numbers[: len(mine)], numbers[len(mine) :]


def _names(table: int, variables: dict[tuple[int, int], int]) -> list[int]:
    return [variable for (t, _), variable in variables.items() if t == table]


def _variables(pairs: Iterable[Pair]) -> dict[tuple[int, int], int]:
    """For each table and column its variable."""
    classes: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for x, a, y, b in pairs:
        both = classes.get((x, a), {(x, a)}) | classes.get((y, b), {(y, b)})
        for column in both:
            classes[column] = both
    found: dict[tuple[int, int], int] = {}
    for column in sorted(classes):
        if column not in found:
            found.update(dict.fromkeys(sorted(classes[column]), len(set(found.values()))))
    return found


def _components(tables: int, pairs: Iterable[Pair]) -> Iterable[list[int]]:
    """The tables that pairs connect with each other."""
    of = list(range(tables))
    for x, _, y, _ in pairs:
        of = [of[x] if each == of[y] else each for each in of]
    for name in dict.fromkeys(of):
        yield [table for table in range(tables) if of[table] == name]
