"""Hits of a search ranked by what their columns add to predicting a column of mine, on a sample of the join.

That is the share of its variance that they explain beyond my own columns. Columns are inputs of a linear model, numbers
in bins of the same size and texts by their most frequent values. A ridge regression on a part of the rows predicts the
others, so that inputs that only fit by chance add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.columns import as_numbers, kinds_of
from dovetail.evidence.features import DATE, INTEGER, REAL
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
_SEED = 0  # of the sample and of the folds
_BINS = 8  # of a number, and most frequent values of a text; arbitrary: a sample of 1,000 rows fills each
_FOLDS = 5  # the usual number
_RIDGE = 5.0  # arbitrary: as if each bin had five more rows without an effect


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


class Target:
    """The column to predict, and what my own columns leave unexplained of it."""

    def __init__(self, outcomes: Array, own: Array) -> None:
        """A row for each row of mine: the number to predict or a column for each class, and the inputs that I have."""
        self._outcomes: Array = outcomes - outcomes.mean(axis=0)
        self._own = own
        self._fold = np.random.default_rng(_SEED).permutation(len(outcomes)) % _FOLDS

    @cached_property
    def _total(self) -> float:
        return float((self._outcomes**2).sum())

    @cached_property
    def _rest(self) -> Array:
        """The errors of the predictions from my own columns, or from the mean where that is better."""
        errors: Array = self._outcomes - self._predicted(self._own, self._outcomes)
        return errors if (errors**2).sum() < self._total else self._outcomes

    @property
    def explained(self) -> float:
        """The share of the variance that my own columns explain, on rows that were left out."""
        return 1 - float((self._rest**2).sum()) / self._total if self._total else 0.0

    def gain(self, inputs: Array) -> float:
        """The share of the variance that the inputs explain in addition, on rows that were left out."""
        if not (inputs.shape[1] and self._total):
            return 0.0
        errors = self._rest - self._predicted(inputs, self._rest)
        return float((self._rest**2).sum() - (errors**2).sum()) / self._total

    def _predicted(self, inputs: Array, outcomes: Array) -> Array:
        found = np.zeros_like(outcomes)
        if not inputs.shape[1]:
            return found
        for fold in range(_FOLDS):
            known, left_out = self._fold != fold, self._fold == fold
            middle, mean = inputs[known].mean(axis=0), outcomes[known].mean(axis=0)
            rows = inputs[known] - middle
            weights = np.linalg.solve(rows.T @ rows + _RIDGE * np.eye(rows.shape[1]), rows.T @ (outcomes[known] - mean))
            found[left_out] = mean + (inputs[left_out] - middle) @ weights
        return found
