"""Hits of a search ranked by what their columns add to predicting a column of mine, on a sample of the join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.augment.encoding import encode, encode_codes, encode_numbers, numbers_of
from dovetail.augment.gain import Target
from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.join.keys import equal_keys
from dovetail.search.hit import ColumnGain, Hit
from dovetail.search.hits import Hits
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable, lake_table

CONSIDERED = 40  # hits of which the best are shown; arbitrary, four times the usual number
_SAMPLE = 1_000  # rows of mine, as in the PEXESO paper's experiment
_LEAST_ROWS = 20  # arbitrary: fewer rows with a value to predict say nothing
_CLASSES = 10  # of a text that is predicted, the most frequent; arbitrary
_FEW = 10  # distinct numbers that are classes
_COLUMNS = 10  # of a table, the most helpful, that are taken together; arbitrary
_ITSELF = 0.9  # of the rows that match something, those with the target's value there: it is the target; arbitrary
_SEED = 0


def ranked_for(segments: Sequence[OpenSegment], mine: InputTable, target: str, hits: Hits, k: int | None) -> Hits:
    """The hits whose columns add most to predicting a column of mine, best first."""
    helper = _Helper(mine, target)
    found = [helper.judged(hit, lake_table(*find_table(segments, hit.table, "The index has no table"))) for hit in hits]
    found.sort(key=lambda hit: (-(hit.gain or 0.0), hit.rank))
    return hits.with_rows([replace(hit, rank=rank) for rank, hit in enumerate(found[:k], 1)])


class _Helper:
    """Predicts a column of mine on a sample of my rows."""

    def __init__(self, mine: InputTable, target: str) -> None:
        self._mine = mine
        self._column = mine.column(target)
        codes = self._column.codes()
        known = np.flatnonzero(codes >= 0)
        if len(known) < _LEAST_ROWS or self._column.size < 2:
            raise InputError(
                f"{target} of {mine.name} cannot be predicted: it needs {_LEAST_ROWS} rows and two values."
            )
        drawn = np.random.default_rng(_SEED).permutation(len(known))[:_SAMPLE]
        self._rows = known[np.sort(drawn)]
        self._codes = codes[self._rows]
        others = [column for column in mine.columns if column.name != target]
        own = [encode(column, column.codes()[self._rows]) for column in others]
        self._target = Target(
            _outcomes(self._column, self._codes), np.column_stack([*own, np.zeros((len(self._rows), 0))])
        )

    def judged(self, hit: Hit, table: InputTable) -> Hit:
        """The hit, with what each column that it brings adds, and what the most helpful add together."""
        keys = equal_keys(self._mine, table, hit.pairs)
        of_rows = keys.left[self._rows]
        inputs, gains = [], []
        for name in hit.brings:
            encoded = self._encoded(table.column(name), keys.right, keys.size, of_rows)
            if encoded is not None:
                inputs.append(encoded)
                gains.append(ColumnGain(name, self._target.gain(encoded)))
        order = sorted(range(len(gains)), key=lambda place: -gains[place].gain)
        helpful = [place for place in order if gains[place].gain > 0][:_COLUMNS]
        together = self._target.gain(np.column_stack([inputs[place] for place in helpful])) if helpful else 0.0
        best = max([together, *(gains[place].gain for place in helpful)], default=0.0)
        return replace(hit, gain=max(best, 0.0), helps=tuple(gains[place] for place in helpful))

    def _encoded(self, column: InputColumn, keys: Array, size: int, of_rows: Array) -> Array | None:
        """A column of the other table for my rows: the mean of the matching numbers, or the first value.

        None if it is the target itself.
        """
        codes = column.codes()
        first = np.full(size + 1, -1, np.int64)  # the last key is that of rows without one
        held = np.flatnonzero((keys >= 0) & (codes >= 0))[::-1]
        first[keys[held]] = codes[held]
        matched = first[of_rows]
        if self._is_target(column, keys[held], codes[held], of_rows):
            return None
        numbers = numbers_of(column)
        if numbers is None:
            return encode_codes(matched)
        values = numbers[codes[held]]
        finite = np.isfinite(values)
        sums = np.bincount(keys[held][finite], weights=values[finite], minlength=size + 1)
        counts = np.bincount(keys[held][finite], minlength=size + 1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return encode_numbers(means[of_rows])

    def _is_target(self, column: InputColumn, keys: Array, codes: Array, of_rows: Array) -> bool:
        """Whether most rows that match have the same value there, in one of the rows that they match."""
        if column.type.kind != self._column.type.kind:
            return False
        same = pc.index_in(column.tokens, value_set=self._column.tokens).fill_null(-1).to_numpy()[codes]
        size = self._column.size
        theirs = (keys.astype(np.int64) * size + same)[same >= 0]
        matched = np.isin(of_rows, keys)
        found = np.isin(of_rows.astype(np.int64) * size + self._codes, theirs) & matched
        return bool(matched.any() and found.sum() >= _ITSELF * matched.sum())


def _outcomes(column: InputColumn, codes: Array) -> Array:
    """Numbers as their standard scores, clipped to three; a column for each of the most frequent other values."""
    numbers = numbers_of(column)
    if numbers is not None and column.size > _FEW:
        values = numbers[codes]
        values = np.where(np.isfinite(values), values, np.nanmean(values))
        scores = (values - values.mean()) / (values.std() or 1.0)
        clipped: Array = np.clip(scores, -3, 3)[:, None]
        return clipped
    present, counts = np.unique(codes, return_counts=True)
    classes = present[np.argsort(-counts, kind="stable")][:_CLASSES]
    hot: Array = (codes[:, None] == classes).astype(np.float64)
    return hot
