"""From evidence to the column's type. A column is what all of its values are; otherwise it is text."""

from __future__ import annotations

from dovetail.normalise.classes import DATES, NUMBERS, ValueClass
from dovetail.normalise.column_type import ColumnType
from dovetail.normalise.dates import format_of, is_ambiguous
from dovetail.normalise.evidence import TypeEvidence

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
