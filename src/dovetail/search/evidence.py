"""From a match to a hit: what exactly matches, how the join would come out, and what it would bring."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.search.engine import Match
from dovetail.search.lake import OpenSegment
from dovetail.search.query import QueryColumn, QueryTable
from dovetail.search.rank import strength
from dovetail.search.results import Hit

Array = npt.NDArray[Any]
SHOWN = 5
_SHOWN_LENGTH = 60


class Evidence:
    """The evidence for matches of one query column. The dictionary of a segment is looked up once for all of them."""

    def __init__(self, table: QueryTable, column: QueryColumn) -> None:
        self._table = table
        self._column = column
        self._looked_up = functools.lru_cache(maxsize=None)(self._look_up)

    def hit(self, match: Match, rank: int = 0, score: float | None = None) -> Hit:
        segment, query = match.segment, self._column
        ids, weights = self._looked_up(segment)
        members, counts = segment.tokens.set_of(match.column)
        places = np.searchsorted(members, ids)
        places[places == len(members)] = 0
        shared = (ids >= 0) & (members[places] == ids) if len(members) else np.zeros(len(ids), bool)
        mine, theirs = query.counts[shared], counts[places[shared]].astype(np.int64)
        record = segment.catalog.column(match.column)
        number = int(segment.table_of[match.column])
        others = [column.column for column in segment.catalog.columns_of(number)]
        cardinality = cardinality_of(mine, theirs)
        if score is None:
            score = strength(weights[shared], query.size, cardinality, {query.type.kind, record.type.kind})
        alone = np.setdiff1d(np.arange(len(members)), places[shared])
        alone = alone[np.argsort(-counts[alone].astype(np.int64), kind="stable")][:SHOWN]
        return Hit(
            rank=rank,
            table=segment.names[number],
            on=(query.name,),
            columns=(record.column,),
            score=score,
            overlap=match.overlap,
            containment=match.overlap / query.size,
            jaccard=match.overlap / (query.size + record.distinct - match.overlap),
            query_size=query.size,
            column_size=record.distinct,
            exact=True,
            cardinality=cardinality,
            query_rows=query.rows,
            matched_rows=int(mine.sum()),
            table_rows=record.rows,
            matched_table_rows=int(theirs.sum()),
            joined_rows=int(mine @ theirs),
            matched=self._sample(shared),
            unmatched=self._sample(~shared),
            only_there=tuple(shorten(value) for value in segment.tokens.tokens(members[alone]).to_pylist()),
            brings=tuple(name for name in others if name != record.column),
        )

    def _look_up(self, segment: OpenSegment) -> tuple[Array, Array]:
        """The query's tokens in the segment's dictionary, and how much each tells: 1 where a single column has it."""
        ids = segment.tokens.find(self._column.tokens)
        arrays = segment.tokens.arrays
        frequency = np.ones(len(ids))
        known = ids >= 0
        groups = np.searchsorted(arrays.group_tokens, ids[known], side="right") - 1
        frequency[known] = np.diff(arrays.posting_offsets)[groups]
        return ids, np.log1p(arrays.columns / frequency) / np.log1p(arrays.columns)

    def _sample(self, chosen: Array) -> tuple[str, ...]:
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-self._column.counts[places], kind="stable")][:SHOWN]
        return tuple(shorten(value) for value in self._column.written.take(places).to_pylist())


def cardinality_of(mine: Array, theirs: Array) -> str:
    """From the matched values alone: whether any of them stands in several rows, on either side."""
    left = "1" if not (mine > 1).any() else "N"
    right = "1" if not (theirs > 1).any() else "N"
    return "N:M" if (left, right) == ("N", "N") else f"{left}:{right}"


def shorten(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
