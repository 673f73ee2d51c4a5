"""Columns as numbers: the same number for the same token, whatever the table and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.join.best_predicate.kernels import own, shared
from dovetail.normalise.hashing import hash_tokens
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

_ROOM = 4  # places for each token, so that few collide


@dataclass(frozen=True)
class CodedTable:
    """The columns that share a token with another table. -1 is null, or a token that no other table has."""

    rows: int
    columns: tuple[int, ...]  # their places in the table
    codes: Array  # a row for each of the columns

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class Coded:
    tables: tuple[CodedTable, ...]
    size: int  # how many codes there are
    excluded: frozenset[tuple[int, int, int, int]] = frozenset()  # pairs that no predicate may have

    def two(self, x: int, y: int) -> Coded:
        """Two of the tables."""
        excluded = frozenset((0, a, 1, b) for i, a, j, b in self.excluded if (i, j) == (x, y))
        return replace(self, tables=(self.tables[x], self.tables[y]), excluded=excluded)


def code_tables(tables: Sequence[InputTable]) -> Coded:
    """Codes of all tables together. Hashes show cheaply which tokens may be shared; the tokens themselves decide."""
    hashes = [[hash_tokens(column.tokens) for column in table.columns] for table in tables]
    size = sum(len(each) for of_table in hashes for each in of_table)
    owners = np.zeros(1 << max(10, (_ROOM * size).bit_length()), np.uint8)
    for number, of_table in enumerate(hashes):
        for each in of_table:
            own(each, number + 1, owners)
    kept = [[shared(each, owners) for each in of_table] for of_table in hashes]
    parts = [
        column.tokens.take(pa.array(places)).cast(pa.large_string())
        for table, of_table in zip(tables, kept, strict=True)
        for column, places in zip(table.columns, of_table, strict=True)
    ]
    encoded = pa.chunked_array(parts, pa.large_string()).combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy().astype(np.int32)
    start = 0
    coded = []
    for table, of_table in zip(tables, kept, strict=True):
        codes = {}
        for place, (column, places) in enumerate(zip(table.columns, of_table, strict=True)):
            if len(places):
                codes[place] = _codes(column, places, numbers[start : start + len(places)])
            start += len(places)
        stacked = np.stack(list(codes.values())) if codes else np.empty((0, table.rows), np.int32)
        coded.append(CodedTable(table.rows, tuple(codes), stacked))
    return Coded(tuple(coded), len(encoded.dictionary))


def _codes(column: InputColumn, places: Array, numbers: Array) -> Array:
    code_of = np.full(column.size + 1, -1, np.int32)  # the last place is for null, whose code is -1
    code_of[places] = numbers
    codes: Array = code_of[column.codes()]
    return codes
