"""Turns a request into questions for the engine, and their answers into ranked hits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dovetail.errors import InputError
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.evidence import Evidence
from dovetail.search.key import key_names, query_key
from dovetail.search.key_evidence import key_hit
from dovetail.search.lake import OpenSegment
from dovetail.search.query import QueryColumn, QueryTable, query_table
from dovetail.search.rank import POOR
from dovetail.search.results import Hit, Hits

# Columns of other kinds (fractions, booleans, nothing) are equal by chance or not at all.
_SENSIBLE = ("text", "mixed", "integer", "date", "timestamp")
_TRIED_A_COLUMN = 20


@dataclass(frozen=True)
class Request:
    """What to search for. `on`: my column or columns; `threshold`: the least share of mine, else the `k` best."""

    data: Any
    on: str | Sequence[str] | None = None
    k: int = 10
    threshold: float | str | None = None
    tables: tuple[str, ...] = ()
    min_overlap: int = 1
    include_self: bool = False
    fast: bool = False  # from sketches, which may miss some


def search(segments: Sequence[OpenSegment], request: Request) -> Hits:
    begun = time.perf_counter()
    threshold = _checked(request)
    table = query_table(request.data, segments)
    but = "" if request.include_self else table.path
    allowed = [segment.allowed(request.tables, but) for segment in segments]
    how = "overlap" if threshold is None else "containment"
    names = () if request.on is None else key_names(table, request.on)
    if len(names) > 1:
        return _search_key(segments, table, names, request, threshold, allowed, begun)
    if names:
        column = table.column(names[0])
        if column.size == 0:
            raise InputError(f"{column.name} of {table.name} has no values to join on: all are empty or null markers.")
        matches = _ask(segments, column, request, threshold, request.k, allowed)
        evidence = Evidence(table, column)
        hits = [evidence.hit(match, rank, float(match.overlap)) for rank, match in enumerate(matches, 1)]
        return Hits(hits, table.name, how, not request.fast, time.perf_counter() - begun)
    found = [hit for column in _sensible(table) for hit in _tried(segments, table, column, request, threshold, allowed)]
    best = _best_of_each_table(found)
    good = [hit for hit in best if hit.score >= POOR or request.min_overlap > 1 or threshold is not None]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(good[: request.k], 1)]
    nearest = best[0] if best and not hits else None
    return Hits(hits, table.name, how, not request.fast, time.perf_counter() - begun, nearest)


def _search_key(
    segments: Sequence[OpenSegment],
    table: QueryTable,
    names: tuple[str, ...],
    request: Request,
    threshold: Fraction | None,
    allowed: list[Any],
    begun: float,
) -> Hits:
    """Tables that hold the tuples of several columns of mine."""
    if request.fast:
        raise InputError("Sketches are of single columns: leave out --fast, or name one column.")
    key = query_key(table, names)
    k, floor = request.k, request.min_overlap
    if threshold is not None:
        k, floor = sum(map(len, allowed)) + 1, max(floor, least_overlap(threshold, key.size))
    matches, exact = engine.together(segments, key, k, floor, allowed)
    hits = [key_hit(key, match, rank) for rank, match in enumerate(matches, 1)]
    return Hits(hits, table.name, "keys", exact, time.perf_counter() - begun)


def _checked(request: Request) -> Fraction | None:
    for name, value in (("k", request.k), ("min_overlap", request.min_overlap)):
        if value < 1:
            raise InputError(f"{name} is {value}; it must be at least 1.")
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


def _ask(
    segments: Sequence[OpenSegment],
    column: QueryColumn,
    request: Request,
    threshold: Fraction | None,
    k: int,
    allowed: list[Any],
) -> list[Match]:
    if threshold is None:
        return engine.top(segments, column.tokens, k, request.min_overlap, allowed, request.fast)
    return engine.containing(segments, column.tokens, threshold, request.min_overlap, allowed, request.fast)


def _tried(
    segments: Sequence[OpenSegment],
    table: QueryTable,
    column: QueryColumn,
    request: Request,
    threshold: Fraction | None,
    allowed: list[Any],
) -> list[Hit]:
    matches = _ask(segments, column, request, threshold, max(request.k, _TRIED_A_COLUMN), allowed)
    evidence = Evidence(table, column)
    return [evidence.hit(match) for match in matches]


def _best_of_each_table(hits: list[Hit]) -> list[Hit]:
    """One hit a table, on its best pair of columns, best first."""
    ordered = sorted(hits, key=lambda hit: (-hit.score, -hit.overlap, hit.table, hit.columns, hit.on))
    best: dict[str, Hit] = {}
    for hit in ordered:
        best.setdefault(hit.table, hit)
    return list(best.values())
