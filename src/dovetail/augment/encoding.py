"""Columns as inputs of a linear model: numbers in bins of the same size, texts by their most frequent values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.columns import as_numbers, kinds_of
from dovetail.evidence.features import DATE, INTEGER, REAL
from dovetail.tables.input_column import InputColumn

_BINS = 8  # of a number, and most frequent values of a text; arbitrary: a sample of 1,000 rows fills each


def numbers_of(column: InputColumn) -> Array | None:
    """The number of each distinct value; None for columns that are not numbers or days."""
    kind = int(kinds_of([column.type.kind])[0])
    if kind == REAL:
        found: Array = pc.cast(column.tokens, pa.float64()).to_numpy()
        return np.where(np.isfinite(found), found, np.nan)
    return as_numbers(column.tokens.cast(pa.string()), np.full(column.size, kind)) if kind in (INTEGER, DATE) else None


def encode_numbers(values: Array) -> Array:
    """A column for each bin, one for the rank, and one for missing values."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros((len(values), 0))
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, np.where(known, values, 0.0), side="right")
    hot = (bins[:, None] == np.arange(len(edges) + 1)) & known[:, None]
    order = np.searchsorted(np.sort(values[known]), np.where(known, values, 0.0)) / known.sum() - 0.5
    return np.column_stack([hot, np.where(known, order, 0.0), ~known]).astype(np.float64)


def encode_codes(codes: Array) -> Array:
    """A column for each of the most frequent codes, and one for missing values (-1)."""
    present, counts = np.unique(codes[codes >= 0], return_counts=True)
    frequent = present[np.argsort(-counts, kind="stable")][:_BINS]
    return np.column_stack([codes[:, None] == frequent, codes < 0]).astype(np.float64)


def encode(column: InputColumn, codes: Array) -> Array:
    """Some rows of a column, given by the positions of their values; -1 for null."""
    numbers = numbers_of(column)
    return encode_codes(codes) if numbers is None else encode_numbers(np.append(numbers, np.nan)[codes])
