"""Tables that join with mine by parts of cells: theirs hold several values and mine one, or the other way round.

Their cells are found by the lists of each segment, of which there are few, so that every one is counted; mine are cut
into parts, which are searched as any values are. Cells of several values on both sides are left to `join --by parts`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.thresholds import SHOWN_SHARE
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.hits import Hits
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten
from dovetail.search.parts.hit import PartsHit
from dovetail.search.query import Query
from dovetail.search.ranking.rank import is_tried
from dovetail.search.request import SearchRequest
from dovetail.tables.exploded import Exploded, explode, separator_of, whole
from dovetail.tables.input_table import InputTable, lake_table

_MORE = 4  # times as many columns as hits are asked for: some are of one table, and some hold several values themselves


def search_parts(query: Query) -> Hits:
    """The best column of each table by the share of the smaller side's values that match.

    Without names, every suitable column is tried.
    """
    table, names, k = query.table, query.names, query.request.most
    if len(names) > 1:
        raise InputError("`by='parts'` takes one column; `on` names several.")
    tried = names or [column.name for column in table.columns if is_tried(column)]
    found: dict[str, PartsHit] = {}
    for name in tried:
        mine = _QueryColumn.of(table, name)
        for match in mine.matches(query):
            check_cancelled()
            if query.decided.rejects_match((name,), match) or not _is_enough(mine, match, query.request):
                continue
            hit = mine.hit(match)
            if hit.table not in found or hit.score > found[hit.table].score:
                found[hit.table] = hit
    hits = query.decided.first(sorted(found.values(), key=lambda hit: (-hit.score, -hit.overlap, hit.table)))[:k]
    asked = f"{names[0]} of {table.name}" if names else table.name
    nothing = "" if hits else f"No table of the lake joins with {asked} by parts of cells."
    seconds, note = time.perf_counter() - query.begun, query.left_out(len(found))
    return Hits(hits, table.name, "parts", "parts", True, seconds, nothing, note=note)


def _is_enough(mine: _QueryColumn, match: Match, request: SearchRequest) -> bool:
    if request.share is None and request.min_overlap == 1:
        return match.overlap >= SHOWN_SHARE * min(mine.size, mine.size_of(match))
    return match.overlap >= max(request.min_overlap, (request.share or 0) * mine.size)


@dataclass(frozen=True)
class _QueryColumn:
    """A column of mine: by its parts if its cells hold several values, else as it is."""

    name: str
    separator: str | None
    mine: Exploded

    @classmethod
    def of(cls, table: InputTable, name: str) -> _QueryColumn:
        separator = separator_of(table.column(name))
        return cls(name, separator, explode(table, name, separator) if separator else whole(table))

    @property
    def tokens(self) -> pa.Array:
        return self.mine.table.column(self.name).tokens

    @property
    def size(self) -> int:
        return len(self.tokens)

    def size_of(self, match: Match) -> int:
        """The distinct values, or parts, of a match."""
        reader = match.segment.tokens if self.separator else match.segment.lists
        return int(np.diff(reader.arrays.set_offsets[match.column : match.column + 2])[0])

    def matches(self, query: Query) -> Iterator[Match]:
        """Columns that share values: of one value in a cell where mine have several, else of several."""
        least = query.request.min_overlap
        if self.separator:
            yield from (match for match in self._of_one_value(query, least) if not _holds_several(match))
            return
        for segment, tables in zip(query.segments, query.allowed, strict=True):
            groups, weights, _ = segment.lists.grouped(self.tokens)
            arrays = segment.lists.arrays
            counts = np.zeros(arrays.columns, np.int64)
            for group, weight in zip(groups.tolist(), weights.tolist(), strict=True):
                first, last = arrays.posting_offsets[group : group + 2]
                counts[arrays.posting_columns[first:last]] += weight
            counts[~tables[segment.table_of]] = 0
            for column in np.flatnonzero(counts >= least).tolist():
                yield Match(segment, column, int(counts[column]))

    def _of_one_value(self, query: Query, least: int) -> list[Match]:
        """The columns that contain enough of my parts, or most of them."""
        share, most = query.request.share, query.request.most
        if share is not None:
            return engine.containing(query.segments, self.tokens, share, least, query.allowed)
        assert most is not None  # only a threshold asks for all
        return engine.top(query.segments, self.tokens, most * _MORE, least, query.allowed)

    def hit(self, match: Match) -> PartsHit:
        """What exactly matches, by the rows of both tables."""
        segment = match.segment
        theirs_table = lake_table(segment, int(segment.table_of[match.column]))
        column = segment.catalog.column(match.column).column
        separator = self.separator or separator_of(theirs_table.column(column))
        assert separator is not None  # the lists of the segment have it
        sides = self.mine, whole(theirs_table) if self.separator else explode(theirs_table, column, separator)
        mine, theirs = sides[0].table.column(self.name), sides[1].table.column(column)
        places = pc.index_in(mine.tokens, theirs.tokens).fill_null(-1).to_numpy()
        shared = places >= 0
        there = np.zeros(theirs.size, bool)
        there[places[shared]] = True
        counts = mine.counts[shared], theirs.counts[places[shared]]
        return PartsHit(
            rank=0,
            table=theirs_table.name,
            on=(self.name,),
            columns=(column,),
            score=match.overlap / max(1, min(mine.size, theirs.size)),
            overlap=int(shared.sum()),
            containment=float(shared.mean()) if len(shared) else 0.0,
            jaccard=int(shared.sum()) / max(1, mine.size + theirs.size - int(shared.sum())),
            query_size=mine.size,
            column_size=theirs.size,
            exact=True,
            cardinality=cardinality_of(*counts),
            query_rows=len(np.unique(sides[0].rows)),
            matched_rows=_rows(sides[0], mine.codes(), shared),
            table_rows=theirs_table.rows,
            matched_table_rows=_rows(sides[1], theirs.codes(), there),
            joined_rows=int(counts[0] @ counts[1]),
            matched=_sample(mine.written, shared),
            unmatched=_sample(mine.written, ~shared),
            only_there=_sample(theirs.written, ~there),
            brings=tuple(name for name in theirs_table.names if name != column),
            separator=separator,
            several="mine" if self.separator else "theirs",
        )


def _holds_several(match: Match) -> bool:
    offsets = match.segment.lists.arrays.set_offsets
    return bool(offsets[match.column + 1] > offsets[match.column])


def _rows(side: Exploded, codes: Array, shared: Array) -> int:
    """The rows of the table with a value that both have."""
    return len(np.unique(side.rows[np.append(shared, False)[codes]]))


def _sample(values: pa.Array, chosen: Array) -> tuple[str, ...]:
    return tuple(shorten(value) for value in values.take(pa.array(np.flatnonzero(chosen)[:SHOWN])).to_pylist())
