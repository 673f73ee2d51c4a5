"""Bridges whose values are written differently: `o'hare international` for `O'Hare International Airport`, or by rule.

By similarity: a column is compared only if its table already holds equal values of the other side, and if it has rare
words of the values. What a column holds for each other value is left alone: equal beats similar. The most similar one
must be so in both directions, among all values of the column and among all of mine.

By another rule, `US-CA` for `CA`, `4711` for `Part 4711`: codes are not compared by similarity, since similar ones are
others. But a program that makes many of them (Auto-Join, `dovetail.transform`) is no chance. It is learned from my
values and those of a column whose table holds equal values of the other side and whose values have rare pieces of mine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.evidence.features import rarity
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pieces.core import keys_of
from dovetail.normalise import ColumnType, normalise
from dovetail.similar.matching import best_keys
from dovetail.through.bridges import BridgePlace, Reach, Values, equal_pairs, text_columns
from dovetail.through.series import SeriesNames
from dovetail.transform.discover import discover
from dovetail.transform.program import made_by

LEAST_PROBABILITY = 0.5  # that two spellings mean the same
MOST_COLUMNS = 30  # that are compared by similarity; arbitrary, for time
LEAST_WORDS = 0.02  # of the values' words, by weight, that a column has
MOST_LEARNED = 5  # of one side, for which programs are learned; arbitrary, for time
MOST_KEYS = 20_000  # of a column; arbitrary, for time
SECONDS = 0.5  # in which programs are learned, for both sides together; arbitrary
LEAST_MADE = 3  # pairs that a program makes: fewer teach nothing
_FEW = 2.0  # pairs that count against a program before any is made: of two values, little is known; as in votes.py
_TEXT = ColumnType("text")


def spelled(segment: OpenSegment, column: int, values: Values, wanted: Array, equal: Reach) -> Reach:
    """The reach of a column with those of the wanted values that are spelled differently."""
    here = np.zeros(len(values) + 1, bool)
    here[equal.places] = True  # the last place is for tokens that are no value: -1
    missing = np.flatnonzero(wanted & ~here[:-1])
    if not len(missing):
        return equal
    keys: list[str] = segment.tokens.tokens(segment.tokens.set_of(column)[0]).to_pylist()
    forth = best_keys([values.texts[place] for place in missing.tolist()], keys)
    likely = np.flatnonzero((forth.keys >= 0) & (forth.probability >= LEAST_PROBABILITY))
    likely = likely[equal.places[forth.keys[likely]] < 0]
    if not len(likely):
        return equal
    back = best_keys([keys[key] for key in forth.keys[likely].tolist()], values.texts)
    mutual = (back.keys == missing[likely]) & (back.probability >= LEAST_PROBABILITY)
    places, probability = equal.places.copy(), equal.probability.copy()
    found = likely[mutual]
    places[forth.keys[found]] = missing[found]
    likelihood = np.minimum(forth.probability[found], back.probability[mutual])
    probability[forth.keys[found]] = likelihood * forth.similarity[found]
    return Reach(places, probability)


def places_by_words(
    segments: Sequence[OpenSegment],
    values: Values,
    wanted: Array,
    others: Values,
    side: int,
    known: Iterable[BridgePlace],
    least: int,
) -> list[BridgePlace]:
    """Pairs of columns that hold `least` of the other side and rare words of the wanted values, best first.

    `side` is that of the values (0: left); `known` places are left out. Of one series, the first few are enough.
    """
    if not wanted.any() or len(others) < least:
        return []
    keys = np.unique(keys_of(values.tokens.filter(pa.array(wanted)))[0])
    alive = [segment.alive[segment.table_of] for segment in segments]
    holders = sum(segment.pieces.holders(keys, live) for segment, live in zip(segments, alive, strict=True))
    weights = rarity(np.maximum(holders, 1), max(1, sum(int(live.sum()) for live in alive))) ** 2
    weights = np.where(holders > 0, weights, 0.0)
    seen = {(place.segment, place.columns) for place in known}
    found: list[tuple[float, BridgePlace]] = []
    for number, (segment, live) in enumerate(zip(segments, alive, strict=True)):
        sums = segment.pieces.weigh(keys, weights) / max(1e-9, float(weights.sum()))
        there = segment.josie.search(others.tokens, len(live) + 1, least, live)
        worded = np.flatnonzero((sums >= LEAST_WORDS) & live & text_columns(segment))
        tables = segment.table_of
        sizes = np.maximum(segment.tokens.set_sizes(), 1)
        for i, j in zip(*equal_pairs(tables[worded], tables[there.columns]), strict=True):
            mine, theirs, held = int(worded[i]), int(there.columns[j]), int(there.overlaps[j])
            columns = (mine, theirs) if side == 0 else (theirs, mine)
            if mine != theirs and (number, columns) not in seen:
                pair = (0, held) if side == 0 else (held, 0)
                score = float(sums[mine]) * held / float(sizes[mine] * sizes[theirs]) ** 0.25
                found.append((-score, BridgePlace(number, int(tables[mine]), columns, pair)))
    found.sort(key=lambda entry: entry[0])
    return list(SeriesNames(segments).few_of_each((place for _, place in found), MOST_COLUMNS))


def transformed(
    segment: OpenSegment, column: int, values: Values, wanted: Array, equal: Reach, deadline: Deadline
) -> Reach:
    """The reach of a column with those of the wanted values that learned programs make of its own, or the reverse.

    Only pairs count whose values have no other partner; the more of them have, the less likely the program is right.
    """
    missing = np.setdiff1d(np.flatnonzero(wanted), equal.places)
    keys = segment.tokens.tokens(segment.tokens.set_of(column)[0])
    if len(missing) < LEAST_MADE or not LEAST_MADE <= len(keys) <= MOST_KEYS:
        return equal
    mine = values.tokens.take(pa.array(missing))
    found = discover({"mine": mine.to_pylist()}, {"theirs": keys.to_pylist()}, deadline=deadline)
    if found is None:
        return equal
    source, target, name = (keys, mine, "theirs") if found.reversed else (mine, keys, "mine")
    made = pc.index_in(made_by(found.programs, {name: source.to_pylist()}, _tokens, target), target)
    sources = np.flatnonzero(made.is_valid().to_numpy(zero_copy_only=False))
    targets = made.drop_null().to_numpy()
    alone = np.bincount(targets, minlength=len(target))[targets] == 1
    value, key = (targets, sources) if found.reversed else (sources, targets)
    alone &= equal.places[key] < 0
    if alone.sum() < LEAST_MADE:
        return equal
    places, probability = equal.places.copy(), equal.probability.copy()
    places[key[alone]] = missing[value[alone]]
    probability[key[alone]] = alone.sum() / (len(alone) + _FEW)
    return Reach(places, probability)


def _tokens(values: pa.Array) -> pa.Array:
    return normalise(values, _TEXT).cast(pa.large_string())
