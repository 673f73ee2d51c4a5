"""Kernels over single values: is it a null marker, is it a number, and which token is that number's.

Numbers are read as decimals, digit by digit, and never become floats: identifiers of 20 digits survive.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled, int64
from dovetail.normalise._arrow import Bytes, Flags, Offsets

Keys = npt.NDArray[np.int64]
Classes = npt.NDArray[np.uint8]

TEXT = 0
MISSING = 1
MARKER = 2
NOT_AVAILABLE = 3
SENTINEL = 4
INTEGER = 5
REAL = 6
EXPONENT = 7
LEADING_ZERO = 8
BOOLEAN = 9

LONGEST_KEY = 7
NO_KEY = -1
SLOTS = 251
SHORTEST_DATE = 8

PLUS, MINUS, DOT, ZERO, NINE, LETTER_E = 43, 45, 46, 48, 57, 101


@compiled
def pack(data: Bytes, start: int, stop: int) -> int:
    """At most seven bytes and their number as one integer, equal only for equal values."""
    key = int64(0)
    for p in range(start, stop):
        key = key * 256 + int64(data[p])
    return key + (int64(stop - start) << 56)


@compiled
def look_up(data: Bytes, start: int, stop: int, keys: Keys, classes: Classes) -> int:
    """The class of a value listed in the hash table (open addressing, linear probing), else ``TEXT``."""
    if stop - start > LONGEST_KEY:
        return TEXT
    key = pack(data, start, stop)
    slot = key % SLOTS
    while keys[slot] != NO_KEY:
        if keys[slot] == key:
            return int64(classes[slot])
        slot = (slot + 1) % SLOTS
    return TEXT


@compiled
def skip_digits(data: Bytes, p: int, stop: int) -> int:
    """Where the run of digits that begins at ``p`` ends."""
    while p < stop and ZERO <= data[p] <= NINE:
        p += 1
    return p


@compiled
def is_exponent(data: Bytes, p: int, stop: int) -> bool:
    """Whether the rest of a value is ``e``, perhaps a sign, and digits."""
    if p >= stop or data[p] != LETTER_E:
        return False
    p += 1
    if p < stop and (data[p] == PLUS or data[p] == MINUS):
        p += 1
    return p < stop and skip_digits(data, p, stop) == stop


@compiled
def parse_number(data: Bytes, start: int, stop: int) -> tuple[int, bool, int, int, int, int]:
    """Class, sign and parts of a number: (class, negative, whole from, to, fraction from, to).

    The fraction ends before its trailing zeros. The class is ``TEXT`` for what is no number.
    """
    p = int64(start)
    negative = p < stop and data[p] == MINUS
    if p < stop and (negative or data[p] == PLUS):
        p += 1
    whole = p
    p = skip_digits(data, p, stop)
    whole_end = p
    if p < stop and data[p] == DOT:
        p += 1
    fraction = p
    p = skip_digits(data, p, stop)
    fraction_end = p
    kind = TEXT
    if whole_end - whole + p - fraction > 0 and (p == stop or is_exponent(data, p, stop)):
        while fraction_end > fraction and data[fraction_end - 1] == ZERO:
            fraction_end -= 1
        if whole_end - whole > 1 and data[whole] == ZERO:
            kind = LEADING_ZERO
        elif p < stop:
            kind = EXPONENT
        else:
            kind = REAL if fraction_end > fraction else INTEGER
    return kind, negative, whole, whole_end, fraction, fraction_end


@compiled
def classify_value(data: Bytes, start: int, stop: int, keys: Keys, key_classes: Classes) -> int:
    """The class of one folded value. A sentinel is known by its number: ``-999.0`` is one, too."""
    kind = look_up(data, start, stop, keys, key_classes)
    if kind != TEXT or stop == start or data[start] > NINE:
        return kind
    kind, negative, whole, whole_end, _, _ = parse_number(data, start, stop)
    if kind == INTEGER and whole_end - whole != stop - start:
        sign = 1 if negative else 0
        if look_up(data, whole - sign, whole_end, keys, key_classes) == SENTINEL:
            return SENTINEL
    return kind


@compiled
def may_be_date(data: Bytes, start: int, stop: int) -> bool:
    """A cheap test that every date and timestamp passes: long enough, and a digit at one end."""
    return stop - start >= SHORTEST_DATE and (ZERO <= data[start] <= NINE or ZERO <= data[stop - 1] <= NINE)


@compiled
def classify_values(
    data: Bytes, offsets: Offsets, valid: Flags, keys: Keys, key_classes: Classes, classes: Classes
) -> bool:
    """Fill ``classes``; return whether some of the ``TEXT`` may be dates."""
    dates = False
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        if len(valid) > 0 and not valid[i]:
            classes[i] = MISSING
            continue
        kind = classify_value(data, start, stop, keys, key_classes)
        classes[i] = kind
        if kind == TEXT and may_be_date(data, start, stop):
            dates = True
    return dates


@compiled
def tally(classes: Classes, counts: npt.NDArray[np.int64], rows: Keys, values: Keys) -> None:
    """Add up rows and distinct values by class."""
    for i in range(len(classes)):
        rows[classes[i]] += counts[i]
        values[classes[i]] += 1


@compiled
def find_nulls(
    data: Bytes,
    offsets: Offsets,
    valid: Flags,
    keys: Keys,
    key_classes: Classes,
    null_classes: Flags,
    kept: Flags,
) -> int:
    """Mark in ``kept`` the values whose class is not in ``null_classes``; return how many are null."""
    nulls = 0
    sentinels = null_classes[SENTINEL]
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        if len(valid) > 0 and not valid[i]:
            kind = MISSING
        elif sentinels:
            kind = classify_value(data, start, stop, keys, key_classes)
        else:
            kind = look_up(data, start, stop, keys, key_classes)
        kept[i] = not null_classes[kind]
        nulls += null_classes[kind]
    return nulls


@compiled
def copy(data: Bytes, start: int, stop: int, out: Bytes, w: int) -> int:
    """Copy bytes to ``out[w:]``; return where they end."""
    for p in range(start, stop):
        out[w] = data[p]
        w += 1
    return w


@compiled
def write_number(data: Bytes, start: int, stop: int, out: Bytes, w: int) -> int:
    """Write the token of one value of a numeric column: the plain decimal, or the text of what is none."""
    kind, negative, whole, whole_end, fraction, fraction_end = parse_number(data, start, stop)
    if kind != INTEGER and kind != REAL:
        return copy(data, start, stop, out, w)
    zero = whole_end == whole or data[whole] == ZERO
    if negative and not (zero and kind == INTEGER):
        out[w] = MINUS
        w += 1
    if zero:
        out[w] = ZERO
        w += 1
    else:
        w = copy(data, whole, whole_end, out, w)
    if kind == REAL:
        out[w] = DOT
        w = copy(data, fraction, fraction_end, out, w + 1)
    return w


@compiled
def write_numbers(data: Bytes, offsets: Offsets, kept: Flags, out: Bytes, ends: Offsets) -> int:
    """Write the tokens of a numeric column, one byte longer at most (``.5``); return their size."""
    w = int64(0)
    ends[0] = 0
    for i in range(len(offsets) - 1):
        if kept[i]:
            w = write_number(data, offsets[i], offsets[i + 1], out, w)
        ends[i + 1] = w
    return w
