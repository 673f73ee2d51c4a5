"""The date formats: one row each, from what the values of a column look like to how its tokens are made.

All values of a column must be of one format. Two parts and a year (``3/4/2004``) are a format only once
some value of the column shows which part is the day, by being above 12; until then the column's tokens stay
text. Years have four digits, days and months one or two. ``2004.6.12`` is not here: it is a version as
often as a date.
"""

from __future__ import annotations

from typing import NamedTuple

from dovetail.normalise import _date_kernels as kernels
from dovetail.normalise.classes import ValueClass


class DateFormat(NamedTuple):
    """A format, the classes its values may have, the class that proves it, and how a kernel reads it."""

    name: str
    classes: frozenset[ValueClass]
    proof: ValueClass
    layout: int
    day_first: bool = False
    kind: str = "date"


def _only(name: str, value_class: ValueClass, layout: int, day_first: bool = False, kind: str = "date") -> DateFormat:
    return DateFormat(name, frozenset({value_class}), value_class, layout, day_first, kind)


_SLASHES = frozenset({ValueClass.SLASH_EITHER})
_DASHES = frozenset({ValueClass.DASH_EITHER})

FORMATS = (
    _only("y-m-d", ValueClass.YEAR_DASH, kernels.YEAR_DASH),
    _only("y/m/d", ValueClass.YEAR_SLASH, kernels.YEAR_SLASH),
    _only("d.m.y", ValueClass.DOT, kernels.PARTS_DOT, day_first=True),
    DateFormat(
        "d/m/y",
        _SLASHES | {ValueClass.SLASH_DAY_FIRST},
        ValueClass.SLASH_DAY_FIRST,
        kernels.PARTS_SLASH,
        day_first=True,
    ),
    DateFormat("m/d/y", _SLASHES | {ValueClass.SLASH_MONTH_FIRST}, ValueClass.SLASH_MONTH_FIRST, kernels.PARTS_SLASH),
    DateFormat(
        "d-m-y",
        _DASHES | {ValueClass.DASH_DAY_FIRST},
        ValueClass.DASH_DAY_FIRST,
        kernels.PARTS_DASH,
        day_first=True,
    ),
    DateFormat("m-d-y", _DASHES | {ValueClass.DASH_MONTH_FIRST}, ValueClass.DASH_MONTH_FIRST, kernels.PARTS_DASH),
    _only("d month y", ValueClass.DAY_MONTH, kernels.DAY_MONTH),
    _only("d-month-y", ValueClass.DAY_MONTH_DASH, kernels.DAY_MONTH_DASH),
    _only("month d y", ValueClass.MONTH_DAY, kernels.MONTH_DAY),
    _only("y-m-d h:m:s", ValueClass.TIMESTAMP, kernels.TIMESTAMP, kind="timestamp"),
)

BY_NAME = {row.name: row for row in FORMATS}

_AMBIGUOUS = (_SLASHES, _DASHES)


def format_of(present: frozenset[ValueClass]) -> DateFormat | None:
    """The one format that the values of these classes are all of, if there is one."""
    return next((row for row in FORMATS if row.proof in present and present <= row.classes), None)


def is_ambiguous(present: frozenset[ValueClass]) -> bool:
    """Whether the values are dates of which nothing shows where the day is."""
    return present in _AMBIGUOUS
