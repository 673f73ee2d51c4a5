"""Turns a request into questions for the engine, and their answers into ranked hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dovetail.errors import InputError
from dovetail.evidence.strength import POOR
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.hits import Hit, Hits
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import key_names, query_key
from dovetail.search.overlap.evidence import Evidence
from dovetail.tables.query import QueryColumn, QueryTable, query_table

# Columns of other kinds (fractions, booleans, nothing) are equal by chance or not at all.
_SENSIBLE = ("text", "mixed", "integer", "date", "timestamp")
HOWS = ("exact", "transform", "semantic")
_TRIED_A_COLUMN = 20
_NEAREST = 3
_MOST = 10


@dataclass(frozen=True)
class Request:
    """What to search for. `on`: my column or columns; `threshold`: the least share of mine, else the `k` best."""

    data: Any
    on: str | Sequence[str] | None = None
    k: int | None = None
    threshold: float | str | None = None
    tables: tuple[str, ...] = ()
    min_overlap: int = 1
    include_self: bool = False
    fast: bool = False  # from sketches, which may miss some
    how: str = "exact"  # one of HOWS
    tau: float | str | None = None  # semantic only: how far apart values may be

    @property
    def most(self) -> int:
        """How many hits there are without a threshold, but by near values."""
        return _MOST if self.k is None else self.k


def search(segments: Sequence[OpenSegment], request: Request) -> Hits:
    begun = time.perf_counter()
    threshold = _checked(request)
    table = query_table(request.data, segments)
    but = "" if request.include_self else table.path
    allowed = [segment.allowed(request.tables, but) for segment in segments]
    if request.how == "semantic":
        from dovetail.search.semantic.search import search_semantic

        return search_semantic(segments, request, threshold, table, allowed)
    names = () if request.on is None else key_names(table, request.on)
    if request.how == "transform":
        from dovetail.search.transform.search import search_transformed

        return search_transformed(segments, table, names, request.most, allowed, (threshold, request.min_overlap))
    asked = _Asked(segments, request, threshold, table, allowed, names[0] if names else None)
    if len(names) > 1:
        return asked.key(names, begun)
    hits = asked.one_column(names[0]) if names else asked.every_column()
    nothing, nearest = ("", []) if hits else asked.nothing()
    how = "overlap" if threshold is None else "containment"
    return Hits(hits, table.name, how, not request.fast, time.perf_counter() - begun, nothing, nearest)


def _checked(request: Request) -> Fraction | None:
    if request.how not in HOWS:
        raise InputError(f"There is no search {request.how!r}. The kinds are: {', '.join(HOWS)}.")
    if request.how == "semantic" and (request.fast or request.min_overlap > 1):
        raise InputError("--fast and --min-overlap are for exact search; --threshold says how much must match.")
    if request.how != "semantic" and request.tau is not None:
        raise InputError("tau is for search by spelling or meaning: add --how semantic.")
    for name, value in (("k", request.most), ("min_overlap", request.min_overlap)):
        if not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}; it must be a whole number, at least 1.")
    if request.fast and request.how != "exact":
        raise InputError("Sketches find equal values only: leave out --fast, or --how.")
    if request.threshold is None:
        return None
    try:
        threshold = Fraction(str(request.threshold))
    except ValueError:
        raise InputError(f"The threshold {request.threshold!r} is not a number; it is a share such as 0.7.") from None
    if not 0 < threshold <= 1:
        raise InputError(f"The threshold is {request.threshold}; it must be above 0 and at most 1, e.g. 0.7.")
    return threshold


def _sensible(table: QueryTable) -> list[QueryColumn]:
    return [column for column in table.columns if column.type.kind in _SENSIBLE and column.size > 1]


@dataclass(frozen=True)
class _Pair:
    """A column of mine and one of the lake, and what they are worth together."""

    score: float
    match: Match
    evidence: Evidence

    def hit(self, rank: int = 0) -> Hit:
        return self.evidence.hit(self.match, rank, self.score)


@dataclass(frozen=True)
class _Asked:
    """One request, and what it is asked of."""

    segments: Sequence[OpenSegment]
    request: Request
    threshold: Fraction | None
    table: QueryTable
    allowed: list[Any]
    on: str | None

    def key(self, names: tuple[str, ...], begun: float) -> Hits:
        """Tables that hold the tuples of several columns of mine."""
        if self.request.fast:
            raise InputError("Sketches are of single columns: leave out --fast, or name one column.")
        key = query_key(self.table, names)
        k, floor = self.request.most, self.request.min_overlap
        if self.threshold is not None:
            k, floor = sum(map(len, self.allowed)) + 1, max(floor, least_overlap(self.threshold, key.size))
        matches, exact = engine.together(self.segments, key, k, floor, self.allowed)
        hits = [key_hit(key, match, rank) for rank, match in enumerate(matches, 1)]
        where = " that was asked for" if self.request.tables else " of the lake"
        least = "a tuple" if floor == 1 else f"{floor:,} tuples"
        nothing = "" if hits else f"No table{where} holds {least} of {', '.join(names)} of {self.table.name}."
        return Hits(hits, self.table.name, "keys", exact, time.perf_counter() - begun, nothing)

    def one_column(self, name: str) -> list[Hit]:
        column = self.table.column(name)
        if column.size == 0:
            raise InputError(f"{name} of {self.table.name} has no values to join on: all are empty or null markers.")
        evidence = Evidence(self.segments, column)
        matches = self._ask(column, self.request.most)
        return [evidence.hit(match, rank, float(match.overlap)) for rank, match in enumerate(matches, 1)]

    def every_column(self) -> list[Hit]:
        """The best pair of columns of each table. What is poor is left out, unless the user has said what is not."""
        best = self._best_of_each_table(self._ask)
        said = self.request.min_overlap > 1 or self.threshold is not None
        good = [pair for pair in best if said or pair.score >= POOR]
        return [pair.hit(rank) for rank, pair in enumerate(good[: self.request.most], 1)]

    def nothing(self) -> tuple[str, list[Hit]]:
        """That there is no hit, and what comes nearest."""
        request, name = self.request, self.table.name
        columns = _sensible(self.table) if self.on is None else [self.table.column(self.on)]
        if not columns:
            return f"{name} has no column to try: none of text, whole numbers or dates with more than one value.", []
        nearest = [pair.hit() for pair in self._best_of_each_table(self._most)[:_NEAREST]]
        mine = name if self.on is None else f"{self.on} of {name}"
        where = " that was asked for" if request.tables else " of the lake"
        if not nearest:
            return f"No column{where} shares a value with {mine}.", []
        if self.threshold is not None:
            return f"No column{where} holds {float(self.threshold):.0%} of the values of {mine}.", nearest
        if request.min_overlap > 1:
            return f"No column{where} shares {request.min_overlap:,} values with {mine}.", nearest
        return f"No table{where} joins well with {mine}.", nearest

    def _ask(self, column: QueryColumn, k: int) -> list[Match]:
        least, fast = self.request.min_overlap, self.request.fast
        if self.threshold is None:
            return engine.top(self.segments, column.tokens, k, least, self.allowed, fast)
        return engine.containing(self.segments, column.tokens, self.threshold, least, self.allowed, fast)

    def _most(self, column: QueryColumn, k: int) -> list[Match]:
        return engine.top(self.segments, column.tokens, k, 1, self.allowed)

    def _best_of_each_table(self, ask: Callable[[QueryColumn, int], list[Match]]) -> list[_Pair]:
        """The best pair of columns of each table, best first."""
        pairs = []
        for column in _sensible(self.table) if self.on is None else [self.table.column(self.on)]:
            evidence = Evidence(self.segments, column)
            for match in ask(column, max(self.request.most, _TRIED_A_COLUMN)):
                pairs.append(_Pair(evidence.strength(match), match, evidence))
        best: dict[str, _Pair] = {}
        for pair in sorted(pairs, key=lambda pair: (-pair.score, *pair.match.order)):
            best.setdefault(pair.match.table, pair)
        return list(best.values())
