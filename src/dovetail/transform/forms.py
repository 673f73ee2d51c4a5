"""Forms: what a part of a value becomes beyond its own characters: initials, parts of dates, numbers written otherwise.

They go beyond the paper, whose operators only cut. A form is applied to an extract's text before its case. Each gives
the same in DuckDB; in Spark, programs with forms run in the workers.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

from dovetail.errors import InputError

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DATE_PARTS = {
    "year": "%Y", "two-digit year": "%y", "month": "%-m", "two-digit month": "%m", "month name": "%B",
    "short month name": "%b", "day": "%-d", "two-digit day": "%d", "weekday": "%A", "short weekday": "%a",
}  # fmt: skip
"""The parts of a date, and how DuckDB's strftime calls them."""
_WORD = r"[^ \-_.,;:/()&'\"]+"
_TIME = r"[ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2})?$"
_YEAR, _DAY, _NAME = "[1-9][0-9]{3}", "[0-9]{1,2}", "[A-Za-z]{3,9}"
_MOST_WRITTEN = 100  # digits; arbitrary, identifiers with zeros in front are shorter
_MOST_DIGITS = 15  # before and after the point: what a float holds; longer numbers are identifiers


@dataclass(frozen=True)
class Initials:
    """The first characters of the words of a text."""

    kind: ClassVar[str] = "initials"

    def apply(self, text: str) -> str | None:
        return "".join(word[0] for word in re.findall(_WORD, text)) or None

    def words(self, text: str) -> str:
        return f"the initials of {text}"

    def duckdb(self, text: str) -> str:
        words = f"regexp_extract_all({text}, {_quoted(_WORD)})"
        return f"nullif(array_to_string(list_transform({words}, lambda word: word[1:1]), ''), '')"


@dataclass(frozen=True)
class DatePart:
    """A part of a date in one of some common forms, with or without a time. Names are English."""

    part: str
    day_first: bool = False  # of 3/4/2004
    kind: ClassVar[str] = "date part"

    def __post_init__(self) -> None:
        if self.part not in DATE_PARTS:
            raise InputError(f"There is no part {self.part!r} of a date. The parts are: {', '.join(DATE_PARTS)}.")

    def apply(self, text: str) -> str | None:
        date = read_date(text, self.day_first)
        return None if date is None else _date_part(date, self.part)

    def words(self, text: str) -> str:
        return f"the {self.part} of {text}" + (", read as a date with the day first" if self.day_first else "")

    def duckdb(self, text: str) -> str:
        layouts = _layouts(self.day_first)
        formats = ", ".join(_quoted(written) for _, written in layouts)
        pattern = "|".join(pattern for pattern, _ in layouts)
        date = f"regexp_replace({text}, {_quoted(_TIME)}, '')"
        read = f"CASE WHEN regexp_full_match({date}, {_quoted(pattern)}) THEN try_strptime({date}, [{formats}]) END"
        return f"strftime({read}, '{DATE_PARTS[self.part]}')"


@lru_cache(maxsize=1)
def date_names() -> frozenset[str]:
    """The names of months and days, long and short, in lower case."""
    names = [name.lower() for name in (*_MONTHS, *_WEEKDAYS)]
    return frozenset([*names, *(name[:3] for name in names)])


@lru_cache(maxsize=65_536)
def read_date(text: str, day_first: bool) -> datetime.date | None:
    """The date that a text is, in one of the layouts; None for anything else."""
    text = re.sub(_TIME, "", text)
    for pattern, written in _layouts(day_first):
        if re.fullmatch(pattern, text):
            texts = [text[:4], text[4:6], text[6:]] if text.isdigit() else re.findall("[0-9]+|[A-Za-z]+", text)
            parts = dict(zip(re.findall("%(.)", written), texts, strict=True))
            month = int(parts["m"]) if "m" in parts else _month(parts.get("B") or parts["b"], "B" in parts)
            try:
                return datetime.date(int(parts["Y"]), month, int(parts["d"]))
            except ValueError:
                continue  # May is a name and its own abbreviation; of other layouts there is only one
    return None


def _month(name: str, full: bool) -> int:
    """The number of a month by its name; 0 if there is none."""
    names = [month.lower() if full else month[:3].lower() for month in _MONTHS]
    return names.index(name.lower()) + 1 if name.lower() in names else 0


@lru_cache(maxsize=2)
def _layouts(day_first: bool) -> tuple[tuple[str, str], ...]:
    """Patterns of dates, and how strptime calls them."""
    two = ("%d", "%m") if day_first else ("%m", "%d")
    found = [(f"{_YEAR}{mark}{_DAY}{mark}{_DAY}", f"%Y{mark}%m{mark}%d") for mark in "-/"]
    found += [(f"{_DAY}[{mark}]{_DAY}[{mark}]{_YEAR}", f"{two[0]}{mark}{two[1]}{mark}%Y") for mark in "-/."]
    found.append((f"{_YEAR}[0-9]{{4}}", "%Y%m%d"))
    for name in ("%B", "%b"):
        found += [(f"{_DAY}{mark}{_NAME}{mark}{_YEAR}", f"%d{mark}{name}{mark}%Y") for mark in " -"]
        found += [(f"{_NAME} {_DAY}{mark} {_YEAR}", f"{name} %d{mark} %Y") for mark in ("", ",")]
        found.append((f"{_YEAR}-{_NAME}-{_DAY}", f"%Y-{name}-%d"))
    return tuple(found)


