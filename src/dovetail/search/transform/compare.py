"""My rows and a column of the lake, compared by the values that a program makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.indexes.pieces.core import keys_of
from dovetail.normalise import fold, normalise
from dovetail.search.engine import Match
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten
from dovetail.search.transform.hit import TransformedHit
from dovetail.tables.input_column import InputColumn
from dovetail.transform.coverage import is_chance
from dovetail.transform.discover import Discovery
from dovetail.transform.program import made_by

_MOST_ASKED = 50_000  # values of mine whose pieces are looked up
_MOST_THEIRS = 200_000  # values of theirs that are transformed
_BY_CARDINALITY = {"1:1": 1.0, "N:1": 1.0, "1:N": 0.9, "N:M": 0.6}


@dataclass(frozen=True)
class QueryRows:
    """The distinct rows of some columns of mine, as I wrote them, and the number of each."""

    columns: dict[str, list[str | None]]
    counts: Array
    rows: int  # with the empty ones

    @classmethod
    def of(cls, columns: Sequence[InputColumn]) -> QueryRows:
        if len(columns) == 1:
            return cls({columns[0].name: columns[0].written.to_pylist()}, columns[0].counts, columns[0].rows)
        codes = np.stack([column.codes() for column in columns], axis=1)
        tuples, counts = np.unique(codes[(codes >= 0).any(axis=1)], axis=0, return_counts=True)
        found = {
            column.name: column.written.take(pa.array(places, mask=places < 0)).to_pylist()
            for column, places in zip(columns, tuples.T, strict=True)
        }
        return cls(found, counts, len(codes))

    @property
    def size(self) -> int:
        return len(self.counts)

    @cached_property
    def tokens(self) -> pa.Array:
        """The rows as tokens of text: what may be equal to one of theirs. Empty for rows of several columns."""
        columns = list(self.columns.values())
        return fold(pa.array(columns[0] if len(columns) == 1 else [], pa.string())).cast(pa.large_string())

    def without(self, values: pa.Array) -> QueryRows:
        """The rows whose value is not among these."""
        if not len(self.tokens):
            return self
        rows = np.flatnonzero(~pc.is_in(self.tokens, values).to_numpy(zero_copy_only=False))
        if len(rows) == self.size:
            return self
        columns = {name: [column[row] for row in rows.tolist()] for name, column in self.columns.items()}
        return QueryRows(columns, self.counts[rows], int(self.counts[rows].sum()))

    @cached_property
    def written(self) -> list[str]:
        """Each row as one text."""
        return [" ".join(filter(None, row)) for row in zip(*self.columns.values(), strict=True)]

    @cached_property
    def keys(self) -> tuple[Array, Array]:
        """The keys that are looked up, and the row that each belongs to."""
        asked = np.arange(self.size)[:: -(-self.size // _MOST_ASKED) or 1]
        keys, starts = keys_of(pa.array([self.written[row] for row in asked], pa.large_string()))
        return keys, asked[np.repeat(np.arange(len(asked)), np.diff(starts))]

    def sharing(self, keys: Array, most: int) -> dict[str, list[str | None]]:
        """The rows that have one of the ascending keys; those with the smallest, if they are more than `most`."""
        mine, owners = self.keys
        held = np.isin(mine, keys)
        least = np.full(self.size, 1 << 32, np.int64)
        np.minimum.at(least, owners[held], mine[held].astype(np.int64))
        order = np.argsort(least, kind="stable")[:most]
        rows = np.sort(order[least[order] < 1 << 32]).tolist()
        return {name: [column[row] for row in rows] for name, column in self.columns.items()}


@dataclass(frozen=True)
class ComparedValues:
    """My values and theirs as numbers, the same if they join; -1 for values that no program makes."""

    mine: Array
    theirs: Array
    my_counts: Array
    their_counts: Array
    their_values: pa.LargeStringArray
    lengths: Array  # of what mine is compared by

    @classmethod
    def of(cls, match: Match, mine: QueryRows, discovery: Discovery) -> ComparedValues:
        segment, column = match.segment, match.column
        record = segment.catalog.column(column)
        ids, counts = segment.tokens.set_of(column)
        values = segment.tokens.tokens(ids)
        if discovery.reversed:
            normal, wanted = fold, fold(pa.array(mine.columns[discovery.target], pa.string())).cast(pa.large_string())
            step = -(-len(values) // _MOST_THEIRS) or 1
            values, counts = values.take(pa.array(np.arange(len(values))[::step])), counts[::step]
            made = made_by(discovery.programs, {record.column: values.to_pylist()}, normal, wanted)
            sides = wanted, made
        else:
            made = made_by(discovery.programs, mine.columns, partial(normalise, column_type=record.type), values)
            sides = made, values
        codes = pa.concat_arrays(list(sides)).dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
        cut = len(sides[0])
        lengths = pc.utf8_length(sides[0]).fill_null(0).to_numpy(zero_copy_only=False)
        return cls(codes[:cut], codes[cut:], mine.counts, counts.astype(np.int64), values, lengths)

    @property
    def query_size(self) -> int:
        return len(self.mine)

    @property
    def column_size(self) -> int:
        return len(self.theirs)

    @cached_property
    def matched(self) -> Array:
        """Which of my values have a match."""
        found: Array = (self.mine >= 0) & np.isin(self.mine, self.theirs)
        return found

    @property
    def overlap(self) -> int:
        return int(self.matched.sum())

    @property
    def joined_values(self) -> int:
        """The number of distinct values that join."""
        return len(np.unique(self.mine[self.matched]))

    @property
    def is_chance(self) -> bool:
        """Whether other values as short would match about as often."""
        length = float(np.mean(self.lengths[self.matched])) if self.overlap else 0.0
        return is_chance(self.overlap, self.query_size, self.column_size, length)

    def hit(self, match: Match, mine: QueryRows, discovery: Discovery) -> TransformedHit:
        segment, record = match.segment, match.segment.catalog.column(match.column)
        size = int(max(self.mine.max(initial=-1), self.theirs.max(initial=-1))) + 1
        ours, others = (
            np.bincount(codes[codes >= 0], weights=counts[codes >= 0], minlength=size).astype(np.int64)
            for codes, counts in ((self.mine, self.my_counts), (self.theirs, self.their_counts))
        )
        both = (ours > 0) & (others > 0)
        reached = (self.theirs >= 0) & np.isin(self.theirs, np.flatnonzero(both))
        cardinality = cardinality_of(ours[both], others[both])
        names = [column.column for column in segment.catalog.columns_of(int(segment.table_of[match.column]))]
        return TransformedHit(
            rank=0,
            table=match.table,
            on=tuple(mine.columns),
            columns=(record.column,),
            score=self.overlap / self.query_size * _BY_CARDINALITY[cardinality],
            overlap=self.overlap,
            containment=self.overlap / self.query_size,
            jaccard=self.overlap / (self.query_size + self.column_size - min(int(reached.sum()), self.overlap)),
            query_size=self.query_size,
            column_size=self.column_size,
            exact=True,
            cardinality=cardinality,
            query_rows=mine.rows,
            matched_rows=int(ours[both].sum()),
            table_rows=record.rows,
            matched_table_rows=int(others[both].sum()),
            joined_rows=int(ours[both] @ others[both]),
            matched=tuple(_pairs(self, mine)),
            unmatched=tuple(_sample(mine.written, self.my_counts, ~self.matched)),
            only_there=tuple(_sample(self.their_values.to_pylist(), self.their_counts, ~reached)),
            brings=tuple(name for name in names if name != record.column),
            programs=discovery.programs,
            transformed="theirs" if discovery.reversed else "mine",
            target=discovery.target,
        )


def _pairs(compared: ComparedValues, mine: QueryRows) -> Iterator[str]:
    """Some of my values that match, each with theirs."""
    places = _most_frequent(compared.my_counts, compared.matched)
    for place in places:
        other = int(np.flatnonzero(compared.theirs == compared.mine[place])[0])
        yield f"{shorten(mine.written[place])} → {shorten(compared.their_values[other].as_py())}"


def _sample(values: Sequence[str], counts: Array, chosen: Array) -> Iterator[str]:
    return (shorten(values[place]) for place in _most_frequent(counts, chosen))


def _most_frequent(counts: Array, chosen: Array) -> list[int]:
    places = np.flatnonzero(chosen)
    found: list[int] = places[np.argsort(-counts[places], kind="stable")][:SHOWN].tolist()
    return found
