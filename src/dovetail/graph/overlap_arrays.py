"""Overlaps of combinations of columns as arrays: how they are kept beside an index, and exchanged on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dovetail._types import Array
from dovetail.graph.composite_keys import Pairing
from dovetail.graph.row_tuples import TupleOverlap
from dovetail.indexes.tokens.format import running_sum


def arrays_of_overlaps(overlaps: Mapping[Pairing, TupleOverlap]) -> dict[str, Array]:
    """`offsets` bounds the columns of each pairing; `counts` has its three numbers."""
    counts = [(found.dependent, found.referenced, found.common) for found in overlaps.values()]
    return {
        "offsets": running_sum(np.array([len(one) for one, _ in overlaps], np.int64)),
        "dependent": np.array([column for one, _ in overlaps for column in one], np.int64),
        "referenced": np.array([column for _, other in overlaps for column in other], np.int64),
        "counts": np.array(counts, np.int64).reshape(-1, 3),
    }


def overlaps_of_arrays(
    offsets: Array, dependent: Array, referenced: Array, counts: Array, places: Array | None = None
) -> Iterator[tuple[Pairing, TupleOverlap]]:
    """What `arrays_of_overlaps` was given, or those at some places."""
    ends, ones, others, numbers = (array.tolist() for array in (offsets, dependent, referenced, counts.reshape(-1, 3)))
    for place in range(len(numbers)) if places is None else places.tolist():
        span = slice(ends[place], ends[place + 1])
        yield (tuple(ones[span]), tuple(others[span])), TupleOverlap(*numbers[place])
