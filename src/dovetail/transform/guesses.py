"""Which forms could make a part of a wanted value, by what the texts of the examples and the wanted value look like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dovetail.normalise import plain
from dovetail.transform.forms import DATE_PARTS, DatePart, Form, Initials, Number, read_date, read_number

_MOST_DECIMALS = 9
_MOST_WIDTH = 20  # of a number with zeros in front; arbitrary
_RUN = re.compile("[0-9]+")
_DECIMALS = re.compile(r"[0-9]\.([0-9]+)")
_WRITTEN_OTHERWISE = re.compile(r"[+0][0-9]|.*,|.*\.[0-9]*0$")  # than Number() writes it
_HAS_YEAR = re.compile(".*[0-9]{4}")
_WORDS = re.compile(r"[^ \-]+[ \-]+[^ \-]")


def made_by_forms(texts: Sequence[str], wanted: str) -> Iterator[tuple[Form, tuple[str, ...]]]:
    """Forms that all texts have, and what they make of each, without accents and case; none that change nothing.

    `wanted` is what the first text should become a part of.
    """
    for form in _forms(texts, wanted):
        made = [form.apply(text) for text in texts]
        if all(made) and made != list(texts):
            yield form, tuple(plain(text or "") for text in made)


def _forms(texts: Sequence[str], wanted: str) -> Iterator[Form]:
    first = texts[0]
    if first[:1].isdigit() or first[:1] in "+-":
        yield from _numbers(first, wanted)
    elif _WORDS.match(first):
        yield Initials()
    if _HAS_YEAR.match(first):
        readings = [tuple(read_date(text, day_first) for text in texts) for day_first in (False, True)]
        for day_first, dates in enumerate(readings):
            if all(dates) and not (day_first and dates == readings[0]):
                yield from (DatePart(part, bool(day_first)) for part in DATE_PARTS)


def _numbers(text: str, wanted: str) -> Iterator[Number]:
    """The ways of writing a number that would change it into what is wanted."""
    if read_number(text) is not None:
        if _WRITTEN_OTHERWISE.match(text):
            yield Number()
        yield from _written(text, wanted, comma=False)
    if "," in text and read_number(text, decimal_comma=True) is not None:
        yield Number(decimal_comma=True)
        yield from _written(text.replace(".", "").replace(",", "."), wanted, comma=True)


def _written(text: str, wanted: str, comma: bool) -> Iterator[Number]:
    for run in set(_RUN.findall(wanted)):
        if run[0] == "0" and run.endswith(text) and len(run) <= _MOST_WIDTH:
            yield Number(width=len(run), decimal_comma=comma)
    if text in wanted:
        return
    whole = text.replace(",", "").partition(".")[0]
    if "," in wanted and len(whole) > 3:
        yield Number(thousands=True, decimal_comma=comma)
    for decimals in {0, *(len(digits) for digits in _DECIMALS.findall(wanted))}:
        if decimals <= _MOST_DECIMALS and ("." in text or decimals):
            yield Number(decimals=decimals, fixed=True, decimal_comma=comma)
            if "," in wanted and len(whole) > 3:
                yield Number(decimals=decimals, fixed=True, thousands=True, decimal_comma=comma)
