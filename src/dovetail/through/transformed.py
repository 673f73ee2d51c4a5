"""Bridges whose values are written by another rule: `US-CA` for `CA`, `4711` for `Part 4711`.

Codes are not compared by similarity, since similar ones are others. But a program that makes many of them (Auto-Join,
`dovetail.transform`) is no chance. It is learned from my values and those of a column whose table holds equal values of
the other side and whose values have rare pieces of mine, as for spelling.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.normalise import ColumnType, normalise
from dovetail.through.bridges import Reach, Values
from dovetail.transform.discover import discover
from dovetail.transform.program import made_by

MOST_COLUMNS = 5  # of one side, for which programs are learned; arbitrary, for time
MOST_KEYS = 20_000  # of a column; arbitrary, for time
SECONDS = 0.5  # in which programs are learned, for both sides together; arbitrary
LEAST_MADE = 3  # pairs that a program makes: fewer teach nothing
_FEW = 2.0  # pairs that count against a program before any is made: of two values, little is known; as in votes.py
_TEXT = ColumnType("text")


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
