"""Whether a table is a copy or a version of mine: how many rows both have, by the columns that are aligned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._types import Array
from dovetail.normalise.hashing import hash_tokens
from dovetail.tables.input_table import InputTable
from dovetail.union.alignment import Alignment

COPY, VERSION = "copy", "version"
_NEARLY_ALL = 0.9  # of the rows of both tables, in a copy; arbitrary
_MOST = 0.5  # of the rows of the smaller table, in a version; arbitrary
_TELLING = 0.9  # distinct rows, without which the same ones say nothing; arbitrary
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: 2**64 divided by the golden ratio (Fibonacci hashing)


def common_rows(mine: InputTable, theirs: InputTable, alignment: Alignment) -> tuple[int, str | None]:
    """How many of their distinct rows mine has too, and whether theirs is a copy or a version of mine.

    Rows are compared by the aligned columns, by at least half of mine, and only where they identify most rows.
    """
    pairs = alignment.pairs
    if 2 * len(pairs) < len(alignment.mine) or not pairs:
        return 0, None
    ones = _distinct_rows(mine, [pair.mine for pair in pairs])
    others = _distinct_rows(theirs, [pair.theirs for pair in pairs])
    common = len(np.intersect1d(ones, others, assume_unique=True))
    if not common or min(len(ones) / mine.rows, len(others) / theirs.rows) < _TELLING:
        return common, None
    if common >= _NEARLY_ALL * max(len(ones), len(others)):
        return common, COPY
    return common, VERSION if common >= _MOST * min(len(ones), len(others)) else None


def _distinct_rows(table: InputTable, names: Sequence[str]) -> Array:
    """A hash of each distinct row of these columns, by their normalised values."""
    rows = np.zeros(table.rows, np.uint64)
    for name in names:
        column = table.column(name)
        hashes = np.append(hash_tokens(column.tokens), np.uint64(0))  # the last one is that of null
        rows = rows * _FACTOR + hashes[column.codes()]
    return np.unique(rows)
