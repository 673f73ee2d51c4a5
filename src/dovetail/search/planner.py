"""Turns a request into questions for the engine, and the answers into ranked hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.errors import InputError
from dovetail.evidence.strength import POOR
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.hits import Hit, Hits
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import query_key
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.request import SearchRequest
from dovetail.tables.column_names import column_list
from dovetail.tables.input_table import InputColumn, InputTable, open_table

# Columns of other kinds (fractions, booleans, nothing) are equal by chance or not at all.
_TRIED_TYPES = ("text", "mixed", "integer", "date", "timestamp")
_TRIED_A_COLUMN = 20  # columns of the lake for each column of mine; arbitrary, twice the usual number of hits
_NEAREST = 3  # named if there is no hit


def search(segments: Sequence[OpenSegment], request: SearchRequest) -> Hits:
    begun = time.perf_counter()
    table = open_table(request.data, segments=segments)
    but = "" if request.include_self or table.path is None else str(table.path.resolve())
    allowed = [segment.allowed(request.tables, but) for segment in segments]
    if request.by == "semantic":
        from dovetail.search.semantic.search import search_semantic

        return search_semantic(segments, request, table, allowed)
    names = () if request.on is None else column_list(request.on, table.names)
    for name in names:
        table.column(name)  # raises where there is none
    if request.by == "transform":
        from dovetail.search.transform.search import search_transformed

        least = request.share, request.min_overlap
        return search_transformed(segments, table, names, request.most, allowed, least)
    planner = _Planner(segments, request, table, allowed, names[0] if names else None)
    if len(names) > 1:
        return planner.key(names, begun)
    hits = planner.one_column(names[0]) if names else planner.every_column()
    nothing, nearest = ("", []) if hits else planner.nothing()
    question = "overlap" if request.share is None else "containment"
    return Hits(hits, table.name, "equal", question, not request.fast, time.perf_counter() - begun, nothing, nearest)


def _columns_to_try(table: InputTable) -> list[InputColumn]:
    return [column for column in table.columns if column.type.kind in _TRIED_TYPES and column.size > 1]


@dataclass(frozen=True)
class _Candidate:
    """A column of mine and one of the lake, and how strong their match is."""

    score: float
    match: Match
    evidence: Evidence

    def hit(self, rank: int = 0) -> Hit:
        return self.evidence.hit(self.match, rank, self.score)

    @property
    def order(self) -> tuple[Any, ...]:
        return (-self.score, *self.match.order)


class _Planner:
    """A search by equal values."""

    def __init__(
        self,
        segments: Sequence[OpenSegment],
        request: SearchRequest,
        table: InputTable,
        allowed: list[Any],
        on: str | None,
    ) -> None:
        self.segments, self.request, self.table = segments, request, table
        self.allowed = allowed  # of each segment, which tables may be hits
        self.on = on
        self._evidence: dict[str, Evidence] = {}

    def evidence(self, column: InputColumn) -> Evidence:
        """The evidence for matches of a column; the dictionaries are looked up once."""
        if column.name not in self._evidence:
            self._evidence[column.name] = Evidence(self.segments, column)
        return self._evidence[column.name]

    def key(self, names: tuple[str, ...], begun: float) -> Hits:
        """Tables that contain the tuples of several columns of mine."""
        if self.request.fast:
            raise InputError("`fast` takes one column; `on` names several.")
        key = query_key(self.table, names)
        k, floor = self.request.most, self.request.min_overlap
        if self.request.share is not None:
            k, floor = sum(map(len, self.allowed)) + 1, max(floor, least_overlap(self.request.share, key.size))
        matches, exact = engine.together(self.segments, key, k, floor, self.allowed)
        hits = [key_hit(key, match, rank) for rank, match in enumerate(matches, 1)]
        least = "a tuple" if floor == 1 else f"{floor:,} tuples"
        nothing = "" if hits else f"No table{self._where} contains {least} of {', '.join(names)} of {self.table.name}."
        return Hits(hits, self.table.name, "equal", "keys", exact, time.perf_counter() - begun, nothing)

    def one_column(self, name: str) -> list[Hit]:
        column = self.table.column(name)
        if column.size == 0:
            raise InputError(f"{name} of {self.table.name} has no values to join on: all are empty or null.")
        evidence = self.evidence(column)
        matches = self._ask(column, self.request.most)
        return [evidence.hit(match, rank, float(match.overlap)) for rank, match in enumerate(matches, 1)]

    def every_column(self) -> list[Hit]:
        """The best pair of columns of each table. Poor ones are left out, unless the request sets a limit."""
        best = self._best_of_each_table(self._ask)
        said = self.request.min_overlap > 1 or self.request.share is not None
        good = [candidate for candidate in best if said or candidate.score >= POOR][: self.request.most]
        ranked = sorted(map(self._best_in_its_table, good), key=lambda candidate: candidate.order)
        return [candidate.hit(rank) for rank, candidate in enumerate(ranked, 1)]

    def _best_in_its_table(self, candidate: _Candidate) -> _Candidate:
        """The best pair of columns with the candidate's table.

        A column asks for its best few of the whole lake, so the best pair of a table may not be among those found.
        """
        match = candidate.match
        places = match.segment.catalog.column_range(int(match.segment.table_of[match.column]))
        found = [candidate]
        for column in _columns_to_try(self.table):
            evidence = self.evidence(column)
            for place in places:
                overlap = evidence.overlap(match.segment, place)
                if overlap >= self._floor(column):
                    other = Match(match.segment, place, overlap)
                    found.append(_Candidate(evidence.strength(other), other, evidence))
        return min(found, key=lambda each: each.order)

    def _floor(self, column: InputColumn) -> int:
        share = self.request.share
        return max(self.request.min_overlap, 1 if share is None else least_overlap(share, column.size))

    @property
    def _where(self) -> str:
        return f" that matches {' or '.join(self.request.tables)}" if self.request.tables else " of the lake"

    def nothing(self) -> tuple[str, list[Hit]]:
        """The sentence for no hits, and the nearest matches."""
        request, name = self.request, self.table.name
        columns = _columns_to_try(self.table) if self.on is None else [self.table.column(self.on)]
        if not columns:
            return (
                f"{name} has no column to search with: text, whole numbers or dates, and more than one value.",
                [],
            )
        if request.tables and not any(mask.any() for mask in self.allowed):
            return f"No table of the lake matches {' or '.join(request.tables)}.", []
        nearest = [candidate.hit() for candidate in self._best_of_each_table(self._most)[:_NEAREST]]
        mine = name if self.on is None else f"{self.on} of {name}"
        if not nearest:
            return f"No column{self._where} shares a value with {mine}.", []
        if request.share is not None:
            return f"No column{self._where} contains {float(request.share):.0%} of the values of {mine}.", nearest
        if request.min_overlap > 1:
            return f"No column{self._where} shares {request.min_overlap:,} values with {mine}.", nearest
        return f"No table{self._where} joins well with {mine}.", nearest

    def _ask(self, column: InputColumn, k: int) -> list[Match]:
        least, fast = self.request.min_overlap, self.request.fast
        if self.request.share is None:
            return engine.top(self.segments, column.tokens, k, least, self.allowed, fast)
        return engine.containing(self.segments, column.tokens, self.request.share, least, self.allowed, fast)

    def _most(self, column: InputColumn, k: int) -> list[Match]:
        return engine.top(self.segments, column.tokens, k, 1, self.allowed)

    def _best_of_each_table(self, ask: Callable[[InputColumn, int], list[Match]]) -> list[_Candidate]:
        """The best pair of columns of each table, best first."""
        found = []
        for column in _columns_to_try(self.table) if self.on is None else [self.table.column(self.on)]:
            evidence = self.evidence(column)
            for match in ask(column, max(self.request.most, _TRIED_A_COLUMN)):
                found.append(_Candidate(evidence.strength(match), match, evidence))
        best: dict[str, _Candidate] = {}
        for candidate in sorted(found, key=lambda each: each.order):
            best.setdefault(candidate.match.table, candidate)
        return list(best.values())
