"""Kernels over single values: is it a date or a timestamp, in which layout, and which ISO token is its.

A *layout* is what one value shows: ``3/4/2004`` is two parts and a year between slashes. Which part is the
day is decided for the whole column (see ``dates.py``).
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail.normalise._arrow import Bytes, Flags, Offsets
from dovetail.normalise._value_kernels import DOT, MINUS, NINE, PLUS, TEXT, ZERO, Classes, copy

Layout = tuple[int, int, int, int, int]
"""(layout, year, first or month, second or day, where the value goes on)."""
Time = tuple[int, int, int, int, int, int]
"""(hour, minute, second, fraction from, to, zone from); the hour is -1 for what is no time."""

NONE, YEAR_DASH, YEAR_SLASH, PARTS_DOT, PARTS_SLASH, PARTS_DASH = 0, 1, 2, 3, 4, 5
DAY_MONTH, DAY_MONTH_DASH, MONTH_DAY, TIMESTAMP = 6, 7, 8, 9

YEAR_DASH_DATE, YEAR_SLASH_DATE, DOT_DATE = 10, 11, 12
SLASH_EITHER, SLASH_DAY_FIRST, SLASH_MONTH_FIRST = 13, 14, 15
DASH_EITHER, DASH_DAY_FIRST, DASH_MONTH_FIRST = 16, 17, 18
DAY_MONTH_DATE, DAY_MONTH_DASH_DATE, MONTH_DAY_DATE, TIMESTAMP_VALUE = 19, 20, 21, 22

SPACE, COMMA, SLASH, COLON = 32, 44, 47, 58
LETTER_A, LETTER_T, LETTER_Z = 97, 116, 122

_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS = np.array([list(name.encode().ljust(9)) for name in _NAMES], dtype=np.uint8)
MONTH_LENGTHS = np.array([len(name) for name in _NAMES], dtype=np.int64)
MONTH_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], dtype=np.int64)
SEPTEMBER = 9


@compiled
def is_digit(byte: int) -> bool:
    """Whether a byte is an ASCII digit."""
    return ZERO <= byte <= NINE


@compiled
def read_digits(data: Bytes, p: int, stop: int) -> tuple[int, int, int]:
    """At most five digits: (their value, how many, what follows). Five is already too many for a year."""
    begin = p
    value = int64(0)
    while p < stop and p - begin < 5 and is_digit(data[p]):
        value = value * 10 + (int64(data[p]) - ZERO)
        p += 1
    return value, p - begin, p


@compiled
def skip_gap(data: Bytes, p: int, stop: int) -> int:
    """Skip the spaces, commas and full stops between the words of a date."""
    while p < stop and (data[p] == SPACE or data[p] == COMMA or data[p] == DOT):
        p += 1
    return p


@compiled
def read_month(data: Bytes, p: int, stop: int) -> tuple[int, int]:
    """An English month, in full or by three letters (or ``sept``): (1 to 12 or 0, what follows)."""
    begin = p
    while p < stop and LETTER_A <= data[p] <= LETTER_Z:
        p += 1
    length = p - begin
    for month in range(12):
        full = MONTH_LENGTHS[month]
        if length == 3 or length == full or (length == 4 and month + 1 == SEPTEMBER):
            same = 0
            while same < length and data[begin + same] == MONTHS[month, same]:
                same += 1
            if same == length:
                return month + 1, p
    return 0, p


@compiled
def is_date(year: int, month: int, day: int) -> bool:
    """Whether the day exists (proleptic Gregorian calendar, years 1 to 9999)."""
    if year < 1 or month < 1 or month > 12 or day < 1:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return bool(day <= MONTH_DAYS[month - 1] + (1 if leap else 0))


@compiled
def read_year_end(data: Bytes, p: int, stop: int) -> int:
    """The four-digit year that ends a value, or -1."""
    year, width, p = read_digits(data, p, stop)
    return year if width == 4 and p == stop else -1


@compiled
def year_first(data: Bytes, year: int, p: int, stop: int) -> Layout:
    """``2004-06-12``, ``2004/6/12``, or the date of a timestamp; ``p`` is after the year."""
    mark = int64(data[p]) if p < stop else 0
    if mark != MINUS and mark != SLASH:
        return NONE, 0, 0, 0, p
    month, month_width, p = read_digits(data, p + 1, stop)
    if month_width == 0 or month_width > 2 or p >= stop or data[p] != mark:
        return NONE, 0, 0, 0, p
    day, day_width, p = read_digits(data, p + 1, stop)
    if day_width == 0 or day_width > 2:
        return NONE, 0, 0, 0, p
    if p == stop:
        return YEAR_DASH if mark == MINUS else YEAR_SLASH, year, month, day, p
    if mark == MINUS and (data[p] == LETTER_T or data[p] == SPACE):
        return TIMESTAMP, year, month, day, p + 1
    return NONE, 0, 0, 0, p


@compiled
def three_parts(data: Bytes, first: int, p: int, stop: int) -> Layout:
    """``12.6.2004``, ``12/6/2004`` or ``12-6-2004``; ``p`` is at the first mark."""
    mark = int64(data[p])
    second, width, p = read_digits(data, p + 1, stop)
    if width > 2 or p >= stop or data[p] != mark:
        return NONE, 0, 0, 0, p
    year = read_year_end(data, p + 1, stop)
    if year < 0:
        return NONE, 0, 0, 0, p
    if mark == DOT:
        return PARTS_DOT, year, first, second, stop
    return PARTS_SLASH if mark == SLASH else PARTS_DASH, year, first, second, stop


@compiled
def day_month(data: Bytes, day: int, p: int, stop: int) -> Layout:
    """``12 june 2004``, ``12 jun., 2004`` or ``12-jun-2004``; ``p`` is after the day."""
    dashes = data[p] == MINUS
    begin = p + 1 if dashes else skip_gap(data, p, stop)
    month, after = read_month(data, begin, stop)
    if begin == p or month == 0 or after >= stop:
        return NONE, 0, 0, 0, p
    if dashes and data[after] != MINUS:
        return NONE, 0, 0, 0, p
    begin = after + 1 if dashes else skip_gap(data, after, stop)
    year = read_year_end(data, begin, stop)
    if begin == after or year < 0:
        return NONE, 0, 0, 0, p
    return DAY_MONTH_DASH if dashes else DAY_MONTH, year, month, day, stop


@compiled
def month_first(data: Bytes, start: int, stop: int) -> Layout:
    """``june 12, 2004``, ``jun. 12 2004``."""
    month, after = read_month(data, start, stop)
    p = skip_gap(data, after, stop)
    if month == 0 or p == after:
        return NONE, 0, 0, 0, p
    day, width, after = read_digits(data, p, stop)
    p = skip_gap(data, after, stop)
    if width == 0 or width > 2 or p == after:
        return NONE, 0, 0, 0, p
    year = read_year_end(data, p, stop)
    return MONTH_DAY if year >= 0 else NONE, year, month, day, stop


@compiled
def parse_layout(data: Bytes, start: int, stop: int) -> Layout:
    """The layout of one value and its parts, whether or not such a day exists."""
    first, width, p = read_digits(data, int64(start), int64(stop))
    if width == 4:
        return year_first(data, first, p, int64(stop))
    if width == 0:
        return month_first(data, p, int64(stop))
    if width > 2 or p + 1 >= stop:
        return NONE, 0, 0, 0, p
    mark = int64(data[p])
    if is_digit(data[p + 1]) and mark in (DOT, SLASH, MINUS):
        return three_parts(data, first, p, int64(stop))
    return day_month(data, first, p, int64(stop))


@compiled
def two_digits(data: Bytes, p: int, stop: int, most: int) -> int:
    """The number of exactly two digits at ``p``, or -1 if there is none or it is above ``most``."""
    if p + 2 > stop or not (is_digit(data[p]) and is_digit(data[p + 1])):
        return -1
    value = (int64(data[p]) - ZERO) * 10 + (int64(data[p + 1]) - ZERO)
    return value if value <= most else -1


@compiled
def is_zone(data: Bytes, p: int, stop: int) -> bool:
    """Whether the rest of a timestamp is nothing, ``z`` or ``+hh:mm``."""
    if p == stop:
        return True
    if stop - p == 1:
        return bool(data[p] == LETTER_Z)
    if stop - p != 6 or (data[p] != PLUS and data[p] != MINUS) or data[p + 3] != COLON:
        return False
    return two_digits(data, p + 1, stop, 23) >= 0 and two_digits(data, p + 4, stop, 59) >= 0


@compiled
def parse_time(data: Bytes, p: int, stop: int) -> Time:
    """``hh:mm``, perhaps seconds, a fraction and a zone. The fraction ends before its trailing zeros."""
    hour = two_digits(data, p, stop, 23)
    minute = two_digits(data, p + 3, stop, 59)
    second = int64(0)
    if hour < 0 or minute < 0 or data[p + 2] != COLON:
        return -1, 0, 0, p, p, p
    p += 5
    fraction = fraction_end = p
    if p < stop and data[p] == COLON:
        second = two_digits(data, p + 1, stop, 59)
        p += 3
        fraction = fraction_end = p
        if second >= 0 and p + 1 < stop and data[p] == DOT and is_digit(data[p + 1]):
            p += 1
            fraction = fraction_end = p
            while p < stop and is_digit(data[p]):
                p += 1
                if data[p - 1] != ZERO:
                    fraction_end = p
    if second < 0 or not is_zone(data, p, stop):
        return -1, 0, 0, p, p, p
    return hour, minute, second, fraction, fraction_end, p


@compiled
def parts_class(year: int, first: int, second: int, either: int) -> int:
    """The class of two parts and a year: ``either``, day first (+1), month first (+2), or ``TEXT``."""
    day_first = is_date(year, second, first)
    if is_date(year, first, second):
        return either if day_first else either + 2
    return either + 1 if day_first else TEXT


@compiled
def date_class(data: Bytes, start: int, stop: int) -> int:
    """The class of one value: that of its layout where such a day exists, else ``TEXT``."""
    layout, year, a, b, p = parse_layout(data, start, stop)
    if layout == PARTS_SLASH:
        return parts_class(year, a, b, SLASH_EITHER)
    if layout == PARTS_DASH:
        return parts_class(year, a, b, DASH_EITHER)
    if layout == PARTS_DOT:
        return DOT_DATE if is_date(year, b, a) else TEXT
    if layout == NONE or not is_date(year, a, b):
        return TEXT
    if layout == TIMESTAMP:
        return TIMESTAMP_VALUE if parse_time(data, p, stop)[0] >= 0 else TEXT
    if layout in (YEAR_DASH, YEAR_SLASH):
        return YEAR_DASH_DATE + (layout - YEAR_DASH)
    return DAY_MONTH_DATE + (layout - DAY_MONTH)


@compiled
def classify_dates(data: Bytes, offsets: Offsets, classes: Classes) -> None:
    """Refine ``TEXT`` in ``classes`` to the classes of dates and timestamps."""
    for i in range(len(offsets) - 1):
        if classes[i] == TEXT:
            classes[i] = date_class(data, offsets[i], offsets[i + 1])


@compiled
def write_digits(value: int, width: int, out: Bytes, w: int) -> int:
    """Write a number with leading zeros; return where it ends."""
    for k in range(width):
        out[w + width - 1 - k] = ZERO + value % 10
        value //= 10
    return w + width


@compiled
def write_time(data: Bytes, time: Time, stop: int, out: Bytes, w: int) -> int:
    """Write ``thh:mm:ss``, the fraction unless it is zero, and the zone, where ``+00:00`` is ``z``."""
    hour, minute, second, fraction, fraction_end, zone = time
    out[w] = LETTER_T
    w = write_digits(hour, 2, out, w + 1)
    out[w] = COLON
    w = write_digits(minute, 2, out, w + 1)
    out[w] = COLON
    w = write_digits(second, 2, out, w + 1)
    if fraction_end > fraction:
        out[w] = DOT
        w = copy(data, fraction, fraction_end, out, w + 1)
    if stop - zone == 6 and data[zone] == PLUS:
        offset = two_digits(data, zone + 1, stop, 23) + two_digits(data, zone + 4, stop, 59)
        if offset == 0:
            out[w] = LETTER_Z
            return w + 1
    return copy(data, zone, stop, out, w)


@compiled
def write_date(data: Bytes, start: int, stop: int, wanted: int, day_first: bool, out: Bytes, w: int) -> int:
    """Write the token of one value of a date column: ISO, or the text of what has another format."""
    layout, year, month, day, p = parse_layout(data, start, stop)
    if day_first:
        month, day = day, month
    if layout != wanted or not is_date(year, month, day):
        return copy(data, start, stop, out, w)
    time = (0, 0, 0, p, p, p)
    if layout == TIMESTAMP:
        time = parse_time(data, p, int64(stop))
        if time[0] < 0:
            return copy(data, start, stop, out, w)
    w = write_digits(year, 4, out, w)
    out[w] = MINUS
    w = write_digits(month, 2, out, w + 1)
    out[w] = MINUS
    w = write_digits(day, 2, out, w + 1)
    return write_time(data, time, stop, out, w) if layout == TIMESTAMP else w


@compiled
def write_dates(
    data: Bytes, offsets: Offsets, kept: Flags, wanted: int, day_first: bool, out: Bytes, ends: Offsets
) -> int:
    """Write the tokens of a date column, 5 bytes longer at most (``2004-1-1 10:00``); return their size."""
    w = int64(0)
    ends[0] = 0
    for i in range(len(offsets) - 1):
        if kept[i]:
            w = write_date(data, offsets[i], offsets[i + 1], wanted, day_first, out, w)
        ends[i + 1] = w
    return w
