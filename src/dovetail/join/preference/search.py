"""The k best closed predicates of two tables, by the enumeration tree of their pairs of columns.

Every closed predicate has one place in the tree: it extends its parent by a pair, closed under what then holds in every
joined row, and is dropped where that closure has a pair before the added one (it stands elsewhere). Best score first.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from dovetail.join.preference.coding import Coded
from dovetail.join.preference.groups import Groups, Pair, TwoCoded
from dovetail.join.preference.scores import Joined, Preference

Rank = tuple[float, int, int, tuple[Pair, ...]]
"""What sorts predicates, the best first: score (negative), joined rows, number of pairs, the pairs."""


@dataclass(frozen=True)
class Predicate:
    pairs: tuple[Pair, ...]
    score: float
    joined: Joined

    @property
    def rank(self) -> Rank:
        return -self.score, self.joined.rows, len(self.pairs), self.pairs


@dataclass(frozen=True)
class Best:
    predicates: tuple[Predicate, ...]
    complete: bool  # false where the time was over before everything had been ruled out
    visited: int  # predicates whose groups were made


@dataclass(frozen=True, order=True)
class _Child:
    """A parent extended by a pair, counted, not yet made."""

    order: tuple[float, int, tuple[Pair, ...], Pair]
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
        self, coded: Coded, preference: Preference, k: int, seconds: float, closed: bool = True, bounded: bool = True
    ) -> None:
        self._ends = time.perf_counter() + seconds
        self._tables = TwoCoded(coded)
        self._preference = preference
        self._k = k
        self._closed, self._bounded = closed, bounded
        self._found: dict[tuple[Pair, ...], Predicate] = {}
        self._noted: set[tuple[float, Joined]] = set()  # the best so far; other counts are other predicates
        self._last: tuple[float, int] | None = None  # score (negative) and rows of the last of the k best so far
        self._waiting: list[_Child] = []
        self._visited = 0

    def run(self) -> Best:
        everything = [(a, b) for a in range(self._tables.left.width) for b in range(self._tables.right.width)]
        self._pairs = self._extend((), self._tables.root, everything)
        while self._waiting and time.perf_counter() < self._ends:
            self._visit(heapq.heappop(self._waiting))
        complete = not self._waiting
        # What waits is counted; what it closes to takes a look.
        for child in heapq.nsmallest(self._k, self._waiting):
            self._make(child)
        best = sorted(self._found.values(), key=lambda predicate: predicate.rank)
        return Best(tuple(best[: self._k]), complete, self._visited)

    def _visit(self, child: _Child) -> None:
        if self._is_hopeless(child.joined):
            return
        predicate, groups = self._make(child)
        if self._closed and min(set(predicate.pairs) - set(child.parent)) < child.pair:
            return  # it stands at another place of the tree, and all that extends it too
        if not self._cannot_grow(child.joined):
            parent = predicate.pairs if self._closed else (*child.parent, child.pair)
            later = child.siblings[child.place + 1 :]
            self._extend(parent, groups, [pair for pair in later if pair not in parent])

    def _make(self, child: _Child) -> tuple[Predicate, Groups]:
        self._visited += 1
        pairs = (*child.parent, child.pair)
        groups = self._tables.groups(pairs)
        held = groups.closure([pair for pair in self._pairs if pair not in pairs])
        predicate = Predicate(tuple(sorted((*pairs, *held))), self._preference.score(child.joined), child.joined)
        return self._found.setdefault(predicate.pairs, predicate), groups

    def _extend(self, parent: tuple[Pair, ...], groups: Groups, pairs: Sequence[Pair]) -> list[Pair]:
        """Queue the children of a predicate; returns the pairs with which anything joins.

        A pair that cannot be among the best here can be so nowhere below, and is left out of its siblings' pairs.
        """
        children = groups.children(pairs)
        for joined in children.values():
            self._note(joined)
        kept = [pair for pair, joined in children.items() if not self._is_hopeless(joined)]
        for place, pair in enumerate(kept):
            joined = children[pair]
            order = (-self._preference.score(joined), joined.rows, parent, pair)
            heapq.heappush(self._waiting, _Child(order, parent, kept, place, joined))
        return list(children)

    def _note(self, joined: Joined) -> None:
        self._noted.add((-self._preference.score(joined), joined))
        if len(self._noted) > self._k:
            self._noted.remove(max(self._noted, key=lambda entry: (entry[0], entry[1].rows)))
        if len(self._noted) == self._k:
            self._last = max((score, joined.rows) for score, joined in self._noted)

    def _is_hopeless(self, joined: Joined) -> bool:
        """Whether neither it nor what extends it can be among the best: not by score, nor among equals by rows."""
        most = -self._preference.bound(joined), self._preference.least_rows(joined)
        return self._bounded and self._last is not None and most > self._last

    def _cannot_grow(self, joined: Joined) -> bool:
        """The same of what extends it only: whatever that is, it has fewer rows."""
        if not self._bounded or self._last is None:
            return False
        most, least = -self._preference.bound(joined), self._preference.least_rows(joined)
        return most > self._last[0] or (most == self._last[0] and least >= min(joined.rows, self._last[1] + 1))


def best_predicates(coded: Coded, preference: Preference, k: int = 1, seconds: float = 10.0) -> Best:
    return Search(coded, preference, k, seconds).run()
