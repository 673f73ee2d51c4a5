"""Tables that join with mine after a transformation (section 5.3.1 of Zhu's thesis).

Columns are found by the pieces of their values, rare pieces first; a program is learned on some of the values that
share pieces (Auto-Join), and what it joins is counted over all of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.features import rarity
from dovetail.evidence.thresholds import SHOWN_SHARE
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pieces.core import keys_of
from dovetail.search.engine import Match
from dovetail.search.hits import Hits
from dovetail.search.query import Query
from dovetail.search.request import SearchRequest
from dovetail.search.transform.compare import ComparedValues, QueryRows
from dovetail.search.transform.hit import TransformedHit
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable
from dovetail.transform.discover import Discovery, discover
from dovetail.transform.program import Extract, Program

_TEXT = ("text", "mixed")
_CANDIDATES = 24  # columns for which a program is learned
_LEARNED_FROM = 400  # values on each side that share pieces
_LONGEST = 80.0  # characters, on average: longer values are prose
_LEAST_MATCHED = 3
_LEAST_SHARE = 0.1  # of the smaller column's values: less is chance


def search_transformed(query: Query) -> Hits:
    """The tables with a column whose values a program makes from mine, or the other way round.

    Without names, every text column is tried by itself.
    """
    table, names = query.table, query.names
    groups = [[table.column(name) for name in names]] if names else [[column] for column in _texts(table)]
    if not groups:
        raise InputError(f"{table.name} has no text column to transform.")
    found: dict[str, TransformedHit] = {}
    for columns in groups:
        mine = QueryRows.of(columns)
        if mine.size == 0:
            raise InputError(f"{' and '.join(names)} of {table.name} has no values: all are empty or null.")
        for match in _candidates(query.segments, mine, query.allowed):
            check_cancelled()
            if query.decided.rejects_match([column.name for column in columns], match):
                continue
            hit = _verified(match, mine, query.request)
            if hit and (hit.table not in found or hit.score > found[hit.table].score):
                found[hit.table] = hit
    hits = query.decided.first(sorted(found.values(), key=lambda hit: (-hit.score, hit.table)))[: query.request.most]
    asked = f"{' and '.join(names)} of {table.name}" if names else table.name
    nothing = "" if hits else f"No table of the lake joins with {asked} after a transformation."
    seconds, note = time.perf_counter() - query.begun, query.left_out(len(found))
    return Hits(hits, table.name, "transform", "transform", False, seconds, nothing, note=note)


def _texts(table: InputTable) -> list[InputColumn]:
    return [column for column in table.columns if column.type.kind in _TEXT and column.size > 1]


def _candidates(segments: Sequence[OpenSegment], mine: QueryRows, allowed: list[Array]) -> list[Match]:
    """The columns whose pieces weigh most: the rarer a piece is in the lake, the more it weighs."""
    keys = np.unique(mine.keys[0])
    alive = [segment.alive[segment.table_of] for segment in segments]
    holders = sum(segment.pieces.holders(keys, live) for segment, live in zip(segments, alive, strict=True))
    number = max(1, sum(int(live.sum()) for live in alive))
    weights = rarity(np.maximum(holders, 1), number) ** 2
    found: list[tuple[float, str, int, Match]] = []
    for segment, tables in zip(segments, allowed, strict=True):
        sums = segment.pieces.weigh(keys, weights)
        sums[~tables[segment.table_of] | (segment.catalog.columns["mean_length"].to_numpy() > _LONGEST)] = 0.0
        best = np.argsort(-sums, kind="stable")[:_CANDIDATES]
        for column in best[sums[best] > 0].tolist():
            match = Match(segment, column, 0)
            found.append((-float(sums[column]), match.table, column, match))
    return [match for *_, match in sorted(found, key=lambda entry: entry[:3])[:_CANDIDATES]]


def _verified(match: Match, mine: QueryRows, request: SearchRequest) -> TransformedHit | None:
    """The hit, if a program joins enough of the values that are not equal."""
    segment, column = match.segment, match.column
    record = segment.catalog.column(column)
    theirs = segment.tokens.tokens(segment.tokens.set_of(column)[0])
    rest = mine.without(theirs)
    if rest.size < _LEAST_MATCHED:
        return None
    keys = np.unique(rest.keys[0])
    sample = segment.pieces.sharing(column, keys, _LEARNED_FROM)
    sample = sample.filter(pc.invert(pc.is_in(sample, mine.tokens)))
    mine_sample = rest.sharing(np.unique(keys_of(sample)[0]), _LEARNED_FROM)
    if min(len(sample), len(next(iter(mine_sample.values())))) < _LEAST_MATCHED:
        return None
    discovery = discover(mine_sample, {record.column: sample.to_pylist()}, most_programs=1)
    if discovery is None or discovery.programs[0].is_identity:
        return None
    only = ComparedValues.of(match, rest, discovery)
    least_matched = max(float(_LEAST_MATCHED), _LEAST_SHARE * min(only.query_size, only.column_size))
    if only.is_chance or only.overlap < least_matched or only.joined_values < _LEAST_MATCHED:
        return None
    if rest.size < mine.size:
        discovery = replace(discovery, programs=(_unchanged(discovery), *discovery.programs))
    compared = ComparedValues.of(match, mine, discovery)
    hit = compared.hit(match, mine, discovery)
    return hit if _is_enough(hit, compared, request) else None


def _is_enough(hit: TransformedHit, compared: ComparedValues, request: SearchRequest) -> bool:
    if request.share is None and request.min_overlap == 1:
        return hit.score * compared.query_size >= SHOWN_SHARE * min(compared.query_size, compared.column_size)
    return hit.overlap >= max(request.min_overlap, (request.share or 0) * hit.query_size)


def _unchanged(discovery: Discovery) -> Program:
    return Program((Extract(discovery.source),))
