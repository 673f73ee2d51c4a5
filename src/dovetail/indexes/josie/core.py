"""Shared by building and querying: the arrays as kernels take them, the read costs, and what a search returns.

Erkang Zhu, Dong Deng, Fatemeh Nargesian, Renée J. Miller: JOSIE: Overlap Set Similarity Search for Finding Joinable
Tables in Data Lakes. SIGMOD 2019. doi:10.1145/3299869.3300065. Equations are numbered as in Zhu's thesis, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dovetail._types import Array


class PostingLists(NamedTuple):
    """For every group the columns that hold it, and how many tokens of the column come before it."""

    offsets: Array
    columns: Array
    positions: Array


class ColumnSets(NamedTuple):
    """For every column its groups; how many tokens columns have; where the tokens of groups begin."""

    offsets: Array
    groups: Array
    token_offsets: Array
    group_tokens: Array


class QueryGroups(NamedTuple):
    """Distinct groups ascending, how many tokens of the query each holds, and the suffix sums of both.

    `rest[i]` is the weight, `cost[i]` the nanoseconds of reading the lists, of the groups from i on.
    """

    groups: Array
    weights: Array
    rest: Array
    cost: Array


class JosieCosts(NamedTuple):
    """Equation 3.15 in nanoseconds: a set costs s0 + s1 · steps, a posting list l0 + l1 · items.

    `set_size` is how many groups the set has that a posting leads to, the median of all postings.
    """

    s0: float
    s1: float
    l0: float
    l1: float
    set_size: float


class Scratch(NamedTuple):
    """A search's working memory. Counts are all zero between searches."""

    counts: Array
    touched: Array
    columns: Array
    overlaps: Array

    @classmethod
    def of(cls, columns: int) -> Scratch:
        """Only pages that a search touches become real. One item more than columns: kernels append, then decide."""
        return cls(
            np.zeros(columns, np.int32),
            np.empty(columns + 1, np.uint32),
            np.empty(columns, np.uint32),
            np.empty(columns, np.int64),
        )


@dataclass(frozen=True)
class OverlapWork:
    """What a search read."""

    lists: int
    list_items: int
    sets: int
    set_items: int


@dataclass(frozen=True)
class OverlapMatches:
    """Columns by falling overlap, then by number, and what it took to find them."""

    columns: npt.NDArray[np.uint32]
    overlaps: npt.NDArray[np.int64]
    work: OverlapWork
