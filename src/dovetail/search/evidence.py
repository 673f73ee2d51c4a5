"""From a match to a hit: what exactly matches, how the join would come out, and what it would bring."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.records import ColumnRecord
from dovetail.lake.names import is_made_up
from dovetail.search.engine import Match
from dovetail.search.lake import OpenSegment
from dovetail.search.query import QueryColumn
from dovetail.search.rank import chance_of_codes, chance_of_whole_numbers, rarity, strength
from dovetail.search.results import Hit

Array = npt.NDArray[Any]
_NUMBERS = frozenset({"integer", "real"})
_SAMPLE = 10_000  # values of a column that are looked at for how it is filled
_WHOLE = r"^-?\d{1,15}$"
_SHOWN = 5
_SHOWN_LENGTH = 60


class Evidence:
    """The evidence for matches of one query column. The dictionary of a segment is looked up once for all of them."""

    def __init__(self, segments: Sequence[OpenSegment], column: QueryColumn) -> None:
        self._segments = segments
        self._column = column
        self._looked_up = functools.lru_cache(maxsize=None)(self._look_up)

    def hit(self, match: Match, rank: int = 0, score: float | None = None) -> Hit:
        segment, query = match.segment, self._column
        ids, _ = self._looked_up(segment)
        members, counts = segment.tokens.set_of(match.column)
        places = np.searchsorted(members, ids)
        places[places == len(members)] = 0
        shared = (ids >= 0) & (members[places] == ids) if len(members) else np.zeros(len(ids), bool)
        mine, theirs = query.counts[shared], counts[places[shared]].astype(np.int64)
        record = segment.catalog.column(match.column)
        number = int(segment.table_of[match.column])
        others = [column.column for column in segment.catalog.columns_of(number)]
        cardinality = _cardinality(mine, theirs)
        if score is None:
            score = self._strength(segment, record, members, shared, cardinality)
        alone = np.setdiff1d(np.arange(len(members)), places[shared])
        alone = alone[np.argsort(-counts[alone].astype(np.int64), kind="stable")][:_SHOWN]
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
            only_there=tuple(_shorten(value) for value in segment.tokens.tokens(members[alone]).to_pylist()),
            brings=tuple(name for name in others if name != record.column),
        )

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
        """How much each of the query's tokens tells. Over the whole lake: how it is parted must not matter."""
        holders = sum(self._looked_up(segment)[1] for segment in self._segments)
        columns = sum(segment.tokens.arrays.columns for segment in self._segments)
        weights: Array = rarity(np.maximum(holders, 1), columns)
        return weights

    def _strength(
        self, segment: OpenSegment, record: ColumnRecord, members: Array, shared: Array, cardinality: str
    ) -> float:
        """A name that few tables use tells what numbers alone cannot: that 1 to 500 are customers on both sides."""
        query = self._column
        numbers = not _NUMBERS.isdisjoint((query.type.kind, record.type.kind))
        strong = functools.partial(strength, self._weights[shared], query.size, cardinality, numbers)
        found = strong(self._chance(segment, record, members, shared))
        if query.name.casefold() == record.column.casefold() and not is_made_up(query.name):
            found = max(found, self._rarity_of_name * strong(0.0))
        return found

    def _chance(self, segment: OpenSegment, record: ColumnRecord, members: Array, shared: Array) -> float:
        common = _whole_numbers(self._column.tokens.filter(pa.array(shared)))
        if len(common) < np.count_nonzero(shared):
            return chance_of_codes(record.distinct, record.max_length)
        step = -(-len(members) // _SAMPLE)
        theirs = _whole_numbers(segment.tokens.tokens(members[::step]))
        return chance_of_whole_numbers(common, theirs, step)

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
        places = places[np.argsort(-self._column.counts[places], kind="stable")][:_SHOWN]
        return tuple(_shorten(value) for value in self._column.written.take(places).to_pylist())


def _whole_numbers(tokens: pa.Array) -> Array:
    """Those of the tokens that are whole numbers, whatever else the column holds."""
    numbers: Array = tokens.filter(pc.match_substring_regex(tokens, _WHOLE)).cast(pa.float64()).to_numpy()
    return numbers


def _cardinality(mine: Array, theirs: Array) -> str:
    """From the matched values alone: whether any of them stands in several rows, on either side."""
    left = "1" if not (mine > 1).any() else "N"
    right = "1" if not (theirs > 1).any() else "N"
    return "N:M" if (left, right) == ("N", "N") else f"{left}:{right}"


def _shorten(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"
