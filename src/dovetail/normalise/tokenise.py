"""From folded values to tokens, by the column's type. Equal tokens join; null joins nothing."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from dovetail.normalise._arrow import NO_FLAGS, Flags, Strings, read, room, with_validity, write
from dovetail.normalise._date_kernels import write_dates
from dovetail.normalise._value_kernels import find_nulls, write_numbers
from dovetail.normalise.classes import KEY_CLASSES, KEYS, ValueClass
from dovetail.normalise.column_type import ColumnType, null_classes
from dovetail.normalise.dates import BY_NAME
from dovetail.normalise.folding import fold

_NUMERIC = ("integer", "real")
_NUMBER_GROWTH = 1
_DATE_GROWTH = 5


def tokens(folded: pa.Array, column_type: ColumnType) -> pa.Array:
    """The tokens of folded values; null where the value is a null marker in a column of this type.

    Tokens of text share the buffers of ``folded``.
    """
    strings = read(folded)
    kept = np.empty(strings.length, dtype=np.bool_)
    nulls = find_nulls(strings.data, strings.offsets, strings.valid, KEYS, KEY_CLASSES, _null_flags(column_type), kept)
    if column_type.kind in _NUMERIC:
        return _number_tokens(strings, kept, nulls)
    if column_type.date_format:
        return _date_tokens(strings, kept, nulls, column_type.date_format)
    return with_validity(folded, kept) if nulls else folded


@lru_cache(maxsize=64)
def _null_flags(column_type: ColumnType) -> Flags:
    flags = np.zeros(len(ValueClass), dtype=np.bool_)
    flags[list(null_classes(column_type))] = True
    flags.setflags(write=False)
    return flags


def _number_tokens(strings: Strings, kept: Flags, nulls: int) -> pa.Array:
    data, ends = room(strings, _NUMBER_GROWTH)
    size = write_numbers(strings.data, strings.offsets, kept, data, ends)
    return write(strings.type, data[:size], ends, kept if nulls else NO_FLAGS)


def _date_tokens(strings: Strings, kept: Flags, nulls: int, name: str) -> pa.Array:
    row = BY_NAME[name]
    data, ends = room(strings, _DATE_GROWTH)
    size = write_dates(strings.data, strings.offsets, kept, row.layout, row.day_first, data, ends)
    return write(strings.type, data[:size], ends, kept if nulls else NO_FLAGS)


def normalise(raw: pa.Array, column_type: ColumnType) -> pa.Array:
    """The tokens of raw values of a column of this type: what scan, query and join all call."""
    return tokens(fold(raw), column_type)


def normalise_value(raw: str, column_type: ColumnType) -> str | None:
    """The token of one raw value."""
    token: str | None = normalise(pa.array([raw], pa.string()), column_type)[0].as_py()
    return token
