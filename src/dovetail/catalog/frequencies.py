"""How often each raw value of a column occurs, over the batches in which the column was read."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.normalise import TypeEvidence, fold, gather
from dovetail.normalise.hashing import hash_tokens

# More hashes than these are worked through range by range, so that what is held beside them stays small. Arbitrary.
_RANGES, _MANY = 64, 1 << 20


@dataclass
class RawCounts:
    """Distinct raw values, how many rows each occurs in, and for every row the place of its value; -1 for null."""

    values: pa.LargeStringArray
    counts: Array
    codes: Array

    @functools.cached_property
    def folded(self) -> pa.Array:
        return fold(self.values)

    @property
    def evidence(self) -> TypeEvidence:
        return gather(self.folded, self.counts)


class _Batch(NamedTuple):
    """A batch by ascending hash: 16 bytes a value, whatever its length."""

    hashes: Array
    counts: Array
    places: Array  # where each value stood in the batch
    first: int  # how many values came before the batch


class Frequencies:
    """How many distinct values there are, and the `shown` most frequent.

    One batch is its own answer. Of several, which may share values, only hashes and counts are held, since the values
    themselves may not fit into memory; they are added up range by range of the hashes.
    """

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self._only: RawCounts | None = None
        self._batches: list[_Batch] = []

    def add(self, batch: RawCounts) -> None:
        if self._only is None and not self._batches:
            self._only = batch
            return
        for part in (self._only, batch) if self._only else (batch,):
            hashes = hash_tokens(part.values)
            order = np.argsort(hashes, kind="stable").astype(np.uint32)
            before = self._batches[-1].first + len(self._batches[-1].hashes) if self._batches else 0
            self._batches.append(_Batch(hashes[order], part.counts[order].astype(np.uint32), order, before))
        self._only = None

    def distinct(self) -> int:
        return len(self._only.values) if self._only else self._totals[0]

    def top(self, batches: Iterable[RawCounts]) -> list[tuple[str, int]]:
        """The most frequent values with their rows; of equally frequent ones the first seen."""
        if self._only:
            counts = self._only.counts
            places = _highest(counts, np.arange(len(counts)), self._shown)
            return [(self._only.values[int(i)].as_py(), int(counts[i])) for i in places]
        best = self._totals[1]
        wanted = np.array(list(best), np.uint64)
        names: dict[int, str] = {}
        for batch in batches if best else ():
            found = hash_tokens(batch.values)
            for place in np.flatnonzero(np.isin(found, wanted)):
                names.setdefault(int(found[place]), batch.values[int(place)].as_py())
        return [(names[hash_], rows) for hash_, rows in best.items()]

    @functools.cached_property
    def _totals(self) -> tuple[int, dict[int, int]]:
        """The number of distinct hashes, and the rows of the most frequent ones, best first."""
        ranges = _RANGES if sum(len(batch.hashes) for batch in self._batches) > _MANY else 1
        bounds = np.arange(1, ranges, dtype=np.uint64) << np.uint64(58)
        cuts = [[0, *np.searchsorted(batch.hashes, bounds).tolist(), len(batch.hashes)] for batch in self._batches]
        distinct = 0
        best: list[tuple[int, int, int]] = []
        for number in range(ranges if cuts else 0):
            parts = [(b, slice(c[number], c[number + 1])) for b, c in zip(self._batches, cuts, strict=True)]
            hashes = np.concatenate([batch.hashes[part] for batch, part in parts])
            first = np.concatenate([batch.places[part] + np.int64(batch.first) for batch, part in parts])
            counts = np.concatenate([batch.counts[part] for batch, part in parts])
            found, index, inverse = np.unique(hashes, return_index=True, return_inverse=True)
            rows = np.bincount(inverse, weights=counts).astype(np.int64)
            distinct += len(found)
            for i in _highest(rows, first[index], self._shown):
                best.append((-int(rows[i]), int(first[index[i]]), int(found[i])))
        return distinct, {hash_: -rows for rows, _, hash_ in sorted(best)[: self._shown]}


def _highest(counts: Array, first: Array, shown: int) -> Array:
    """The places of the highest counts, those seen first of equal ones, without sorting all of them."""
    places = np.arange(len(counts))
    if len(counts) > 50 * shown:
        least = np.partition(counts, len(counts) - shown)[len(counts) - shown]
        equal = np.flatnonzero(counts == least)
        if len(equal) > shown:
            equal = equal[np.argpartition(first[equal], shown)[:shown]]
        places = np.concatenate([np.flatnonzero(counts > least), equal])
    return places[np.lexsort((first[places], -counts[places]))][:shown]
