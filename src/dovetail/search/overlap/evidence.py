"""From a match to a hit: what exactly matches, how the join would come out, and what it would bring."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.catalog.records import ColumnRecord
from dovetail.evidence.strength import chance_of_codes, chance_of_whole_numbers, rarity, strength
from dovetail.indexes.open_segment import OpenSegment
from dovetail.lake.layout import is_made_up
from dovetail.search.engine import Match
from dovetail.search.hits import Hit
from dovetail.tables.input_table import InputColumn

_NUMBERS = frozenset({"integer", "real"})
_SAMPLE = 2_000  # values of a column that are looked at for how it is filled
_WHOLE = r"^-?\d{1,15}$"
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

    def strength(self, match: Match) -> float:
        """How much the match is worth, between 0 and 1.

        A name that few tables use says what numbers alone cannot: that 1 to 500 are customers on both sides.
        """
        query, found = self._column, self._compare(match)
        numbers = not _NUMBERS.isdisjoint((query.type.kind, found.record.type.kind))
        cardinality = cardinality_of(query.counts[found.shared], found.theirs)
        strong = functools.partial(strength, self._weights[found.shared], query.size, cardinality, numbers)
        worth = strong(self._chance(match.segment, found))
        if query.name.casefold() == found.record.column.casefold() and not is_made_up(query.name):
            worth = max(worth, self._rarity_of_name * strong(0.0))
        return worth

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
    def _weights(self) -> Array:
        """How informative each of the query's tokens is, over the whole lake, however it is split into segments."""
        holders = sum(self._looked_up(segment)[1] for segment in self._segments)
        columns = sum(segment.tokens.arrays.columns for segment in self._segments)
        weights: Array = rarity(np.maximum(holders, 1), columns)
        return weights

    def _chance(self, segment: OpenSegment, found: _Compared) -> float:
        common = self._numbers[found.shared]
        if np.isnan(common).any():
            return chance_of_codes(found.record.distinct, found.record.max_length)
        step = -(-len(found.members) // _SAMPLE)
        theirs = _whole_numbers(segment.tokens.tokens(found.members[::step]))
        return chance_of_whole_numbers(common, theirs, step)

    @functools.cached_property
    def _numbers(self) -> Array:
        return _whole_numbers(self._column.tokens)

    @functools.cached_property
    def _rarity_of_name(self) -> float:
        name = self._column.name.casefold()
        number = sum(
            pc.sum(pc.equal(pc.utf8_lower(segment.catalog.columns["column"]), name)).as_py() or 0
            for segment in self._segments
        )
        return float(rarity(max(1, number), sum(len(segment.names) for segment in self._segments)))

    def _sample(self, chosen: Array) -> tuple[str, ...]:
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-self._column.counts[places], kind="stable")][:SHOWN]
        return tuple(shorten(value) for value in self._column.written.take(places).to_pylist())


def _whole_numbers(tokens: pa.Array) -> Array:
    """The tokens that are whole numbers; NaN for the others."""
    whole = pc.match_substring_regex(tokens, _WHOLE)
    numbers: Array = pc.if_else(whole, tokens, "nan").cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


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
