"""The classes of values that evidence counts, by name; and the words that stand for no value, as they read folded.

[1] F. Tschirschnitz, T. Papenbrock, F. Naumann: Detecting Inclusion Dependencies on Very Many Tables
(MANY). ACM TODS 42(3), 2017, Table 2. :doi:`10.1145/3105959`
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from dovetail.normalise import _date_kernels as dates
from dovetail.normalise import _value_kernels as values

NULL_MARKERS = (
    # [1], Table 2: among the 1,000 most frequent values of Wikipedia's tables. White space folds to "".
    "",
    "-",
    "–",
    "—",
    "--",
    "---",
    "n/a",
    "(n/a)",
    "?",
    "??",
    "•",
    "...",
    "…",
    "unknown",
    # Programs: SQL, Python, R, pandas, Excel, and the \N of MySQL and PostgreSQL dumps.
    "null",
    "(null)",
    "<null>",
    "none",
    "nan",
    "<na>",
    "#n/a",
    "\\n",
    # Statistical offices and statistics packages.
    ".",
    "..",
    "n.a.",
)
"""Null in every column."""

NOT_AVAILABLE = "na"
"""Null only where the other values are all numbers or dates: it is Namibia among country codes."""

SENTINELS = (
    "999",
    "9999",
    "99999",
    "999999",
    "-99",
    "-999",
    "-9999",
    "-99999",
    "-999999",
)
"""Tokens of numbers that stand for "missing": null only in a column of nothing but these and null markers."""

BOOLEANS = ("false", "true")
"""The only booleans: 0, 1, y, n, yes and no mean other things as well."""


class ValueClass(IntEnum):
    """What a single folded value looks like."""

    TEXT = values.TEXT
    MISSING = values.MISSING
    MARKER = values.MARKER
    NOT_AVAILABLE = values.NOT_AVAILABLE
    SENTINEL = values.SENTINEL
    INTEGER = values.INTEGER
    REAL = values.REAL
    EXPONENT = values.EXPONENT
    LEADING_ZERO = values.LEADING_ZERO
    BOOLEAN = values.BOOLEAN
    YEAR_DASH = dates.YEAR_DASH_DATE
    YEAR_SLASH = dates.YEAR_SLASH_DATE
    DOT = dates.DOT_DATE
    SLASH_EITHER = dates.SLASH_EITHER
    SLASH_DAY_FIRST = dates.SLASH_DAY_FIRST
    SLASH_MONTH_FIRST = dates.SLASH_MONTH_FIRST
    DASH_EITHER = dates.DASH_EITHER
    DASH_DAY_FIRST = dates.DASH_DAY_FIRST
    DASH_MONTH_FIRST = dates.DASH_MONTH_FIRST
    DAY_MONTH = dates.DAY_MONTH_DATE
    DAY_MONTH_DASH = dates.DAY_MONTH_DASH_DATE
    MONTH_DAY = dates.MONTH_DAY_DATE
    TIMESTAMP = dates.TIMESTAMP_VALUE


NUMBERS = (ValueClass.SENTINEL, ValueClass.INTEGER, ValueClass.REAL, ValueClass.EXPONENT)
"""Numbers by which a column is numeric; with a leading zero they make it text."""

DATES = tuple(kind for kind in ValueClass if kind >= ValueClass.YEAR_DASH)
"""Dates and timestamps of all formats."""


def _hash_table() -> tuple[values.Keys, values.Classes]:
    """The values known by heart and their classes, as ``look_up`` reads them."""
    known = {
        **dict.fromkeys(NULL_MARKERS, ValueClass.MARKER),
        **dict.fromkeys(SENTINELS, ValueClass.SENTINEL),
        **dict.fromkeys(BOOLEANS, ValueClass.BOOLEAN),
        NOT_AVAILABLE: ValueClass.NOT_AVAILABLE,
    }
    keys = np.full(values.SLOTS, values.NO_KEY, dtype=np.int64)
    codes = np.zeros(values.SLOTS, dtype=np.uint8)
    for text, kind in known.items():
        key = _key(text)
        slot = key % values.SLOTS
        while keys[slot] != values.NO_KEY:
            slot = (slot + 1) % values.SLOTS
        keys[slot], codes[slot] = key, kind
    keys.setflags(write=False)
    codes.setflags(write=False)
    return keys, codes


def _key(text: str) -> int:
    """What the kernel ``pack`` computes, without compiling it at import."""
    data = text.encode()
    if len(data) > values.LONGEST_KEY:
        raise ValueError(f"found {text!r} of {len(data)} bytes; at most {values.LONGEST_KEY} can be looked up")
    return int.from_bytes(data, "big") + (len(data) << 56)


KEYS, KEY_CLASSES = _hash_table()
