"""Tables that join with mine after a transformation (section 5.3.1 of Zhu's thesis).

Columns are found by the pieces of their values, rare pieces first; a program is learned on some of the values that
share pieces (Auto-Join), and what it joins is counted over all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.strength import POOR, rarity
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pieces.core import keys_of
from dovetail.normalise import fold, normalise
from dovetail.search.engine import Match
from dovetail.search.hits import Hits
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten
from dovetail.search.transform.hit import TransformedHit
from dovetail.tables.input_table import InputColumn, InputTable
from dovetail.transform.apply import made_by
from dovetail.transform.discover import Discovery, discover
from dovetail.transform.operators import Extract, Program

_TEXT = ("text", "mixed")
_MOST_ASKED = 50_000  # values of mine whose pieces are looked up
_CANDIDATES = 24  # columns for which a program is learned
_LEARNED_FROM = 400  # values on each side that share pieces
_MOST_THEIRS = 200_000  # values of theirs that are transformed
_LONGEST = 80.0  # characters, on average: longer values are prose
_LEAST_MATCHED = 3
_LEAST_SHARE = 0.1  # of the smaller column's values: less is chance
_LETTERS = 26
_TOO_EASY = 2  # times as often as by lot, because letters are not used alike
_BY_CARDINALITY = {"1:1": 1.0, "N:1": 1.0, "1:N": 0.9, "N:M": 0.6}


@dataclass(frozen=True)
class Mine:
    """The distinct rows of some columns of mine, as I wrote them, and how often each stands."""

    columns: dict[str, list[str | None]]
    counts: Array
    rows: int  # with the empty ones

    @classmethod
    def of(cls, columns: Sequence[InputColumn]) -> Mine:
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

    def without(self, values: pa.Array) -> Mine:
        """The rows that are none of these values as they are."""
        if not len(self.tokens):
            return self
        rows = np.flatnonzero(~pc.is_in(self.tokens, values).to_numpy(zero_copy_only=False))
        if len(rows) == self.size:
            return self
        columns = {name: [column[row] for row in rows.tolist()] for name, column in self.columns.items()}
        return Mine(columns, self.counts[rows], int(self.counts[rows].sum()))

    @cached_property
    def written(self) -> list[str]:
        """Each row as one text."""
        return [" ".join(filter(None, row)) for row in zip(*self.columns.values(), strict=True)]

    @cached_property
    def keys(self) -> tuple[Array, Array]:
        """What is looked up for the rows that are asked with, and to which of them each key belongs."""
        asked = np.arange(self.size)[:: -(-self.size // _MOST_ASKED) or 1]
        keys, starts = keys_of(pa.array([self.written[row] for row in asked], pa.large_string()))
        return keys, asked[np.repeat(np.arange(len(asked)), np.diff(starts))]

    def sharing(self, keys: Array, most: int) -> dict[str, list[str | None]]:
        """The rows that have one of the ascending keys; those with the least, where they are more than `most`."""
        mine, owners = self.keys
        held = np.isin(mine, keys)
        least = np.full(self.size, 1 << 32, np.int64)
        np.minimum.at(least, owners[held], mine[held].astype(np.int64))
        order = np.argsort(least, kind="stable")[:most]
        rows = np.sort(order[least[order] < 1 << 32]).tolist()
        return {name: [column[row] for row in rows] for name, column in self.columns.items()}


def search_transformed(
    segments: Sequence[OpenSegment],
    table: InputTable,
    names: Sequence[str],
    k: int,
    allowed: list[Array],
    least: tuple[Fraction | None, int],
) -> Hits:
    """The tables with a column that a program of my columns reaches, or the other way round.

    Without names, every column of text is tried alone. `least`: the share of my values that must match, and how many.
    """
    begun = time.perf_counter()
    groups = [[table.column(name) for name in names]] if names else [[column] for column in _texts(table)]
    if not groups:
        raise InputError(f"{table.name} has no column of text to transform.")
    found: dict[str, TransformedHit] = {}
    for columns in groups:
        mine = Mine.of(columns)
        if mine.size == 0:
            raise InputError(f"{' and '.join(names)} of {table.name} has no values: all are empty or null markers.")
        for match in _candidates(segments, mine, allowed):
            hit = _verified(match, mine, least)
            if hit and (hit.table not in found or hit.score > found[hit.table].score):
                found[hit.table] = hit
    ranked = sorted(found.values(), key=lambda hit: (-hit.score, hit.table))[:k]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(ranked, 1)]
    asked = f"{' and '.join(names)} of {table.name}" if names else table.name
    nothing = "" if hits else f"No table of the lake joins with {asked} after a transformation."
    return Hits(hits, table.name, "transform", "transform", False, time.perf_counter() - begun, nothing)


def _texts(table: InputTable) -> list[InputColumn]:
    return [column for column in table.columns if column.type.kind in _TEXT and column.size > 1]


def _candidates(segments: Sequence[OpenSegment], mine: Mine, allowed: list[Array]) -> list[Match]:
    """The columns whose pieces weigh most: the rarer a piece is in the lake, the more it tells."""
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


def _verified(match: Match, mine: Mine, least: tuple[Fraction | None, int]) -> TransformedHit | None:
    """The hit, if a program joins enough of what does not join as it is."""
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
    only = Compared.of(match, rest, discovery)
    least_matched = max(float(_LEAST_MATCHED), _LEAST_SHARE * min(only.query_size, only.column_size))
    if only.is_chance or only.overlap < least_matched or only.met < _LEAST_MATCHED:
        return None
    if rest.size < mine.size:
        discovery = replace(discovery, programs=(_unchanged(discovery), *discovery.programs))
    compared = Compared.of(match, mine, discovery)
    hit = compared.hit(match, mine, discovery)
    threshold, matched = least
    if threshold is None and matched == 1:
        smaller = min(compared.query_size, compared.column_size)
        return hit if hit.score * compared.query_size >= POOR * smaller else None
    return hit if hit.overlap >= max(matched, (threshold or 0) * hit.query_size) else None


def _unchanged(discovery: Discovery) -> Program:
    return Program((Extract(discovery.source),))


@dataclass(frozen=True)
class Compared:
    """My values and theirs as numbers that are the same where they join, -1 for what no program makes."""

    mine: Array
    theirs: Array
    my_counts: Array
    their_counts: Array
    their_values: pa.LargeStringArray
    lengths: Array  # of what mine is compared by

    @classmethod
    def of(cls, match: Match, mine: Mine, discovery: Discovery) -> Compared:
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
        """Which of mine."""
        found: Array = (self.mine >= 0) & np.isin(self.mine, self.theirs)
        return found

    @property
    def overlap(self) -> int:
        return int(self.matched.sum())

    @property
    def met(self) -> int:
        """How many distinct values they meet in."""
        return len(np.unique(self.mine[self.matched]))

    @property
    def is_chance(self) -> bool:
        """Whether values as short would be met about as often by any others: most codes of three letters are used."""
        length = round(float(np.mean(self.lengths[self.matched]))) if self.overlap else 0
        chance = min(1.0, _TOO_EASY * self.column_size / _LETTERS ** max(length, 1))
        return bool(self.overlap <= 2 * chance * self.query_size)

    def hit(self, match: Match, mine: Mine, discovery: Discovery) -> TransformedHit:
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


def _pairs(compared: Compared, mine: Mine) -> Iterator[str]:
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
