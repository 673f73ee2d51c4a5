"""A key of several columns as distinct tuples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable


@dataclass(frozen=True)
class QueryKey:
    """The distinct tuples of several columns of mine and the number of rows of each. Rows with a null have none."""

    columns: tuple[InputColumn, ...]
    rows: int
    tuples: Array  # places among the tokens of each column, in the order of their first rows
    counts: Array

    @property
    def size(self) -> int:
        return len(self.tuples)

    @cached_property
    def numbers(self) -> Numbers:
        """The tuples as single numbers."""
        return Numbers([self.tuples[:, j] for j in range(len(self.columns))])

    def written(self, tuple_: int) -> str:
        """A tuple as I wrote it first."""
        codes = self.tuples[tuple_].tolist()
        return " | ".join(column.written[code].as_py() for column, code in zip(self.columns, codes, strict=True))


class Numbers:
    """Tuples of codes as single numbers, which other tuples can be looked up among."""

    def __init__(self, columns: Sequence[Array]) -> None:
        self._steps: list[Array] = []
        numbers = columns[0].astype(np.int64)
        for column in columns[1:]:
            # Numbered anew at every step, so that no product outgrows 64 bits.
            known, numbers = np.unique(numbers, return_inverse=True)
            self._steps.append(known)
            numbers = numbers * _WIDE + column
        self.known, self.first, self.inverse, self.counts = np.unique(
            numbers, return_index=True, return_inverse=True, return_counts=True
        )

    def find(self, columns: Sequence[Array]) -> Array:
        """The place of each tuple among the distinct ones, ascending; -1 for those that are not there, or have a -1."""
        numbers, valid = columns[0].astype(np.int64), columns[0] >= 0
        for known, column in zip(self._steps, columns[1:], strict=True):
            places = _places(known, numbers)
            valid &= (places >= 0) & (column >= 0)
            numbers = places * _WIDE + column
        found: Array = np.where(valid, _places(self.known, numbers), -1)
        return found


_WIDE = 1 << 32


def _places(known: Array, asked: Array) -> Array:
    places = np.minimum(np.searchsorted(known, asked), max(len(known) - 1, 0))
    found: Array = np.where(known[places] == asked, places, -1) if len(known) else np.full(len(asked), -1)
    return found


def query_key(table: InputTable, names: Iterable[str]) -> QueryKey:
    columns = tuple(table.column(name) for name in names)
    codes = [column.codes() for column in columns]
    whole = np.logical_and.reduce([code >= 0 for code in codes])
    rows = [code[whole] for code in codes]
    if not whole.any():
        raise InputError(
            f"No row of {table.name} has a value in all of {', '.join(column.name for column in columns)}."
        )
    found = Numbers(rows)
    by_row = np.argsort(found.first)
    first = found.first[by_row]
    return QueryKey(columns, table.rows, np.stack([code[first] for code in rows], axis=1), found.counts[by_row])
