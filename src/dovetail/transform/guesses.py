"""Which forms could make a part of a wanted value, by what the texts of the examples and the wanted value look like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dovetail.normalise import plain
from dovetail.transform.forms import DATE_PARTS, DatePart, Form, Initials, Number, read_date, read_number

_MOST_DECIMALS = 9
_MOST_WIDTH = 20  # of a number with zeros in front; arbitrary
_DIGITS = re.compile("[0-9]+")
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")


def made_by_forms(texts: Sequence[str], wanted: str) -> Iterator[tuple[Form, tuple[str, ...]]]:
    """Forms that all texts have, and what they make of each, without accents and case; none that change nothing."""
    for form in _forms(texts, wanted):
        made = [form.apply(text) for text in texts]
        if all(made) and made != list(texts):
            yield form, tuple(plain(text or "") for text in made)


def _forms(texts: Sequence[str], wanted: str) -> Iterator[Form]:
    first = texts[0]
    if not any(map(str.isdigit, first)):
        yield Initials()
        return
    for comma in (False, True):
        if read_number(first, comma) is not None and (not comma or "," in first):
            yield from _numbers(first, wanted, comma)
    readings = [tuple(read_date(text, day_first) for text in texts) for day_first in (False, True)]
    for day_first, dates in enumerate(readings):
        if all(dates) and not (day_first and dates == readings[0]):
            yield from (DatePart(part, bool(day_first)) for part in DATE_PARTS)


def _numbers(text: str, wanted: str, comma: bool) -> Iterator[Number]:
    yield Number(decimal_comma=comma)
    if "," in wanted:
        yield Number(thousands=True, decimal_comma=comma)
    for width in {len(digits) for digits in _DIGITS.findall(wanted)}:
        if len(text) <= width <= _MOST_WIDTH:
            yield Number(width=width, decimal_comma=comma)
    for decimals in {len(digits) for digits in _DECIMALS.findall(wanted)} | {0}:
        if decimals <= _MOST_DECIMALS:
            yield Number(decimals=decimals, fixed=True, decimal_comma=comma)
            yield Number(decimals=decimals, fixed=True, thousands=True, decimal_comma=comma)
