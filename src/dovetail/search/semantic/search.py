"""Search by spelling or meaning: my column, the thresholds, and hits with their mapping."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.errors import InputError
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.core import Space, VectorParameters
from dovetail.search.engine import columns_of
from dovetail.search.hits import Hits
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten
from dovetail.search.query import Query
from dovetail.search.request import SearchRequest
from dovetail.search.semantic.hit import Mapped, SemanticHit
from dovetail.search.semantic.match import SimilarMatch, TextQuery, similar
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

THRESHOLD = Fraction(1, 2)  # the paper has 60 % for its τ; here tables are found with F1 .89, and .81 at 60 %
EVERY = "*"
_NEAREST = 3


def search_semantic(query: Query) -> Hits:
    """Columns with similar values; without `k` and a threshold, all in which half of the rows have a match."""
    request, table, threshold = query.request, query.table, query.request.share
    space = _space(query.segments)
    matching = space.matching(_min_similarity(request))
    if request.k is None and threshold is None:
        threshold = THRESHOLD
    found: list[tuple[SimilarMatch, TextQuery]] = []
    nearest: list[tuple[SimilarMatch, TextQuery]] = []
    asked_all = [TextQuery.of(column, space) for column in _chosen(table, request.on)] if query.segments else []
    for asked in asked_all:
        rows = int(asked.column.counts.sum())
        least = 1 if threshold is None else max(1, least_overlap(threshold, rows))
        found += _offered(query, asked, matching, request.k, least)
    if not found:
        for asked in asked_all:
            nearest += _offered(query, asked, matching, _NEAREST, 1)
    best, near = (_best_of_each(pairs, len(asked_all) > 1) for pairs in (found, nearest))
    offered = (_hit(match, asked, rank, matching) for rank, (match, asked) in enumerate(best[: request.k], 1))
    hits = query.decided.first(offered)
    nothing = "" if hits else _nothing(table, asked_all, matching, threshold)
    closest = [_hit(match, asked, 0, matching) for match, asked in near[:_NEAREST]]
    note = _note(asked_all) if hits or asked_all else ""
    seconds = time.perf_counter() - query.begun
    return Hits(hits, table.name, "semantic", "semantic", True, seconds, nothing, closest, note)


def _offered(
    query: Query, asked: TextQuery, matching: Matching, k: int | None, least: int
) -> list[tuple[SimilarMatch, TextQuery]]:
    """The columns with similar values, without those that a person rejected."""
    more = None if k is None else k + query.decided.rejections
    found = similar(query.segments, asked, matching, more, least, columns_of(query.segments, query.allowed))
    return [(match, asked) for match in found if not query.decided.rejects_match((asked.column.name,), match)][:k]


def _space(segments: Sequence[OpenSegment]) -> Space:
    return segments[0].texts.space if segments else VectorParameters.chosen().space()


def _min_similarity(request: SearchRequest) -> float | None:
    if request.min_similarity is None:
        return None
    try:
        found = float(request.min_similarity)
    except ValueError:
        raise InputError(f"`min_similarity` is {request.min_similarity!r}; it must be a number such as 0.5.") from None
    if not 0 < found <= 1:
        raise InputError(f"`min_similarity` is {request.min_similarity}; it must be above 0 and at most 1.")
    return found


def _chosen(table: InputTable, on: str | Sequence[str] | None) -> list[InputColumn]:
    """The named column; without a name the one with the most distinct texts; with * each that has any."""
    texts = {column.name: int(column.texts.sum()) for column in table.columns}
    some = [column for column in table.columns if texts[column.name]]
    if on is None or on == EVERY:
        if not some:
            raise InputError(f"{table.name} has no text column; numbers and short codes match only equal values.")
        return some if on == EVERY else [max(some, key=lambda column: texts[column.name])]
    if not isinstance(on, str):
        if len(on) != 1:
            raise InputError("`by='semantic'` searches with one column; name one, or `*` to try each.")
        on = on[0]
    column = table.column(on)
    if not texts[column.name]:
        raise InputError(
            f"{column.name} of {table.name} has no texts, and numbers and short codes match only equal values; drop "
            "`by='semantic'`."
        )
    return [column]


def _best_of_each(pairs: list[tuple[SimilarMatch, TextQuery]], several: bool) -> list[tuple[SimilarMatch, TextQuery]]:
    """Best first; if several columns of mine were searched with, by their share, and each table once."""
    if not several:
        return pairs
    best: dict[str, tuple[SimilarMatch, TextQuery]] = {}
    for pair in sorted(pairs, key=lambda pair: (-pair[0].rows / int(pair[1].column.counts.sum()), pair[0].order)):
        best.setdefault(pair[0].table, pair)
    return list(best.values())


def _note(asked: list[TextQuery]) -> str:
    codes = sum(len(one.codes) for one in asked)
    if not codes:
        return ""
    values = sum(one.column.size for one in asked)
    return f"{codes:,} of {values:,} values are numbers or short codes, which match only equal values."


def _nothing(table: InputTable, asked: list[TextQuery], matching: Matching, threshold: Fraction | None) -> str:
    least = f"a similarity of at least {matching.min_similarity:g}"
    mine = table.name if len(asked) != 1 else f"{asked[0].column.name} of {table.name}"
    if threshold is None:
        return f"No column of the lake has a value with {least} to one of {mine}."
    return f"No column of the lake matches {float(threshold):.0%} of {mine} with {least}."


def _hit(match: SimilarMatch, asked: TextQuery, rank: int, matching: Matching) -> SemanticHit:
    segment, query = match.segment, asked.column
    record = segment.catalog.column(match.column)
    number = int(segment.table_of[match.column])
    places, tokens, similarities = match.mapping()
    members, counts = segment.tokens.set_of(match.column)
    theirs = counts[np.searchsorted(members, tokens)].astype(np.int64)
    mine = query.counts[places]
    mapping = tuple(
        Mapped(query.written[place].as_py(), matched, similarity)
        for place, matched, similarity in zip(
            places.tolist(), segment.tokens.tokens(tokens).to_pylist(), similarities.tolist(), strict=True
        )
    )
    unmatched = np.setdiff1d(np.arange(query.size), places)
    distinct = np.unique(tokens)
    several = "N:1" if len(distinct) < len(tokens) and not (theirs > 1).any() else cardinality_of(mine, theirs)
    return SemanticHit(
        rank=rank,
        table=segment.names[number],
        on=(query.name,),
        columns=(record.column,),
        score=match.rows / int(query.counts.sum()),
        overlap=match.values,
        containment=match.values / query.size,
        jaccard=len(distinct) / (query.size + record.distinct - len(distinct)),
        query_size=query.size,
        column_size=record.distinct,
        exact=True,
        cardinality=several,
        query_rows=query.rows,
        matched_rows=match.rows,
        table_rows=record.rows,
        matched_table_rows=int(counts[np.searchsorted(members, distinct)].sum()),
        joined_rows=int(mine @ theirs),
        matched=_shown(query, places),
        unmatched=_shown(query, unmatched),
        only_there=_only_there(segment, members, counts, distinct),
        brings=tuple(c.column for c in segment.catalog.columns_of(number) if c.column != record.column),
        joinability=match.rows / int(query.counts.sum()),
        min_similarity=matching.min_similarity,
        mapping=mapping,
        tokens=tuple(zip(query.tokens.take(places).to_pylist(), (pair.matched for pair in mapping), strict=True)),
    )


def _shown(query: InputColumn, places: Array) -> tuple[str, ...]:
    most = places[np.argsort(-query.counts[places], kind="stable")][:SHOWN]
    return tuple(shorten(value) for value in query.written.take(most).to_pylist())


def _only_there(segment: OpenSegment, members: Array, counts: Array, matched: Array) -> tuple[str, ...]:
    alone = ~np.isin(members, matched)
    most = np.flatnonzero(alone)[np.argsort(-counts[alone].astype(np.int64), kind="stable")][:SHOWN]
    return tuple(shorten(value) for value in segment.tokens.tokens(members[most]).to_pylist())
