"""Turns a request into questions for the engine, and the answers into ranked hits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from dovetail._model import Model, load_model
from dovetail._types import Array
from dovetail.catalog.decisions import Decisions
from dovetail.errors import InputError
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search import engine
from dovetail.search.copies import fold, groups_of_copies
from dovetail.search.decided import QueryDecisions, ranked
from dovetail.search.engine import Match
from dovetail.search.hit import Hit
from dovetail.search.hits import Hits
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import query_key
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.ranking.features import FEATURES
from dovetail.search.ranking.lake import LakeColumns
from dovetail.search.ranking.rank import MOST_OVERLAP, Ranker, is_tried
from dovetail.search.ranking.reasons import reasons
from dovetail.search.request import SearchRequest
from dovetail.tables.column_names import column_list
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable, open_table
from dovetail.ways import ChosenWay

POOR = 0.04  # the probability below which a match is not worth a line; arbitrary: one in twenty-five makes sense
_NEAREST = 3  # named if there is no hit
_STEPS = (1, 4, 16)  # times the hits that are wanted: asked for one after another as long as most are near-copies
M = TypeVar("M")

JudgeUnions = Callable[[InputTable, Sequence[Array], Hits], Hits]
"""Adds to the hits of a table how likely each is a union, and other tables to append; the array says of each segment
which tables may be hits."""


def search(
    segments: Sequence[OpenSegment],
    request: SearchRequest,
    decisions: Decisions | None = None,
    lake: Callable[[], LakeColumns] | None = None,
    judge_unions: JudgeUnions | None = None,
) -> Hits:
    """The answer to one request.

    `lake` gives the columns of the segments, if they are kept between questions; `judge_unions` says of exact hits how
    likely they are rather to be appended.
    """
    begun = time.perf_counter()
    table = open_table(request.data, segments=segments)
    decided = QueryDecisions({} if decisions is None else decisions.of(table.id))
    but = "" if request.include_self or table.address is None else table.address
    allowed = [segment.allowed(request.tables, but) for segment in segments]
    if request.by == "semantic":
        from dovetail.search.semantic.search import search_semantic

        return _folded(segments, request, search_semantic(segments, request, table, allowed, decided))
    names = () if request.on is None else column_list(request.on, table.names)
    for name in names:
        table.column(name)  # raises where there is none
    least = request.share, request.min_overlap
    if request.by == "parts":
        from dovetail.search.parts.search import search_parts

        return _folded(segments, request, search_parts(segments, table, names, request.most, allowed, least, decided))
    if request.by == "transform":
        from dovetail.search.transform.search import search_transformed

        found = search_transformed(segments, table, names, request.most, allowed, least, decided)
        return _folded(segments, request, found)
    if request.by == "through":
        from dovetail.search.through.search import search_through

        return _folded(segments, request, search_through(segments, table, names, request.most, allowed, decided))
    columns = lake or (lambda: LakeColumns(segments))
    planner = _Planner(segments, request, table, allowed, names[0] if names else None, decided, columns)
    if len(names) > 1:
        return planner.key(names, begun)
    hits = planner.one_column(names[0]) if names else planner.every_column()
    nothing, nearest = ("", []) if hits else planner.nothing()
    if nothing and decided.rejections:
        nothing += f" What you rejected is left out (pairs of columns: {decided.rejections})."
    question = "overlap" if request.share is None else "containment"
    found = Hits(hits, table.name, "equal", question, not request.fast, time.perf_counter() - begun, nothing, nearest)
    return judge_unions(table, allowed, found) if judge_unions and found.exact and not names else found


def _folded(segments: Sequence[OpenSegment], request: SearchRequest, hits: Hits) -> Hits:
    if not request.copies:
        hits[:] = ranked(fold(segments, hits))
    return hits


def _named(match: Match) -> tuple[str, tuple[str, ...]]:
    """The table and column of a match."""
    return match.table, (match.segment.catalog.columns["column"][match.column].as_py(),)


def _columns_to_try(table: InputTable) -> list[InputColumn]:
    return [column for column in table.columns if is_tried(column)]


@dataclass(frozen=True)
class _Candidate:
    """A column of mine and one of the lake, and how likely a person would join on them."""

    score: float
    match: Match
    evidence: Evidence
    features: Array
    composite: Hit | None = None  # several columns, where they are better
    copies: tuple[str, ...] = ()  # tables

    def hit(self, model: Model, rank: int = 0) -> Hit:
        for_it, against = reasons(model, self.features)
        hit = self.composite or self.evidence.hit(self.match, rank, self.score)
        return replace(hit, rank=rank, score=self.score, reasons=for_it, objections=against, copies=self.copies)


class _Planner:
    """A search by equal values."""

    def __init__(
        self,
        segments: Sequence[OpenSegment],
        request: SearchRequest,
        table: InputTable,
        allowed: list[Any],
        on: str | None,
        decided: QueryDecisions,
        lake: Callable[[], LakeColumns],
    ) -> None:
        self.segments, self.request, self.table = segments, request, table
        self._lake = lake
        self.allowed = allowed  # of each segment, which tables may be hits
        self.on = on
        self.decided = decided
        self._evidence: dict[str, Evidence] = {}

    @cached_property
    def way(self) -> ChosenWay:
        """The algorithm for single columns."""
        return self.request.way_of("overlap")

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
        way = key.placed(self.request.way_of("keys"))
        floor, exact = self.request.min_overlap, True
        if self.request.share is not None:
            floor = max(floor, least_overlap(self.request.share, key.size))

        def ask(most: int) -> list[Hit]:
            nonlocal exact
            k = most if self.request.share is None else sum(map(len, self.allowed)) + 1
            matches, exact = engine.together(self.segments, key, k + self.decided.rejections, floor, self.allowed, way)
            found = (key_hit(key, match, 0) for match in matches)
            return [hit for hit in found if not self._rejects(hit)][:k]

        offered = self._without_copies(ask, lambda hit: (hit.table, hit.columns))
        hits = self._with_accepted(ranked(replace(hit, copies=copies) for hit, copies in offered), names)
        least = "a tuple" if floor == 1 else f"{floor:,} tuples"
        nothing = "" if hits else f"No table{self._where} contains {least} of {', '.join(names)} of {self.table.name}."
        return Hits(hits, self.table.name, "equal", "keys", exact, time.perf_counter() - begun, nothing)

    def one_column(self, name: str) -> list[Hit]:
        column = self.table.column(name)
        if column.size == 0:
            raise InputError(f"{name} of {self.table.name} has no values to join on: all are empty or null.")
        evidence = self.evidence(column)
        found = self._without_copies(lambda most: self._ask(column, most), _named)
        hits = [replace(evidence.hit(match, 0, float(match.overlap)), copies=copies) for match, copies in found]
        return self._with_accepted(ranked(hits), (name,))

    def _without_copies(
        self, ask: Callable[[int], list[M]], named: Callable[[M], tuple[str, tuple[str, ...]]]
    ) -> list[tuple[M, tuple[str, ...]]]:
        """Matches that are no near-copies of each other, and the tables that are near-copies of each.

        `ask` finds so many, best first. It is asked for more as long as near-copies leave too few.
        """
        most, share = self.request.most, self.request.share
        if self.request.copies:
            return [(match, ()) for match in ask(most)]
        for more in (most * step for step in _STEPS):
            found = ask(more)
            names = [named(match) for match in found]
            groups = groups_of_copies(self.segments, names)
            if len(groups) >= most or len(found) < more or share is not None:
                break
        chosen = groups if share is not None else groups[:most]
        return [(found[first], tuple(names[other][0] for other in others)) for first, *others in chosen]

    def every_column(self) -> list[Hit]:
        """The best pair of columns of each table. Poor ones are left out, unless the request sets a limit."""
        good = [candidate for candidate in self._ranked if self._has_limit or candidate.score >= POOR]
        hits = [candidate.hit(self._model, rank) for rank, candidate in enumerate(good[: self.request.most], 1)]
        return self._with_accepted(hits)

    @property
    def _has_limit(self) -> bool:
        """Whether the request says how many values a hit must share, of one column."""
        return self.request.min_overlap > 1 or self.request.share is not None

    def _with_accepted(self, hits: list[Hit], names: Sequence[str] = ()) -> list[Hit]:
        """The pairs that a person accepted, then the other hits; without names, each table on its best columns."""
        first = self.decided.accepted(self.segments, self.allowed, self.table, names)
        if not first:
            return hits
        copies = {hit.table: hit.copies for hit in hits}
        first = [replace(hit, copies=copies.get(hit.table, ())) for hit in first]
        known = {(hit.table, frozenset(hit.pairs if names else ())) for hit in first}
        accepted = {hit.table for hit in first}
        others = [
            replace(hit, copies=tuple(table for table in hit.copies if table not in accepted))
            for hit in hits
            if (hit.table, frozenset(hit.pairs if names else ())) not in known
        ]
        most = self.request.most if not names or self.request.share is None else None
        return ranked([*first, *others][:most])

    @cached_property
    def _model(self) -> Model:
        return load_model("search", FEATURES)

    @cached_property
    def _ranked(self) -> list[_Candidate]:
        """The best pair of columns of each table, best first."""
        if not self.segments:
            return []
        asked = None
        if self.request.share is not None:
            tried = [(place, column) for place, column in enumerate(self.table.columns) if is_tried(column)]
            asked = {place: self._ask(column, max(self.request.most, MOST_OVERLAP)) for place, column in tried}
        lake, request = self._lake(), self.request
        several = not self._has_limit
        ranking = self._ranker(lake).rank(self._model, request.most, asked, request.copies, request.fast, several)
        pairs, tables = ranking.pairs, lake.table_of[ranking.pairs.theirs].tolist()
        copies = lake.copies_of(tables, ranking.groups)
        scores = self._model.probability(ranking.features).tolist()
        return [
            _Candidate(
                scores[place], Match(*lake.place_of(int(pairs.theirs[place])), int(pairs.keys[place])),
                self.evidence(self.table.columns[pairs.mine[place]]), ranking.features[place],
                ranking.composites[place], copies[table],
            )
            for place, table in enumerate(tables)
            if table in copies
        ]  # fmt: skip

    def _ranker(self, lake: LakeColumns) -> Ranker:
        allowed = np.concatenate(engine.columns_of(self.segments, self.allowed))
        evidence = [self.evidence(column) for column in self.table.columns]
        floors = [self._floor(column) for column in self.table.columns]
        rejected = set(self._rejected(lake))
        return Ranker(lake, self.table, allowed, evidence, floors, rejected, self._rejects, self.way)

    def _rejects(self, hit: Hit) -> bool:
        return self.decided.rejects(hit.on, hit.table, hit.columns)

    def _rejected(self, lake: LakeColumns) -> Iterator[tuple[int, int]]:
        """Pairs that a person rejected: the places of my columns, and columns of the lake by their numbers."""
        for mine, table, theirs in self.decided.rejected_columns():
            if mine in self.table.names:
                yield from ((self.table.names.index(mine), column) for column in lake.columns_called(table, theirs))

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
        nearest = self._nearest()
        mine = name if self.on is None else f"{self.on} of {name}"
        if not nearest:
            return f"No column{self._where} shares a value with {mine}.", []
        if request.share is not None:
            return f"No column{self._where} contains {float(request.share):.0%} of the values of {mine}.", nearest
        if request.min_overlap > 1:
            return f"No column{self._where} shares {request.min_overlap:,} values with {mine}.", nearest
        return f"No table{self._where} joins well with {mine}.", nearest

    def _nearest(self) -> list[Hit]:
        """The best that were not good enough."""
        if self.on is None and self.request.share is None and self.request.min_overlap == 1:
            return [candidate.hit(self._model) for candidate in self._ranked[:_NEAREST]]
        found = []
        for column in _columns_to_try(self.table) if self.on is None else [self.table.column(self.on)]:
            matches = engine.top(self.segments, column.tokens, MOST_OVERLAP, 1, self.allowed)
            found += [
                (-match.overlap / column.size, match.order, match, column)
                for match in matches
                if not self.decided.rejects_match((column.name,), match)
            ]
        best: dict[str, Hit] = {}
        for share, _, match, column in sorted(found, key=lambda entry: entry[:2]):
            if match.table not in best and len(best) < _NEAREST:
                best[match.table] = self.evidence(column).hit(match, 0, -share)
        return list(best.values())

    def _ask(self, column: InputColumn, k: int) -> list[Match]:
        least, fast, share = self.request.min_overlap, self.request.fast, self.request.share
        if share is None:
            more = k + self.decided.rejections
            found = engine.top(self.segments, column.tokens, more, least, self.allowed, fast, self.way)
        else:
            found = engine.containing(self.segments, column.tokens, share, least, self.allowed, fast, self.way)
        offered = [match for match in found if not self.decided.rejects_match((column.name,), match)]
        return offered if share is not None else offered[:k]
