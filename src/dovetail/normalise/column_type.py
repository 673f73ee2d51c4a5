"""The type of a column, inferred from how many of its values look like what.

Evidence of the slices of a big column adds up to the evidence of the column, in any order. Distinct values
that occur in two slices are counted in both, so after merging the counts of values are upper bounds; the
counts of rows, which alone decide the type, are exact. A column is what all of its values are; otherwise it
is text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.normalise._arrow import Strings, read
from dovetail.normalise._date_kernels import classify_dates
from dovetail.normalise._value_kernels import classify_values, tally
from dovetail.normalise.classes import DATES, KEY_CLASSES, KEYS, NUMBERS, ValueClass
from dovetail.normalise.dates import BY_NAME, format_of, is_ambiguous

KINDS = ("text", "integer", "real", "date", "timestamp", "boolean", "mixed", "empty", "hashed")


@dataclass(frozen=True)
class ColumnType:
    """What a column holds. Stored in the catalog as JSON, it reproduces the column's tokens exactly.

    ``hashed`` are columns whose values are kept as keyed hashes only. ``date_format`` is one of
    ``dates.FORMATS`` by name, or empty where the column holds no dates or nothing shows which of their parts
    is the day. ``na_is_null`` and ``sentinels_are_null`` say what the column's other values say about ``na``
    and about numbers such as 9999.
    """

    kind: str
    date_format: str = ""
    na_is_null: bool = False
    sentinels_are_null: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"found the kind {self.kind!r}; allowed are {', '.join(KINDS)}")
        if self.date_format and self.date_format not in BY_NAME:
            raise ValueError(f"found the date format {self.date_format!r}; allowed are {', '.join(BY_NAME)}")

    def to_json(self) -> dict[str, str | bool]:
        """The type as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> ColumnType:
        """The type that ``to_json`` gave."""
        return cls(**stored)


_CLASSES = len(ValueClass)
_NOTHING = (0,) * _CLASSES


@dataclass(frozen=True)
class TypeEvidence:
    """Rows and distinct values by class of value, each in the order of ``ValueClass``."""

    class_rows: tuple[int, ...] = _NOTHING
    class_values: tuple[int, ...] = _NOTHING

    def __add__(self, other: TypeEvidence) -> TypeEvidence:
        return TypeEvidence(
            tuple(map(int.__add__, self.class_rows, other.class_rows)),
            tuple(map(int.__add__, self.class_values, other.class_values)),
        )

    def rows_of(self, classes: Iterable[ValueClass]) -> int:
        """Rows whose value is of one of these classes."""
        return sum(self.class_rows[kind] for kind in classes)

    @property
    def rows(self) -> int:
        """All rows, nulls included."""
        return sum(self.class_rows)

    @property
    def distinct_values(self) -> int:
        """Distinct folded values that are not null markers in every column; an upper bound after merging."""
        return sum(self.class_values) - self.class_values[ValueClass.MISSING] - self.class_values[ValueClass.MARKER]

    def number_share(self, column_type: ColumnType) -> float:
        """The share of numbers, leading zeros or not, among the rows that have a token."""
        return self._share((*NUMBERS, ValueClass.LEADING_ZERO), column_type)

    def _share(self, classes: Iterable[ValueClass], column_type: ColumnType) -> float:
        nulls = null_classes(column_type)
        filled = self.rows - self.rows_of(nulls)
        return self.rows_of(kind for kind in classes if kind not in nulls) / filled if filled else 0.0

    def to_json(self) -> dict[str, dict[str, int]]:
        """The classes that occur, as what JSON can hold."""
        return {"rows": _by_name(self.class_rows), "values": _by_name(self.class_values)}

    @classmethod
    def from_json(cls, stored: dict[str, dict[str, int]]) -> TypeEvidence:
        """The evidence that ``to_json`` gave."""
        return cls(_in_order(stored["rows"]), _in_order(stored["values"]))


def _by_name(counts: tuple[int, ...]) -> dict[str, int]:
    return {kind.name.lower(): counts[kind] for kind in ValueClass if counts[kind]}


def _in_order(counts: dict[str, int]) -> tuple[int, ...]:
    found = {ValueClass[name.upper()]: count for name, count in counts.items()}
    return tuple(found.get(kind, 0) for kind in ValueClass)


def null_classes(column_type: ColumnType) -> tuple[ValueClass, ...]:
    """The classes of values that are null in a column of this type."""
    classes = [ValueClass.MISSING, ValueClass.MARKER]
    if column_type.na_is_null:
        classes.append(ValueClass.NOT_AVAILABLE)
    if column_type.sentinels_are_null:
        classes.append(ValueClass.SENTINEL)
    return tuple(classes)


def gather(folded: pa.Array, counts: npt.NDArray[np.integer]) -> TypeEvidence:
    """The evidence of distinct folded values, of which the i-th occurs in ``counts[i]`` rows."""
    if len(counts) != len(folded):
        raise ValueError(f"found {len(counts)} counts for {len(folded)} values; give one count for each value")
    classes = classify(read(folded))
    totals = np.zeros((2, _CLASSES), dtype=np.int64)
    tally(classes, np.ascontiguousarray(counts, dtype=np.int64), totals[0], totals[1])
    rows, values = totals.tolist()
    return TypeEvidence(tuple(rows), tuple(values))


def classify(folded: Strings) -> npt.NDArray[np.uint8]:
    """What each folded value looks like, by its ``ValueClass``."""
    classes = np.empty(folded.length, dtype=np.uint8)
    if classify_values(folded.data, folded.offsets, folded.valid, KEYS, KEY_CLASSES, classes):
        classify_dates(folded.data, folded.offsets, classes)
    return classes


MIXED_SHARE_PERCENT = 10
"""From this share of numbers on, a text column is called mixed."""


def decide(evidence: TypeEvidence) -> ColumnType:
    """The type of a column. ``na`` is null where everything else is numbers, dates, booleans or nothing at all."""
    present = frozenset(kind for kind in ValueClass if evidence.class_rows[kind])
    others = present - {ValueClass.MISSING, ValueClass.MARKER, ValueClass.NOT_AVAILABLE}
    if others <= {ValueClass.SENTINEL}:
        return ColumnType("empty", na_is_null=True, sentinels_are_null=True)
    na_is_null = others <= {*NUMBERS, *DATES, ValueClass.LEADING_ZERO} or others == {ValueClass.BOOLEAN}
    values = others if na_is_null else present - {ValueClass.MISSING, ValueClass.MARKER}
    date_format = format_of(values)
    if date_format is not None:
        return ColumnType(date_format.kind, date_format.name, na_is_null)
    if is_ambiguous(values):
        return ColumnType("date", "", na_is_null)
    return ColumnType(_kind(values, evidence), "", na_is_null)


def _kind(values: frozenset[ValueClass], evidence: TypeEvidence) -> str:
    """The kind of a column whose values, all but its nulls, are of these classes and not all dates."""
    if ValueClass.LEADING_ZERO in values:
        return "text"
    if values <= {ValueClass.INTEGER, ValueClass.SENTINEL}:
        return "integer"
    if values <= frozenset(NUMBERS):
        return "real"
    if values == {ValueClass.BOOLEAN}:
        return "boolean"
    filled = evidence.rows_of(values)
    numbers = evidence.rows_of(NUMBERS)
    return "mixed" if numbers and numbers * 100 >= filled * MIXED_SHARE_PERCENT else "text"
