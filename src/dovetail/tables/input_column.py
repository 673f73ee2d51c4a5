"""A column of a table that a user gives, as tokens: of its values, or of their hashes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import count_values, hashed_counts
from dovetail.normalise import ColumnType, decide, tokens
from dovetail.normalise.keyed import HASHED

TEXT_TYPES = ("text", "mixed")
_CODE = r"^\S*[0-9]\S*$"
_MOST = 0.9  # of a column's values, to say what it has; arbitrary, forgives a few odd ones


@dataclass(frozen=True)
class InputColumn:
    """The distinct tokens of a column, the number of rows of each, and its first spelling in the column."""

    name: str
    type: ColumnType
    rows: int
    tokens: pa.LargeStringArray
    counts: Array
    written: pa.LargeStringArray
    codes: Callable[[], Array]  # of every row, the position of its token; -1 for null

    @property
    def size(self) -> int:
        return len(self.tokens)

    @property
    def is_text(self) -> bool:
        """Whether its values are words rather than numbers, dates or flags."""
        return self.type.kind in TEXT_TYPES

    @property
    def texts(self) -> Array:
        """Which tokens can be spelt or understood in another way: those with enough letters, and no hashes."""
        from dovetail.indexes.pexeso.core import texts_among  # few questions are about texts

        return np.zeros(self.size, bool) if self.type == HASHED else texts_among(self.tokens)

    @property
    def has_codes(self) -> bool:
        """Whether most of its values have a digit and no space: codes have one spelling; similar ones are others."""
        return bool(self.size and pc.mean(pc.match_substring_regex(self.tokens, _CODE)).as_py() >= _MOST)


def input_column(name: str, values: pa.ChunkedArray, column_type: ColumnType | None = None) -> InputColumn:
    """The tokens of a column of raw text; its type is decided by the values, unless it is known."""
    counted: RawCounts = count_values(values)
    column_type = column_type or decide(counted.evidence)
    found = tokens(counted.folded, column_type)
    encoded = found.cast(pa.large_string()).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy()
    valid = np.flatnonzero(codes >= 0)
    totals = np.bincount(codes[valid], weights=counted.counts[valid], minlength=len(encoded.dictionary))
    _, first = np.unique(codes[valid], return_index=True)
    written = counted.values.take(pa.array(valid[first]))
    rows = functools.partial(_row_codes, codes, counted.codes)
    return InputColumn(name, column_type, len(values), encoded.dictionary, totals.astype(np.int64), written, rows)


def _row_codes(token_of: Array, raw: Array) -> Array:
    """The token of each row, from the tokens of raw values and the raw values of rows."""
    found: Array = np.append(token_of, -1)[raw]
    return found


def hashed_column(name: str, values: pa.ChunkedArray) -> InputColumn:
    """The hashes of a column of raw text, by the key that the environment gives."""
    counted = hashed_counts(count_values(values))
    rows = np.flatnonzero(counted.codes >= 0)
    _, first = np.unique(counted.codes[rows], return_index=True)
    written = values.take(pa.array(rows[first])).combine_chunks().cast(pa.large_string())
    codes = functools.partial(np.asarray, counted.codes)
    return InputColumn(name, HASHED, len(values), counted.values, counted.counts, written, codes)
