"""What is known of the columns of two tables, alone and together: the sides of their candidate joins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence.agreement import Agreement
from dovetail.evidence.columns import could_be_keys, side_of_tables
from dovetail.evidence.features import FEATURES, Side
from dovetail.evidence.references import REFERENCE_FEATURES, References
from dovetail.evidence.vocabulary import ColumnNames
from dovetail.tables.input_table import InputTable

OF_REFERENCES = (
    "theirs_found", "tables_similar", "head", "called", "owner_of_name", "called_here_key", "own_key_here",
    "id_word_here", "own_name_there", "id_word_there", "known_there", "row_number_here", "numbered_there",
)  # fmt: skip
"""What the names say of a reference from one column to the other, and whether they are row numbers."""
_PLACES = [REFERENCE_FEATURES.index(name) for name in OF_REFERENCES]
JOIN_FEATURES = (*FEATURES, *(f"reference_{name}" for name in OF_REFERENCES), "agreement")
"""The features of a candidate join of two tables."""

Columns = tuple[int, ...]
"""Positions among the columns of the left table and then of the right one."""


class TwoTables:
    def __init__(self, left: InputTable, right: InputTable) -> None:
        self.left, self.right = left, right
        self._side, _ = side_of_tables((left, right))
        self._folded = [name.casefold() for name in (*left.names, *right.names)]
        self._references = self._of_names()
        self.agreement = Agreement(left, right)

    def _of_names(self) -> References:
        encoded = pa.array([*self.left.names, *self.right.names], pa.string()).dictionary_encode()
        table_of = np.repeat([0, 1], [len(self.left.names), len(self.right.names)])
        names = ColumnNames(
            encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64),
            [self.left.name, self.right.name], table_of, np.ones(len(table_of), bool),
        )  # fmt: skip
        return References(self._side, names, could_be_keys(self._side.rows, self._side.filled, self._side.distinct))

    def positions(self, columns: tuple[Sequence[str], Sequence[str]]) -> tuple[Columns, Columns]:
        """Of columns of the left and of the right table."""
        mine, theirs = columns
        first = len(self.left.names)
        return (
            tuple(map(self.left.names.index, mine)),
            tuple(first + self.right.names.index(name) for name in theirs),
        )

    def names(self, columns: Columns) -> tuple[str, ...]:
        """Of columns of one table."""
        first = len(self.left.names)
        return tuple(self.left.names[each] if each < first else self.right.names[each - first] for each in columns)

    def side(self, chosen: Sequence[Columns]) -> Side:
        """One entry for each of some columns, or combinations of them, of one table."""
        first = np.array([columns[0] for columns in chosen], np.int64)
        side = Side(*(np.array(values[first], np.float64) for values in self._side))
        for place, columns in enumerate(chosen):
            if len(columns) > 1:
                self._combine(side, place, columns)
        return side

    def _combine(self, side: Side, place: int, columns: Columns) -> None:
        several = list(columns)
        filled, distinct = self._combinations(columns)
        side.filled[place], side.distinct[place] = filled, distinct
        side.kind[place] = self._side.kind[several].max()
        side.low[place] = side.high[place] = np.nan
        side.length[place] = self._side.length[several].sum()
        side.place[place] = self._side.place[several].min()
        side.is_leading[place] = filled == distinct == side.rows[place]
        side.is_generic[place] = self._side.is_generic[several].all()

    def _combinations(self, columns: Columns) -> tuple[int, int]:
        """Rows without a null, and distinct combinations."""
        table = self.left if columns[0] < len(self.left.names) else self.right
        numbers = np.zeros(table.rows, np.int64)
        for name in self.names(columns):
            column = table.column(name)
            codes = column.codes().astype(np.int64)
            both = np.where((numbers < 0) | (codes < 0), -1, numbers * max(column.size, 1) + codes)
            distinct, numbers = np.unique(both, return_inverse=True)
            numbers -= bool(len(distinct) and distinct[0] < 0)
        return int((numbers >= 0).sum()), int(numbers.max(initial=-1)) + 1

    def fullness(self, chosen: Sequence[Columns], side: Side) -> Array:
        """Of combinations, how many of all that there could be: a year and a month are there by chance. NaN for one."""
        possible = np.log2(np.maximum(self._side.distinct, 1))  # their product may be beyond any number
        return np.array(
            [
                np.nan if len(columns) < 2 else min(1.0, np.exp2(counted - possible[list(columns)].sum()))
                for columns, counted in zip(chosen, np.log2(np.maximum(side.distinct, 1)), strict=True)
            ]
        )

    def same_name(self, ones: Array, others: Array) -> Array:
        return np.array([self._folded[a] == self._folded[b] for a, b in zip(ones, others, strict=True)], np.float64)

    def references(self, ones: Array, others: Array) -> Array:
        """What the names say of a reference from each of `ones` to each of `others`, a row each."""
        found: Array = self._references.features(ones, others, np.ones(len(ones), np.int64))[:, _PLACES]
        return found
