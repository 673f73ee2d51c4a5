"""A column's profile and tokens from its distinct raw values.

Everything is computed on distinct values with their row counts, never on rows. A big table is read in slices, so a
column comes as one batch of distinct values a slice; the same value may then be in several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.catalog.frequencies import Frequencies, RawCounts
from dovetail.catalog.kernels import count_codes
from dovetail.catalog.records import ColumnRecord
from dovetail.normalise import ColumnType, TypeEvidence, decide, tokens
from dovetail.normalise.keyed import HASHED, hashed_values, required_key

_SHOWN = 5
_SHOWN_LENGTH = 200


@dataclass(frozen=True)
class TokenCounts:
    """Tokens (several raw values may fold into one), in how many rows each stands, and which one each row has.

    `codes` are places among the tokens, -1 for null.
    """

    tokens: pa.LargeStringArray
    counts: Array
    codes: Array


@dataclass(frozen=True)
class RawColumn:
    """A column as it was read: batches that can be gone through more than once, and what is known of its type."""

    name: str
    rows: int
    evidence: TypeEvidence
    batches: Callable[[], Iterable[RawCounts]]
    is_hashed: bool = False


def count_values(column: pa.ChunkedArray) -> RawCounts:
    """The distinct values of some rows without the nulls, in the order of their first appearance."""
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary.cast(pa.large_string())
    indices = encoded.indices
    codes = (indices.fill_null(-1) if indices.null_count else indices).to_numpy()
    return RawCounts(values, count_codes(codes, len(values)), codes)


def count_columns(table: pa.Table, hashed: Collection[str] = ()) -> list[RawCounts]:
    """The distinct values of every column; of those to be hashed, their hashes alone."""
    return [
        hashed_counts(count_values(column)) if name in hashed else count_values(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]


def hashed_counts(found: RawCounts) -> RawCounts:
    """The same rows with hashes in the place of values, of which several may have the same."""
    encoded = hashed_values(found.values, required_key()).dictionary_encode()
    places = np.append(encoded.indices.fill_null(-1).to_numpy(), -1).astype(np.int32)
    codes = places[found.codes]
    return RawCounts(encoded.dictionary, count_codes(codes, len(encoded.dictionary)), codes)


def profile_column(column: RawColumn, emit: Callable[[TokenCounts], None]) -> ColumnRecord:
    """The profile of a column; its tokens go to `emit` batch by batch, so that each is made once and held by nobody."""
    column_type = HASHED if column.is_hashed else decide(column.evidence)
    summary = _Summary(column_type)
    for batch in column.batches():
        emit(summary.add(batch))
    return ColumnRecord(
        column=column.name,
        type=column_type,
        rows=column.rows,
        nulls=column.rows - summary.filled,
        raw_distinct=summary.frequencies.distinct(),
        minimum=shorten(summary.minimum),
        maximum=shorten(summary.maximum),
        mean_length=summary.length / summary.filled if summary.filled else 0.0,
        max_length=summary.max_length,
        number_share=column.evidence.number_share(column_type),
        top=tuple((shorten(value), rows) for value, rows in summary.frequencies.top(column.batches())),
        sample=tuple(shorten(value) for value in summary.sample),
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
        raw, counts, codes = batch.values, batch.counts, batch.codes
        if found.null_count:
            kept = found.is_valid()
            valid = kept.to_numpy(zero_copy_only=False)
            found, raw, counts = found.filter(kept), raw.filter(kept), counts[valid]
            codes = places_of(valid)[codes]
        if len(found):
            lengths = pc.utf8_length(raw).to_numpy()
            self.filled += int(counts.sum())
            self.length += int(lengths @ counts)
            self.max_length = max(self.max_length, int(lengths.max()))
            fresh = (value for value in raw.slice(0, 2 * _SHOWN).to_pylist() if value not in self.sample)
            self.sample = [*self.sample, *fresh][:_SHOWN]
            self._widen_range(found)
            self.frequencies.add(RawCounts(raw, counts, codes))
        return TokenCounts(found, counts, codes)

    def _widen_range(self, found: pa.Array) -> None:
        low, high = value_range(found, self._type)
        if not self.maximum or value_range(pa.array([self.minimum, low], pa.large_string()), self._type)[0] == low:
            self.minimum = low
        if not self.maximum or value_range(pa.array([self.maximum, high], pa.large_string()), self._type)[1] == high:
            self.maximum = high


def places_of(kept: Array) -> Array:
    """The new place of every value when only some are kept, -1 for the others. The last item serves the code -1."""
    places = np.cumsum(kept, dtype=np.int32) - 1
    return np.append(np.where(kept, places, -1), -1).astype(np.int32)


def value_range(found: pa.Array, column_type: ColumnType) -> tuple[str, str]:
    """The least and the greatest token: by number in a column of numbers, by text elsewhere."""
    if column_type.kind in ("integer", "real"):
        numbers = found.cast(pa.float64()).to_numpy()
        lows, highs = (found.filter(pa.array(numbers == end)).to_pylist() for end in (numbers.min(), numbers.max()))
        # Numbers of many digits may share a float; as decimals they differ.
        return min(lows, key=Decimal), max(highs, key=Decimal)
    ends = pc.min_max(found)
    return ends["min"].as_py(), ends["max"].as_py()


def shorten(value: str) -> str:
    return value if len(value) <= _SHOWN_LENGTH else value[: _SHOWN_LENGTH - 1] + "…"
