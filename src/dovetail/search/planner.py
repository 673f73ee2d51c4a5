"""Turns a request into a search by its method, and the answer into hits without near-copies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dovetail._types import Array
from dovetail.catalog.decisions import Decisions
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.copies import fold
from dovetail.search.decided import QueryDecisions, ranked
from dovetail.search.hits import Hits
from dovetail.search.keys.search import search_keys
from dovetail.search.overlap.search import search_columns
from dovetail.search.query import Query
from dovetail.search.request import SearchRequest
from dovetail.tables.input_table import InputTable, open_table

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
    query = _query(segments, request, decisions)
    if request.by != "equal":
        hits = _by_other_method(query)
        return _folded(segments, hits) if request.folds_copies else hits
    if len(query.names) > 1:
        return search_keys(query)
    found = search_columns(query, lake or (lambda: LakeColumns(segments)))
    if judge_unions is None or query.names or not found.exact:
        return found
    return judge_unions(query.table, query.allowed, found)


def _query(segments: Sequence[OpenSegment], request: SearchRequest, decisions: Decisions | None) -> Query:
    begun = time.perf_counter()
    table = open_table(request.data, segments=segments)
    decided = QueryDecisions({} if decisions is None else decisions.of(table.id))
    but = "" if request.include_self or table.address is None else table.address
    allowed = [segment.allowed(request.tables, but) for segment in segments]
    return Query(segments, request, table, allowed, decided, begun)


def _by_other_method(query: Query) -> Hits:
    """Not by equal values; each method is imported when it is asked for."""
    by = query.request.by
    if by == "semantic":
        from dovetail.search.semantic.search import search_semantic

        return search_semantic(query)
    if by == "parts":
        from dovetail.search.parts.search import search_parts

        return search_parts(query)
    if by == "transform":
        from dovetail.search.transform.search import search_transformed

        return search_transformed(query)
    from dovetail.search.through.search import search_through

    return search_through(query)


def _folded(segments: Sequence[OpenSegment], hits: Hits) -> Hits:
    """Hits without near-copies of better ones."""
    hits[:] = ranked(fold(segments, hits))
    return hits
