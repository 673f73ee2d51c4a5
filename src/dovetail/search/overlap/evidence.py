"""From a match to a hit: what exactly matches, how the join would come out, and what it would bring."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.catalog.records import ColumnRecord
from dovetail.evidence.features import rarity
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.engine import Match
from dovetail.search.hit import Hit
from dovetail.tables.input_column import InputColumn

SHOWN = 5
_SHOWN_LENGTH = 60


@dataclass(frozen=True)
class _Compared:
    """My column and the match's, value by value."""

    record: ColumnRecord
    members: Array  # ids of the match's values, ascending
    counts: Array  # the number of rows of each
    shared: Array  # of my values, whether it is there
    places: Array  # of those that are, where among the members

    @property
    def theirs(self) -> Array:
        """The number of rows of each shared value in the match."""
        rows: Array = self.counts[self.places].astype(np.int64)
        return rows


class Evidence:
    """The evidence for matches of one query column. The dictionary of a segment is looked up once for all of them."""

    def __init__(self, segments: Sequence[OpenSegment], column: InputColumn) -> None:
        self._segments = segments
        self._column = column
        self._looked_up = functools.lru_cache(maxsize=None)(self._look_up)

    def overlap(self, segment: OpenSegment, column: int) -> int:
        """The distinct values that my column and one of the lake share."""
        return int(self._shared(segment, segment.tokens.set_of(column)[0])[0].sum())

    def counts(self, segment: OpenSegment, column: int) -> tuple[int, int, int, int, float]:
        """Of my column and one of the lake: distinct values that both have, rows of mine and theirs that match, rows of
        the join, and how rare the common values are."""
        members, counts = segment.tokens.set_of(column)
        shared, places = self._shared(segment, members)
        common = int(shared.sum())
        if not common:
            return 0, 0, 0, 0, 0.0
        mine, theirs = self._column.counts[shared], counts[places[shared]].astype(np.int64)
        rows = int(mine.sum()), int(theirs.sum()), int(mine @ theirs)
        return common, *rows, float(self.weights[shared].mean())

    def order(self, match: Match) -> tuple[float, int, str]:
        """Of matches with the same overlap, as their hits are ordered: see `Hit.order`."""
        segment, table = match.segment, int(match.segment.table_of[match.column])
        _, matched, _, joined, _ = self.counts(segment, match.column)
        return joined / max(1, matched), -len(segment.catalog.column_range(table)), segment.names[table]

    def hit(self, match: Match, rank: int, score: float) -> Hit:
        segment, query, found = match.segment, self._column, self._compare(match)
        record, mine, theirs = found.record, query.counts[found.shared], found.theirs
        number = int(segment.table_of[match.column])
        others = [column.column for column in segment.catalog.columns_of(number)]
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
            cardinality=cardinality_of(mine, theirs),
            query_rows=query.rows,
            matched_rows=int(mine.sum()),
            table_rows=record.rows,
            matched_table_rows=int(theirs.sum()),
            joined_rows=int(mine @ theirs),
            matched=self._sample(found.shared),
            unmatched=self._sample(~found.shared),
            only_there=_only_there(segment, found),
            brings=tuple(name for name in others if name != record.column),
        )

    def _compare(self, match: Match) -> _Compared:
        members, counts = match.segment.tokens.set_of(match.column)
        shared, places = self._shared(match.segment, members)
        return _Compared(match.segment.catalog.column(match.column), members, counts, shared, places[shared])

    def _shared(self, segment: OpenSegment, members: Array) -> tuple[Array, Array]:
        """Which of my values are among the members, and where each would be."""
        ids, _ = self._looked_up(segment)
        places = np.searchsorted(members, ids)
        places[places == len(members)] = 0
        shared = (ids >= 0) & (members[places] == ids) if len(members) else np.zeros(len(ids), bool)
        return shared, places

    def _look_up(self, segment: OpenSegment) -> tuple[Array, Array]:
        """The ids of the query's tokens in the segment, and how many of its columns hold each."""
        ids = segment.tokens.find(self._column.tokens)
        arrays = segment.tokens.arrays
        known = np.flatnonzero(ids >= 0)
        groups = np.searchsorted(arrays.group_tokens, ids[known], side="right") - 1
        holders = np.zeros(len(ids), np.int64)
        holders[known] = arrays.posting_offsets[groups + 1] - arrays.posting_offsets[groups]
        return ids, holders

    @functools.cached_property
    def weights(self) -> Array:
        """How informative each of the query's tokens is, over the whole lake, however it is split into segments."""
        holders = sum(self._looked_up(segment)[1] for segment in self._segments)
        columns = sum(segment.tokens.arrays.columns for segment in self._segments)
        weights: Array = rarity(np.maximum(holders, 1), columns)
        return weights

    def _sample(self, chosen: Array) -> tuple[str, ...]:
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-self._column.counts[places], kind="stable")][:SHOWN]
        return tuple(shorten(value) for value in self._column.written.take(places).to_pylist())


def _only_there(segment: OpenSegment, found: _Compared) -> tuple[str, ...]:
    """A sample of the match's values that mine does not have, the most frequent first."""
    alone = np.ones(len(found.members), bool)
    alone[found.places] = False
    places = np.flatnonzero(alone)
    places = places[np.argsort(-found.counts[places].astype(np.int64), kind="stable")][:SHOWN]
    return tuple(shorten(value) for value in segment.tokens.tokens(found.members[places]).to_pylist())


def cardinality_of(mine: Array, theirs: Array) -> str:
    """From the matched values alone: whether any of them is in several rows, on either side."""
    left = "1" if not (mine > 1).any() else "N"
    right = "1" if not (theirs > 1).any() else "N"
    return "N:M" if (left, right) == ("N", "N") else f"{left}:{right}"


def shorten(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