def _date_part(date: datetime.date, part: str) -> str:
    month, weekday = _MONTHS[date.month - 1], _WEEKDAYS[date.weekday()]
    return {
        "year": str(date.year), "two-digit year": f"{date.year % 100:02}", "month": str(date.month),
        "two-digit month": f"{date.month:02}", "month name": month, "short month name": month[:3],
        "day": str(date.day), "two-digit day": f"{date.day:02}", "weekday": weekday, "short weekday": weekday[:3],
    }[part]  # fmt: skip


@dataclass(frozen=True)
class Number:
    """A number times a factor and more by an offset, written anew: as many decimals at most, and no more zeros than
    are asked for."""

    factor: float = 1.0
    offset: float = 0.0
    units: str = ""  # from which unit to which, as "mm to in"; for people
    decimals: int = 9
    significant: int = 0  # digits; 0: as many as there are
    fixed: bool = False  # always as many decimals
    thousands: bool = False  # a comma between groups of three digits
    width: int = 0  # zeros in front, up to so many characters
    decimal_comma: bool = False  # the text is written as 1.234,5
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        """Programs are read from files and addresses: nothing may be written that has any length."""
        numbers = (self.factor, self.offset)
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in numbers):
            raise InputError("The factor and the offset of a number must be numbers.")
        digits = (self.decimals, self.significant, self.width)
        if not all(isinstance(each, int) and 0 <= each <= _MOST_WRITTEN for each in digits):
            raise InputError(f"A number is written with 0 to {_MOST_WRITTEN} digits.")
        if not isinstance(self.units, str):
            raise InputError("The units of a number must be text.")

    def apply(self, text: str) -> str | None:
        read = read_number(text, self.decimal_comma)
        made = None if read is None else read * self.factor + self.offset
        return self.write(made) if made is not None and math.isfinite(made) else None

    def write(self, number: float) -> str:
        if self.significant and number:
            number = rounded(number, self.significant - 1 - math.floor(math.log10(abs(number))))
        number = rounded(number, self.decimals) + 0.0  # no negative zero
        text = f"{number:,.{self.decimals}f}" if self.thousands else f"{number:.{self.decimals}f}"
        if not self.fixed and self.decimals:
            text = text.rstrip("0").rstrip(".")
        return text.rjust(self.width, "0")

    def words(self, text: str) -> str:
        parts = [f"the number {text}"]
        parts += ["with a decimal comma"] * self.decimal_comma
        parts += [f"times {self.factor:.9g}"] * (self.factor != 1) + [f"plus {self.offset:g}"] * (self.offset != 0)
        parts += [f"({self.units})"] * bool(self.units)
        parts += [f"to {self.significant} significant digits"] * bool(self.significant)
        parts += [f"with {self.decimals} decimals"] * self.fixed + ["with commas"] * self.thousands
        return " ".join(parts + [f"with zeros up to {self.width} digits"] * bool(self.width))

    def duckdb(self, text: str) -> str:
        plain = f"replace(replace({text}, '.', ''), ',', '.')" if self.decimal_comma else f"replace({text}, ',', '')"
        pattern = _quoted(_number_pattern(self.decimal_comma))
        number = f"CASE WHEN regexp_full_match({text}, {pattern}) THEN CAST({plain} AS DOUBLE) END"
        number = f"({number} * CAST({self.factor!r} AS DOUBLE) + CAST({self.offset!r} AS DOUBLE))"
        if self.significant:
            digits = f"CAST({self.significant - 1} - floor(log10(nullif(abs({number}), 0))) AS INTEGER)"
            number = f"coalesce(round({number}, {digits}), {number})"
        comma = "," if self.thousands else ""
        written = f"format('{{:{comma}.{self.decimals}f}}', round({number}, {self.decimals}) + 0.0::DOUBLE)"
        if not self.fixed and self.decimals:
            written = f"rtrim(rtrim({written}, '0'), '.')"
        return f"lpad({written}, greatest({self.width}, length({written}))::INTEGER, '0')" if self.width else written


def read_number(text: str, decimal_comma: bool = False) -> float | None:
    """The number that a text is, perhaps with separators between thousands; None for anything else."""
    if not re.fullmatch(_number_pattern(decimal_comma), text):
        return None
    return float(text.replace(".", "").replace(",", ".") if decimal_comma else text.replace(",", ""))


@lru_cache(maxsize=2)
def _number_pattern(decimal_comma: bool) -> str:
    mark, group = (",", "[.]") if decimal_comma else ("[.]", ",")
    return f"[+-]?([0-9]{{1,3}}({group}[0-9]{{3}}){{1,4}}|[0-9]{{1,{_MOST_DIGITS}}})({mark}[0-9]{{1,{_MOST_DIGITS}}})?"


def rounded(number: float, digits: int) -> float:
    """To so many decimals, halves away from zero; as SQL rounds."""
    scale = 10.0 ** abs(digits)
    scaled = abs(number) * scale if digits >= 0 else abs(number) / scale
    whole = math.floor(scaled)
    whole += scaled - whole >= 0.5
    return math.copysign(whole / scale if digits >= 0 else whole * scale, number)


Form = Initials | DatePart | Number
"""Each has `apply`, which gives None for a text that it does not read, `words` and `duckdb`."""
_KINDS: dict[str, type[Form]] = {form.kind: form for form in (Initials, DatePart, Number)}


def form_json(form: Form) -> dict[str, Any]:
    """What `form_of` reads; fields that have their defaults are left out."""
    given = {each.name: getattr(form, each.name) for each in fields(form) if getattr(form, each.name) != each.default}
    return {"kind": form.kind, **given}


def form_of(document: Mapping[str, Any]) -> Form:
    """The form that `form_json` gave."""
    kind = document["kind"]
    if kind not in _KINDS:
        raise ValueError(f"there is no form {kind!r}")
    return _KINDS[kind](**{name: value for name, value in document.items() if name != "kind"})


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))
