"""Tables with a column that shares the values of one of mine: of the one that is named, or of any."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dovetail._model import Model, load_model
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.thresholds import SHOWN_HIT
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.search import engine
from dovetail.search.decided import ranked
from dovetail.search.engine import Match
from dovetail.search.hit import Hit
from dovetail.search.hits import Hits
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.query import Query
from dovetail.search.ranking.features import FEATURES
from dovetail.search.ranking.rank import MOST_OVERLAP, Ranker, is_tried
from dovetail.search.ranking.reasons import reasons
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

_MOST_TIES = 1_000  # matches with the overlap of the last one that are compared; arbitrary, a tenth of a second
_NEAREST = 3  # named if there is no hit


def search_columns(query: Query, lake: Callable[[], LakeColumns]) -> Hits:
    """The hits of the column that the request names, or of every column; `lake` gives the columns of the lake."""
    request, search = query.request, _ColumnSearch(query, lake)
    hits, note = search.one_column(query.names[0]) if query.names else search.every_column()
    nothing, nearest = ("", []) if hits else search.nothing()
    if nothing and query.decided.rejections:
        nothing += f" What you rejected is left out (pairs of columns: {query.decided.rejections})."
    question = "overlap" if request.share is None else "containment"
    seconds = time.perf_counter() - query.begun
    return Hits(hits, query.table.name, "equal", question, not request.fast, seconds, nothing, nearest, note)


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


class _ColumnSearch:
    """A search by the values of single columns."""

    def __init__(self, query: Query, lake: Callable[[], LakeColumns]) -> None:
        self.query, self._lake = query, lake
        self.segments, self.request, self.table = query.segments, query.request, query.table
        self.on = query.names[0] if query.names else None
        self._evidence: dict[str, Evidence] = {}

    def evidence(self, column: InputColumn) -> Evidence:
        """The evidence for matches of a column; the dictionaries are looked up once."""
        if column.name not in self._evidence:
            self._evidence[column.name] = Evidence(self.segments, column)
        return self._evidence[column.name]

    def one_column(self, name: str) -> tuple[list[Hit], str]:
        """The columns that share values with one of mine; and what a limit left out."""
        column = self.table.column(name)
        if column.size == 0:
            raise InputError(f"{name} of {self.table.name} has no values to join on: all are empty or null.")
        evidence = self.evidence(column)
        found, note = self.query.without_copies(lambda most: self._ask(column, most), _named)
        hits = [replace(evidence.hit(match, 0, float(match.overlap)), copies=copies) for match, copies in found]
        return self.query.with_accepted(ranked(sorted(hits, key=lambda hit: hit.order))), note

    def every_column(self) -> tuple[list[Hit], str]:
        """The best pair of columns of each table; and what a limit left out.

        Poor ones are left out, unless the request says how many values a hit must share.
        """
        good = [candidate for candidate in self._ranked if self._has_limit or candidate.score >= SHOWN_HIT]
        hits = [candidate.hit(self._model, rank) for rank, candidate in enumerate(good[: self.request.most], 1)]
        return self.query.with_accepted(hits), self.query.left_out(len(good))

    @property
    def _has_limit(self) -> bool:
        """Whether the request says how many values a hit must share, of one column."""
        return self.request.min_overlap > 1 or self.request.share is not None

    @cached_property
    def _model(self) -> Model:
        return load_model("search", FEATURES)

    @cached_property
    def _ranked(self) -> list[_Candidate]:
        """The best pair of columns of each table, best first."""
        if not self.segments:
            return []
        asked, most = None, self.request.most
        if self.request.share is not None:
            tried = [(place, column) for place, column in enumerate(self.table.columns) if is_tried(column)]
            asked, most = {place: self._ask(column, None) for place, column in tried}, None
        lake, request = self._lake(), self.request
        ranking = self._ranker(lake).rank(
            self._model, most, asked, not request.folds_copies, request.fast, several=not self._has_limit
        )
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
        allowed = np.concatenate(engine.columns_of(self.segments, self.query.allowed))
        evidence = [self.evidence(column) for column in self.table.columns]
        floors = [self._floor(column) for column in self.table.columns]
        rejected = set(self._rejected(lake))
        return Ranker(lake, self.table, allowed, evidence, floors, rejected, self.query.rejects)

    def _rejected(self, lake: LakeColumns) -> Iterator[tuple[int, int]]:
        """Pairs that a person rejected: the places of my columns, and columns of the lake by their numbers."""
        for mine, table, theirs in self.query.decided.rejected_columns():
            if mine in self.table.names:
                yield from ((self.table.names.index(mine), column) for column in lake.columns_called(table, theirs))

    def _floor(self, column: InputColumn) -> int:
        share = self.request.share
        return max(self.request.min_overlap, 1 if share is None else least_overlap(share, column.size))

    def nothing(self) -> tuple[str, list[Hit]]:
        """The sentence for no hits, and the nearest matches."""
        request, name = self.request, self.table.name
        columns = _columns_to_try(self.table) if self.on is None else [self.table.column(self.on)]
        if not columns:
            return (
                f"{name} has no column to search with: text, whole numbers or dates, and more than one value.",
                [],
            )
        if request.tables and not any(mask.any() for mask in self.query.allowed):
            return f"No table of the lake matches {' or '.join(request.tables)}.", []
        nearest = self._nearest()
        mine = name if self.on is None else f"{self.on} of {name}"
        if not nearest:
            return f"No column{self.query.where} shares a value with {mine}.", []
        if request.share is not None:
            return f"No column{self.query.where} contains {float(request.share):.0%} of the values of {mine}.", nearest
        if request.min_overlap > 1:
            return f"No column{self.query.where} shares {request.min_overlap:,} values with {mine}.", nearest
        return f"No table{self.query.where} joins well with {mine}.", nearest

    def _nearest(self) -> list[Hit]:
        """The best that were not good enough."""
        if self.on is None and self.request.share is None and self.request.min_overlap == 1:
            return [candidate.hit(self._model) for candidate in self._ranked[:_NEAREST]]
        found = []
        for column in _columns_to_try(self.table) if self.on is None else [self.table.column(self.on)]:
            matches = engine.top(self.segments, column.tokens, MOST_OVERLAP, 1, self.query.allowed)
            found += [
                (-match.overlap / column.size, match.order, match, column)
                for match in matches
                if not self.query.decided.rejects_match((column.name,), match)
            ]
        best: dict[str, Hit] = {}
        for share, _, match, column in sorted(found, key=lambda entry: entry[:2]):
            if match.table not in best and len(best) < _NEAREST:
                best[match.table] = self.evidence(column).hit(match, 0, -share)
        return list(best.values())

    def _top(self, column: InputColumn, most: int) -> list[Match]:
        least, fast = self.request.min_overlap, self.request.fast
        return engine.top(self.segments, column.tokens, most, least, self.query.allowed, fast)

    def _ties_ordered(self, column: InputColumn, found: list[Match], overlap: int) -> list[Match]:
        """Matches by overlap; those with the overlap at the limit as hits are ordered, so that the best are kept."""
        before = [match for match in found if match.overlap > overlap]
        ties = [match for match in found if match.overlap == overlap]
        evidence = self.evidence(column)
        return before + sorted(ties, key=evidence.order)

    def _ask(self, column: InputColumn, most: int | None) -> list[Match]:
        """So many columns that share most values; with a threshold, all that reach it."""
        least, fast, share = self.request.min_overlap, self.request.fast, self.request.share
        if share is not None:
            found = engine.containing(self.segments, column.tokens, share, least, self.query.allowed, fast)
        else:
            assert most is not None  # only a threshold asks for all
            more = most + self.query.decided.rejections
            found = self._top(column, more + 1)
            if len(found) > more and found[-1].overlap == found[-2].overlap and not fast:
                found = self._ties_ordered(column, self._top(column, more + _MOST_TIES), found[-1].overlap)
        return [match for match in found if not self.query.decided.rejects_match((column.name,), match)][:most]
