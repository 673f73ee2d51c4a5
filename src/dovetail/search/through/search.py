"""Search through the lake: which tables hold what belongs to my values, as other tables say?

1. Columns of the lake that hold most of my values, and beside them, in the same rows, the values of other text columns
   of their tables: what belongs to mine.
2. Columns of other tables that hold most of these.
3. For the most promising of them, the votes of all tables of the lake that hold both (`dovetail.through`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.thresholds import LIKELY_THROUGH
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.hits import Hits
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten
from dovetail.search.query import Query
from dovetail.search.through.hit import ThroughHit
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable, lake_table
from dovetail.through.bridges import text_columns
from dovetail.through.columns import is_of
from dovetail.through.lookup import Effort, Excluded, map_columns, values_of
from dovetail.through.mapping import ValueMapping, how_likely

_CARRIERS = 20  # columns that hold most of my values; arbitrary, for time
_REACHED = 10  # columns that hold most of what is beside them, for each; arbitrary, for time
_JUDGED = 3  # candidates for each hit that is asked for; arbitrary, for time
_LEAST = 3  # of my values, and of those beside them: fewer are found by chance
_WORTH_COMPARING = LIKELY_THROUGH / 2
"""How likely a join by equal values must be for similar spellings to be looked for: comparing texts takes most of the
time, and makes few unlikely joins likely (docs/benchmarks/through.md)."""


class _Candidate(NamedTuple):
    """A column that may hold what belongs to my values."""

    match: Match
    promise: float


def search_through(query: Query) -> Hits:
    """Tables that join with a text column of mine through others."""
    segments, table, decided, k = query.segments, query.table, query.decided, query.request.most
    assert k is not None  # only a threshold asks for all
    column = _chosen(table, query.names)
    best = sorted(
        _candidates(segments, table, column, query.allowed), key=lambda each: (-each.promise, each.match.order)
    )
    found: dict[str, ThroughHit] = {}
    for candidate in best[: _JUDGED * k]:
        check_cancelled()
        match = candidate.match
        if match.table in found or decided.rejects_match((column.name,), match):
            continue
        hit = _hit(segments, table, column, match)
        if hit is not None and hit.score >= LIKELY_THROUGH and hit.overlap > _held_directly(match, column):
            found[match.table] = hit
    hits = sorted(found.values(), key=lambda hit: (-hit.score, -hit.overlap, hit.table))[:k]
    nothing = "" if hits else f"No table of the lake joins with {column.name} of {table.name} through others."
    return Hits(decided.first(hits), table.name, "through", "through", True, time.perf_counter() - query.begun, nothing)


def _chosen(table: InputTable, names: Sequence[str]) -> InputColumn:
    """The named column; without a name the text column with most distinct values."""
    if len(names) > 1:
        raise InputError("`by='through'` searches with one column; `on` names several.")
    asked = [table.column(name) for name in names] or table.columns
    texts = [column for column in asked if column.is_text]
    if not texts:
        mine = f"{names[0]} of {table.name} holds no texts" if names else f"{table.name} has no text column"
        raise InputError(f"{mine}; `by='through'` needs texts, since numbers occur beside anything.")
    return max(texts, key=lambda column: column.size)


def _candidates(
    segments: Sequence[OpenSegment], table: InputTable, column: InputColumn, allowed: list[Array]
) -> Iterator[_Candidate]:
    """The best promise of each column that holds what is beside my values."""
    everywhere = [segment.alive for segment in segments]
    carriers = engine.top(segments, column.tokens, _CARRIERS, min(_LEAST, column.size), everywhere)
    direct = {carrier.table for carrier in carriers} | {table.id}
    promises: dict[tuple[OpenSegment, int], _Candidate] = {}
    for carrier in carriers:
        for beside, known in _beside(carrier, column):
            tokens = carrier.segment.tokens.tokens(beside)
            for match in engine.top(segments, tokens, _REACHED, min(_LEAST, len(tokens)), allowed):
                promise = known / column.size * match.overlap / len(tokens)
                place = match.segment, match.column
                if match.table not in direct and (place not in promises or promises[place].promise < promise):
                    promises[place] = _Candidate(match, promise)
    yield from promises.values()


def _beside(carrier: Match, column: InputColumn) -> Iterator[tuple[Array, float]]:
    """Of each other text column of a table: the tokens in rows with values of mine, and of how many of mine, each
    divided by the number of tokens beside it."""
    segment, number = carrier.segment, int(carrier.segment.table_of[carrier.column])
    is_text = text_columns(segment)
    places = np.append(values_of(column).places(segment, carrier.column), -1)
    mine = places[segment.rows.codes(carrier.column).astype(np.int64)]
    for other in segment.catalog.column_range(number):
        if other == carrier.column or not is_text[other]:
            continue
        members = segment.tokens.set_of(other)[0].astype(np.int64)
        codes = segment.rows.codes(other).astype(np.int64)
        both = (mine >= 0) & (codes >= 0) & (codes < len(members))
        cells = np.unique(mine[both] * len(members) + codes[both])
        if len(cells) >= _LEAST:
            fans = np.bincount(cells // len(members))
            yield members[np.unique(cells % len(members))], float((1 / fans[fans > 0]).sum())


def _held_directly(match: Match, column: InputColumn) -> int:
    """How many of my values a column of the same table holds: if it is as many, no other table is needed."""
    number, values = int(match.segment.table_of[match.column]), values_of(column)
    held = (values.places(match.segment, each) for each in match.segment.catalog.column_range(number))
    return max(int((places >= 0).sum()) for places in held)


def _hit(segments: Sequence[OpenSegment], table: InputTable, column: InputColumn, match: Match) -> ThroughHit | None:
    segment, number = match.segment, int(match.segment.table_of[match.column])
    record = segment.catalog.column(match.column)
    theirs = lake_table(segment, number).column(record.column)
    mapping = _mapping(segments, column, theirs, is_of(segments, table.id, match.table))
    if not mapping:
        return None
    left, right = mapping.places
    mine, others = column.counts[left], theirs.counts[right]
    matched, there = np.unique(left), np.unique(right)
    return ThroughHit(
        rank=0,
        table=match.table,
        on=(column.name,),
        columns=(record.column,),
        score=how_likely(mapping),
        overlap=len(matched),
        containment=len(matched) / column.size,
        jaccard=0.0,
        query_size=column.size,
        column_size=record.distinct,
        exact=True,
        cardinality=_cardinality(mapping, mine, others),
        query_rows=column.rows,
        matched_rows=int(column.counts[matched].sum()),
        table_rows=record.rows,
        matched_table_rows=int(theirs.counts[there].sum()),
        joined_rows=int(mine @ others),
        matched=_shown(column, matched),
        unmatched=_shown(column, np.setdiff1d(np.arange(column.size), matched)),
        only_there=_shown(theirs, np.setdiff1d(np.arange(theirs.size), there)),
        brings=tuple(c.column for c in segment.catalog.columns_of(number) if c.column != record.column),
        mapping=mapping,
    )


def _mapping(
    segments: Sequence[OpenSegment], mine: InputColumn, theirs: InputColumn, excluded: Excluded
) -> ValueMapping:
    """What tables relate by equal values; if that is promising, by similar ones as well."""
    by_equal = map_columns(segments, mine, theirs, excluded, Effort.EQUAL)
    if how_likely(by_equal) < _WORTH_COMPARING:
        return by_equal
    return map_columns(segments, mine, theirs, excluded, Effort.SPELLED)


def _cardinality(mapping: ValueMapping, mine: Array, theirs: Array) -> str:
    """Several values of one side may have the same partner."""
    left, right = mapping.places
    mine_repeat, theirs_repeat = len(np.unique(right)) < len(right), len(np.unique(left)) < len(left)
    return cardinality_of(mine + mine_repeat, theirs + theirs_repeat)


def _shown(column: InputColumn, places: Array) -> tuple[str, ...]:
    most = places[np.argsort(-column.counts[places], kind="stable")][:SHOWN]
    return tuple(shorten(value) for value in column.written.take(most).to_pylist())
