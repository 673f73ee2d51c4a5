"""A column's profile and tokens from its distinct raw values.

Everything is computed on distinct values with their row counts, never on rows. A big table is read in slices, so a
column comes as one batch of distinct values a slice; the same value may then be in several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.frequencies import Frequencies, RawCounts
from dovetail.catalog.records import ColumnRecord
from dovetail.normalise import ColumnType, TypeEvidence, decide, tokens

Array = npt.NDArray[Any]

_SHOWN = 5
_SHOWN_LENGTH = 200


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
        raw_distinct=summary.frequencies.distinct(),
        minimum=_shorten(summary.minimum),
        maximum=_shorten(summary.maximum),
        mean_length=summary.length / summary.filled if summary.filled else 0.0,
        max_length=summary.max_length,
        number_share=column.evidence.number_share(column_type),
        top=tuple((_shorten(value), rows) for value, rows in summary.frequencies.top(column.batches())),
        sample=tuple(_shorten(value) for value in summary.sample),
    )


class _Summary:
    """What a profile says of a column, gathered batch by batch."""

    def __init__(self, column_type: ColumnType) -> None:
        self._type = column_type
        self.frequencies = Frequencies(_SHOWN)
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
            found, raw, counts = (
                found.filter(kept),
                raw.filter(kept),
                counts[kept.to_numpy(zero_copy_only=False)],
            )
        if len(found):
            lengths = pc.utf8_length(raw).to_numpy()
            self.filled += int(counts.sum())
            self.length += int(lengths @ counts)
            self.max_length = max(self.max_length, int(lengths.max()))
            fresh = (value for value in raw.slice(0, 2 * _SHOWN).to_pylist() if value not in self.sample)
            self.sample = [*self.sample, *fresh][:_SHOWN]
            self._widen_range(found)
            self.frequencies.add(RawCounts(raw, counts))
        return TokenCounts(found, counts)

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
        lows, highs = (found.filter(pa.array(numbers == end)).to_pylist() for end in (numbers.min(), numbers.max()))
        # Numbers of many digits may share a float; as decimals they differ.
        return min(lows, key=Decimal), max(highs, key=Decimal)
    ends = pc.min_max(found)
    return ends["min"].as_py(), ends["max"].as_py()


def _shorten(value: str) -> str:
    return value if len(value) <= _SHOWN_LENGTH else value[: _SHOWN_LENGTH - 1] + "…"
