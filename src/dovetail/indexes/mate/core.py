"""Shared by building and querying: the parameters of the hash, and the arrays as kernels take them.

Mahdi Esmailoghli, Jorge-Arnulfo Quiané-Ruiz, Ziawasch Abedjan: MATE: Multi-Attribute Table Extraction. PVLDB 15(8),
2022. doi:10.14778/3529337.3529353.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dovetail._storage.packing_kernels import Packed
from dovetail._types import Array
from dovetail.errors import FormatMismatch
from dovetail.indexes.mate.mapping_kernels import C_NEXT, V_END
from dovetail.indexes.rows.format import RowArrays
from dovetail.indexes.tokens.format import TokenArrays

FAMILIES = {"xash": 1, "fitted": 2}
SIZES = (0, 64, 128, 256, 512)
SLOTS = 37  # for characters, as in section 5.3.2
_CODE_POINTS = 0x110000  # of Unicode
_MOST_ONES = 10  # with half of the bits set, ten of them let one other value in 1,024 pass


@dataclass(frozen=True)
class SuperKeyParameters:
    """How super keys are made: frozen in the manifest, since a row and a query are compared by them.

    `ones` is alpha, the bits that XASH sets for a value; `characters` are those of the lake, the most frequent first.
    """

    family: str = "fitted"
    bits: int = 64
    ones: int = 4
    characters: str = ""

    @classmethod
    def of(cls, frozen: Mapping[str, Any]) -> SuperKeyParameters:
        return cls(**frozen)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def require(self, where: str) -> None:
        """Raise FormatMismatch unless this Dovetail makes such keys."""
        if self.family not in FAMILIES or self.bits not in SIZES or not 1 <= self.ones <= max(self.bits, SIZES[1]):
            raise FormatMismatch(
                f"{where} holds super keys of {self.bits} bits by {self.family}; this Dovetail knows "
                f"{', '.join(FAMILIES)} with {', '.join(map(str, SIZES))} bits. Build the index again with "
                "`dovetail index`."
            )

    @property
    def words(self) -> int:
        return self.bits // 64

    def ones_of(self, filled: Array) -> Array:
        """How many bits a value sets in tables whose rows have so many values on average.

        XASH sets as many everywhere. A Bloom filter rules out most where half of its bits are set.
        """
        if self.family == "xash":
            return np.full(len(filled), self.ones, np.uint8)
        best = np.round(self.bits * math.log(2) / np.maximum(filled, 1))
        return np.clip(best, 1, _MOST_ONES).astype(np.uint8)


def alpha(bits: int, values: int) -> int:
    """Equation 5: the fewest ones of which there are more combinations than distinct values in the lake."""
    return next(ones for ones in range(2, bits) if math.comb(bits, ones) > values)


@cache
def rank_of(characters: str) -> Array:
    """For every code point how many characters are more frequent; those that the lake did not show are the rarest."""
    ranks = np.full(_CODE_POINTS, len(characters), np.uint16)
    ranks[[ord(character) for character in reversed(characters)]] = np.arange(len(characters))[::-1]
    return ranks


class ColumnGroups(NamedTuple):
    """For every column its groups, and where the tokens of groups begin."""

    group_offsets: Array
    groups: Array
    group_tokens: Array

    @classmethod
    def of(cls, tokens: TokenArrays) -> ColumnGroups:
        return cls(tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens)


class RowStore(NamedTuple):
    """The row store: see RowArrays and RowLayout."""

    cells: Array
    starts: Array
    first_rows: Array
    first_columns: Array
    table_of: Array
    offsets: Array
    widths: Array
    strides: Array

    @classmethod
    def of(cls, rows: RowArrays) -> RowStore:
        layout = rows.layout
        return cls(
            rows.cells, rows.starts, rows.first_rows, rows.first_columns, layout.table_of, layout.offsets,
            layout.widths, layout.strides,
        )  # fmt: skip


class Hashing(NamedTuple):
    """All that a token's bits are made of."""

    family: int
    slots: int
    rank_of: Array
    hashes: Array  # XXH64 by token
    token_bytes: Array
    token_offsets: Array

    @classmethod
    def of(cls, parameters: SuperKeyParameters, hashes: Array, content: Array, offsets: Array) -> Hashing:
        ranks = rank_of(parameters.characters)
        return cls(FAMILIES[parameters.family], SLOTS, ranks, hashes, content, offsets)


class TokenPostings(NamedTuple):
    """For every group the columns that hold it, how many of the column's tokens come before it, and its tokens."""

    offsets: Array
    columns: Array
    positions: Array
    group_tokens: Array


class RowPostings(NamedTuple):
    """The row postings."""

    set_offsets: Array
    set_counts: Packed
    sums: Packed
    every: int
    rows: Packed


class RowKeys(NamedTuple):
    super_keys: Array
    ones: Array


class QueryKey(NamedTuple):
    """The key tuples as a segment sees them: places of distinct values, with the ids and groups of these."""

    tuples: Array
    ids: Array
    groups: Array
    starts: Array  # the values that the search starts from
    start_offsets: Array
    start_tuples: Array  # for each of these the tuples that are found by it, by their second value
    start_seconds: Array  # for each of these the column of the key where its tuples differ most
    keys: Array  # for each class of tables the bits of every tuple
    class_of: Array  # by the bits that a value sets


class TableState(NamedTuple):
    """What is known of the table and of the row at hand."""

    values: Array  # by value of the key: see V_TABLE and those after it
    columns: Array  # by column of the table: C_TABLE and C_NEXT
    listed: Array  # the columns that hold a value of the key, in order
    found: Array  # the values of the key that occur in the row
    done: Array  # for every tuple the last table where it is known to match in the only way it can
    passing: Array  # the tuples that passed the filter in the row

    @classmethod
    def nothing(cls, values: int, tuples: int, columns: int) -> TableState:
        """Of a key with so many distinct values and tuples, in tables of so many columns at most."""
        return cls(
            np.full((values, V_END + 1), -1, np.int64), np.full((columns, C_NEXT + 1), -1, np.int64),
            np.empty(columns, np.int64), np.empty(columns, np.int64), np.full(tuples, -1, np.int64),
            np.empty(tuples, np.int64),
        )  # fmt: skip


class OrderedPairs(NamedTuple):
    """Pairs (see search_kernels) with their order by tuple."""

    owners: Array
    ends: Array
    choices: Array
    order: Array
