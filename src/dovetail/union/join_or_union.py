"""Join or union? What a search finds may rather be appended: both are probabilities that a person would accept it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.hits import Hit, Hits
from dovetail.tables.input_table import InputTable
from dovetail.union.measure import UnionJudge


def with_unions(segments: Sequence[OpenSegment], mine: InputTable, hits: Hits) -> Hits:
    """The hits that have a probability of a join, with that of a union."""
    judged = [hit for hit in hits if hit.probability is not None and not hit.decided]
    if not judged:
        return hits
    judge = UnionJudge(segments, mine, [segment.alive for segment in segments])
    found = judge.judge([judge.number_of(hit.table) for hit in judged])
    likely = {hit.table: each.probability for hit, each in zip(judged, found, strict=True)}
    return hits.with_rows([_with_union(hit, likely.get(hit.table)) for hit in hits])


def _with_union(hit: Hit, union: float | None) -> Hit:
    return replace(hit, union=union)
