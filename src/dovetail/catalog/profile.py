"""A column's profile and tokens from its distinct raw values.

Everything is computed on distinct values with their row counts, never on rows. A big table is read in slices, so a
column comes as one batch of distinct values a slice; the same value may then be in several of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.records import ColumnRecord
from dovetail.indexes.tokens.core import hash_tokens
from dovetail.normalise import ColumnType, TypeEvidence, decide, fold, gather, tokens

Array = npt.NDArray[Any]

_SHOWN = 5
_SHOWN_LENGTH = 200


@dataclass
class RawCounts:
    """Distinct raw values, and in how many rows each stands."""

    values: pa.LargeStringArray
    counts: Array

    @functools.cached_property
    def folded(self) -> pa.Array:
        return fold(self.values)

    @property
    def evidence(self) -> TypeEvidence:
        return gather(self.folded, self.counts)


@dataclass(frozen=True)
class TokenCounts:
    """Tokens (several raw values may fold into one), and in how many rows each stands."""

    tokens: pa.LargeStringArray
    counts: Array


@dataclass(frozen=True)
class RawColumn:
    """A column as it was read: batches that can be gone through more than once, and what is known of its type."""

    name: str
    rows: int
    evidence: TypeEvidence
    batches: Callable[[], Iterable[RawCounts]]


def count_values(column: pa.ChunkedArray) -> RawCounts:
    """The distinct values of some rows without the nulls, in the order of their first appearance."""
    counted = column.value_counts()
    values, counts = counted.field(0), counted.field(1)
    if values.null_count:
        kept = values.is_valid()
        values, counts = values.filter(kept), counts.filter(kept)
    return RawCounts(values.cast(pa.large_string()), counts.to_numpy())


def profile_column(column: RawColumn, emit: Callable[[TokenCounts], None]) -> ColumnRecord:
    """The profile of a column; its tokens go to `emit` batch by batch, so that each is made once and held by nobody."""
    column_type = decide(column.evidence)
    summary = _Summary(column_type)
    for batch in column.batches():
        emit(summary.add(batch))
    return ColumnRecord(
        column=column.name,
        type=column_type,
        rows=column.rows,
        nulls=column.rows - summary.filled,
        raw_distinct=summary.raw_distinct(),
        minimum=_shorten(summary.minimum),
        maximum=_shorten(summary.maximum),
        mean_length=summary.length / summary.filled if summary.filled else 0.0,
        max_length=summary.max_length,
        number_share=column.evidence.number_share(column_type),
        top=tuple((_shorten(value), rows) for value, rows in summary.top(column.batches())),
        sample=tuple(_shorten(value) for value in summary.sample),
    )


class _Summary:
    """What a profile says of a column, gathered batch by batch."""

    def __init__(self, column_type: ColumnType) -> None:
        self._type = column_type
        self._hashes: list[Array] = []  # of raw values: the same one may come in several batches
        self._counts: list[Array] = []
        self.filled = 0
        self.length = 0
        self.max_length = 0
        self.minimum = self.maximum = ""
        self.sample: list[str] = []

    def add(self, batch: RawCounts) -> TokenCounts:
        found = tokens(batch.folded, self._type)
        raw, counts = batch.values, batch.counts
        if found.null_count:
            kept = found.is_valid()
            found, raw, counts = found.filter(kept), raw.filter(kept), counts[kept.to_numpy(zero_copy_only=False)]
        if len(found):
            lengths = pc.utf8_length(raw).to_numpy()
            self.filled += int(counts.sum())
            self.length += int((lengths * counts).sum())
            self.max_length = max(self.max_length, int(lengths.max()))
            self.sample += raw.slice(0, _SHOWN - len(self.sample)).to_pylist()
            self._widen_range(found)
            self._hashes.append(hash_tokens(raw))
            self._counts.append(counts)
        return TokenCounts(found, counts)

    def raw_distinct(self) -> int:
        if len(self._hashes) == 1:
            return len(self._hashes[0])
        return len(np.unique(np.concatenate(self._hashes))) if self._hashes else 0

    def top(self, batches: Iterable[RawCounts]) -> list[tuple[str, int]]:
        """The most frequent raw values with their rows; of equally frequent ones the first seen."""
        if not self._hashes:
            return []
        hashes, counts = self._total_counts()
        highest = np.sort(np.argsort(-counts, kind="stable")[:_SHOWN])
        wanted = dict(zip(hashes[highest].tolist(), counts[highest].tolist(), strict=True))
        named: dict[str, int] = {}
        for batch in batches:
            for place in np.flatnonzero(np.isin(hash_tokens(batch.values), hashes[highest])):
                value = batch.values[int(place)].as_py()
                named.setdefault(value, wanted[int(hash_tokens(batch.values.slice(int(place), 1))[0])])
        return sorted(named.items(), key=lambda entry: -entry[1])

    def _total_counts(self) -> tuple[Array, Array]:
        """Each raw value's hash and rows over all batches, in the order of first appearance."""
        hashes, counts = np.concatenate(self._hashes), np.concatenate(self._counts)
        if len(self._hashes) == 1:
            return hashes, counts
        distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        totals = np.bincount(inverse, weights=counts).astype(np.int64)
        order = np.argsort(first)
        return distinct[order], totals[order]

    def _widen_range(self, found: pa.Array) -> None:
        low, high = _range(found, self._type)
        if not self.maximum or _range(pa.array([self.minimum, low], pa.large_string()), self._type)[0] == low:
            self.minimum = low
        if not self.maximum or _range(pa.array([self.maximum, high], pa.large_string()), self._type)[1] == high:
            self.maximum = high


def _range(found: pa.Array, column_type: ColumnType) -> tuple[str, str]:
    """The least and the greatest token: by number in a column of numbers, by text elsewhere."""
    if column_type.kind in ("integer", "real"):
        numbers = found.cast(pa.float64()).to_numpy()
        return found[int(numbers.argmin())].as_py(), found[int(numbers.argmax())].as_py()
    ends = pc.min_max(found)
    return ends["min"].as_py(), ends["max"].as_py()


def _shorten(value: str) -> str:
    return value if len(value) <= _SHOWN_LENGTH else value[: _SHOWN_LENGTH - 1] + "…"
