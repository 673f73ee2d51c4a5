"""The k best closed predicates of some tables, by the enumeration tree of their pairs of columns.

Every closed predicate has one place in the tree: it extends its parent by a pair, closed under what then holds in every
joined row, and is dropped where that closure has a pair that was passed over (it has another place). Best bound first.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dovetail._deadline import Deadline
from dovetail.join.best_predicate.coding import Coded
from dovetail.join.best_predicate.groups import Groups, Pair, TwoCoded
from dovetail.join.best_predicate.many import ManyCoded, ManyGroups, spanning_tree
from dovetail.join.best_predicate.scores import Joined, Preference, Rank

_FOR_TWO = 0.3  # of the time, to search two tables at a time where there are more


@dataclass(frozen=True)
class Predicate:
    pairs: tuple[Pair, ...]
    joined: Joined
    rank: Rank  # equals go by the number of pairs, then by the pairs

    @property
    def score(self) -> float:
        return -self.rank[0]


@dataclass(frozen=True)
class Best:
    predicates: tuple[Predicate, ...]
    complete: bool  # false where the time was over before everything had been ruled out
    visited: int  # predicates whose groups were made


@dataclass(frozen=True, order=True)
class _Child:
    """A parent extended by a pair: counted, but without its groups."""

    order: tuple[Rank, tuple[Pair, ...], Pair]
    parent: tuple[Pair, ...] = field(compare=False)
    siblings: list[Pair] = field(compare=False)  # this one, and those that may be added after it
    place: int = field(compare=False)
    joined: Joined = field(compare=False)

    @property
    def pair(self) -> Pair:
        return self.siblings[self.place]


class Search:
    """One search. `closed` and `bounded` switch the two prunings off, to measure what they save."""

    def __init__(
        self,
        tables: TwoCoded | ManyCoded,
        preference: Preference,
        k: int,
        seconds: float | Deadline,
        closed: bool = True,
        bounded: bool = True,
    ) -> None:
        self._deadline = seconds if isinstance(seconds, Deadline) else Deadline(seconds)
        self._tables = tables
        self._preference = preference
        self._k = k
        self._closed, self._bounded = closed, bounded
        self._found: dict[tuple[Pair, ...], Predicate] = {}
        self._noted: dict[tuple[tuple[int, ...], int, int], Rank] = {}  # the k best; other counts, other predicates
        self._last: Rank | None = None  # of the last of these; None while there are fewer than k
        self._waiting: list[_Child] = []
        self._visited = 0

    def run(self, seeds: Iterable[tuple[Pair, ...]] = ()) -> Best:
        """`seeds` are likely to be good, so that much can be ruled out at once."""
        self._pairs = self._tables.joining(self._extend((), self._tables.root, self._tables.pairs()))
        for pairs in seeds:
            joined = self._tables.joined(pairs)
            if joined is not None and not self._deadline.is_over:
                self._note(joined)
                self._make(pairs, joined)
        while self._waiting and not self._deadline.is_over:
            self._visit(heapq.heappop(self._waiting))
        complete = not self._waiting and not self._tables.passed_over
        # What waits is counted; what it closes to takes a look.
        for child in heapq.nsmallest(self._k, self._waiting):
            self._make((*child.parent, child.pair), child.joined)
        best = sorted(self._found.values(), key=lambda found: (found.rank, len(found.pairs), found.pairs))
        return Best(tuple(best[: self._k]), complete, self._visited)

    def _visit(self, child: _Child) -> None:
        if self._is_hopeless(child.joined):
            return
        predicate, groups = self._make((*child.parent, child.pair), child.joined)
        later = child.siblings[child.place + 1 :] + self._tables.fresh(child.parent, child.pair)
        if self._closed and not set(predicate.pairs) <= {*child.parent, child.pair, *later}:
            return  # it has another place in the tree, and so does all that extends it
        if not self._cannot_grow(child.joined):
            parent = predicate.pairs if self._closed else (*child.parent, child.pair)
            self._extend(parent, groups, [pair for pair in later if pair not in parent], child.joined)

    def _make(self, pairs: tuple[Pair, ...], joined: Joined) -> tuple[Predicate, Groups | ManyGroups]:
        self._visited += 1
        groups = self._tables.groups(pairs)
        held = groups.closure([pair for pair in self._pairs if pair not in pairs])
        closed = tuple(sorted((*pairs, *held)))
        predicate = Predicate(closed, joined, self._preference.rank(joined))
        if joined.connected:
            self._found.setdefault(closed, predicate)
        return predicate, groups

    def _extend(
        self, parent: tuple[Pair, ...], groups: Groups | ManyGroups, pairs: Sequence[Pair], joined: Joined | None = None
    ) -> list[Pair]:
        """Queue the children of a predicate; returns the pairs with which anything joins.

        A pair that cannot be among the best here cannot be so further down, and is left out of its siblings' pairs.
        """
        children = groups.children(self._tables.promising(pairs, joined, self._is_hopeless))
        for child in children.values():
            self._note(child)
        kept = [pair for pair, child in children.items() if not self._is_hopeless(child)]
        for place, pair in enumerate(kept):
            order = self._preference.best_rank(children[pair]), parent, pair
            heapq.heappush(self._waiting, _Child(order, parent, kept, place, children[pair]))
        return list(children)

    def _note(self, joined: Joined) -> None:
        if not joined.connected:
            return
        self._noted[joined.matched, joined.rows, joined.groups] = self._preference.rank(joined)
        if len(self._noted) > self._k:
            del self._noted[max(self._noted, key=lambda counts: self._noted[counts])]
        if len(self._noted) == self._k:
            self._last = max(self._noted.values())

    def _is_hopeless(self, joined: Joined) -> bool:
        """Whether neither it nor what extends it can be among the best."""
        return self._bounded and self._last is not None and self._preference.best_rank(joined) > self._last

    def _cannot_grow(self, joined: Joined) -> bool:
        """The same for what extends it. That has fewer rows, or would be the same predicate."""
        if not self._bounded or self._last is None or not joined.connected:
            return False
        *most, least = self._preference.best_rank(joined)
        last = list(self._last[:2])
        return most > last or (most == last and least >= min(joined.rows, self._last[2] + 1))


def best_predicates(coded: Coded, preference: Preference, k: int = 1, seconds: float = 10.0) -> Best:
    """The k best closed predicates that connect all tables, or all of them if there are fewer."""
    deadline = Deadline(seconds)
    if len(coded.tables) == 2:
        return Search(TwoCoded(coded), preference, k, deadline).run()
    seeds = list(_seeds(coded, preference, k, seconds * _FOR_TWO))
    return Search(ManyCoded(coded, deadline), preference, k, deadline).run(seeds)


def _seeds(coded: Coded, preference: Preference, k: int, seconds: float) -> Iterable[tuple[Pair, ...]]:
    """The k best of two tables at a time, combined along trees: the best edges, and those of each table.

    Of every tree the best of all its edges, and with each of the others in place of one of them.
    """
    edges = list(itertools.combinations(range(len(coded.tables)), 2))
    best: dict[tuple[int, int], tuple[Predicate, ...]] = {}
    deadline = Deadline(seconds)
    for place, (x, y) in enumerate(edges):
        if deadline.is_over:
            break
        two = TwoCoded(coded.two(x, y))
        found = Search(two, preference, k, deadline.left / (len(edges) - place)).run().predicates
        if found:
            best[x, y] = found
    ranked = sorted(best, key=lambda edge: best[edge][0].rank)
    tables = range(len(coded.tables))
    orders = [ranked, *([*(edge for edge in ranked if table in edge), *ranked] for table in tables)]
    trees = dict.fromkeys(tuple(sorted(spanning_tree(len(tables), order))) for order in orders)
    for tree in trees:
        if len(tree) == len(tables) - 1:
            firsts = {edge: best[edge][0] for edge in tree}
            for chosen in [firsts, *(firsts | {edge: each} for edge in tree for each in best[edge][1:])]:
                yield tuple(sorted((x, a, y, b) for (x, y), each in chosen.items() for _, a, _, b in each.pairs))
