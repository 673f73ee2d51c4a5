"""What is known of columns, an array each: from the catalog for a whole lake, from the rows for two tables."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.features import BOOLEAN, DATE, INTEGER, REAL, TEXT, Side
from dovetail.evidence.names import Names
from dovetail.tables.input_table import InputTable

_KIND = {"integer": INTEGER, "real": REAL, "date": DATE, "timestamp": DATE, "boolean": BOOLEAN}
_WHOLE = r"^-?\d{1,15}$"
_DAY = r"^\d{4}-\d{2}-\d{2}"
_DAY_LENGTH = 10
ROWS_PER_NULL = 100  # of a key, at least; arbitrary: forgives the odd value that only looks like a null


def kinds_of(kinds: Sequence[str]) -> Array:
    return np.array([_KIND.get(kind, TEXT) for kind in kinds], np.int64)


def as_numbers(texts: pa.Array, kinds: Array) -> Array:
    """Whole numbers and days as numbers; NaN for everything else."""
    numbers = np.full(len(texts), np.nan)
    whole = (kinds == INTEGER) & pc.match_substring_regex(texts, _WHOLE).fill_null(False).to_numpy(zero_copy_only=False)
    numbers[whole] = texts.filter(pa.array(whole)).cast(pa.float64()).to_numpy()
    days = (kinds == DATE) & pc.match_substring_regex(texts, _DAY).fill_null(False).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(days).tolist():
        numbers[place] = _day(texts[place].as_py()[:_DAY_LENGTH])
    return numbers


def _day(text: str) -> float:
    try:
        return float(datetime.date.fromisoformat(text).toordinal())
    except ValueError:
        return float("nan")


def could_be_keys(rows: Array, filled: Array, distinct: Array) -> Array:
    """No repeated value, and hardly a null: a single one may be a value that only looks like null, such as "nan"."""
    could: Array = (distinct > 0) & (distinct == filled) & ((rows - filled) * ROWS_PER_NULL <= rows)
    return could


def first_of_each(tables: Array, chosen: Array) -> Array:
    """Of the chosen columns, the first of each table."""
    places = np.flatnonzero(chosen)
    _, first = np.unique(tables[places], return_index=True)
    found = np.zeros(len(tables), bool)
    found[places[first]] = True
    return found


def side_of_tables(tables: Sequence[InputTable]) -> tuple[Side, Names]:
    """All columns of some tables, one after another."""
    columns = [column for table in tables for column in table.columns]
    widths = [len(table.names) for table in tables]
    table_of = np.repeat(np.arange(len(tables)), widths)
    kinds = kinds_of([column.type.kind for column in columns])
    rows = np.array([column.rows for column in columns], np.float64)
    filled = np.array([column.counts.sum() for column in columns], np.float64)
    distinct = np.array([column.size for column in columns], np.float64)
    ends = np.array([_ends(column.tokens, kind) for column, kind in zip(columns, kinds, strict=True)]).reshape(-1, 2)
    length = np.array([pc.mean(pc.utf8_length(column.tokens)).as_py() or 0.0 for column in columns])
    leading = first_of_each(table_of, could_be_keys(rows, filled, distinct))
    encoded = pa.array([column.name for column in columns], pa.string()).dictionary_encode()
    names = Names(encoded.dictionary, encoded.indices.to_numpy(), [table.name for table in tables], table_of)
    names.set_keys(np.flatnonzero(leading))
    place = np.concatenate([np.arange(width) for width in widths]) if widths else np.empty(0)
    side = Side(
        rows, filled, distinct, kinds, ends[:, 0], ends[:, 1], length, place, leading, names.is_generic
    )  # fmt: skip
    return side, names


def _ends(tokens: pa.Array, kind: int) -> tuple[float, float]:
    if kind not in (INTEGER, DATE) or not len(tokens):
        return float("nan"), float("nan")
    if kind == DATE:
        ends = pc.min_max(tokens).as_py()  # ISO dates sort as texts
        low, high = as_numbers(pa.array([ends["min"], ends["max"]]), np.array([DATE, DATE])).tolist()
        return low, high
    numbers = as_numbers(tokens.cast(pa.string()), np.full(len(tokens), kind))
    return (float(np.nanmin(numbers)), float(np.nanmax(numbers))) if not np.isnan(numbers).all() else (np.nan, np.nan)
