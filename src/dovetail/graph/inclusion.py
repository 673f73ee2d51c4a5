"""All unary inclusion dependencies of a lake, whole or partial, exact.

Tschirschnitz, Papenbrock, Naumann: Detecting Inclusion Dependencies on Very Many Tables, TODS 42(3), 2017,
doi:10.1145/3105959. The definitions and filters are theirs. Candidates come from the posting lists of a set's rarest
tokens; their Bloom signatures are in `many`. docs/algorithms/many.md tells the departures.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion_kernels import column_pairs, including_sets
from dovetail.graph.many import Proposer, Signatures
from dovetail.graph.sets import LakeSets, lake_sets
from dovetail.indexes.open_segment import OpenSegment

_ROOM = 1 << 20
_BLOCK = 1 << 9  # sets that one thread takes at a time


@dataclass(frozen=True)
class Filters:
    """Which columns and dependencies are left out, as in section 3.2 of the paper."""

    null: bool = True  # columns without a value
    integer: bool = True  # columns of whole numbers
    non_unique: bool = True  # referenced columns in which a value stands twice
    coverage: Fraction = Fraction(1, 5)  # least share of the referenced column's values that the dependent one has


NO_FILTERS = Filters(null=False, integer=False, non_unique=False, coverage=Fraction(0))


@dataclass(frozen=True)
class Question:
    """What is asked of the lake."""

    filters: Filters = Filters()
    containment: Fraction = Fraction(1)  # least share of the dependent column's values that the referenced one has
    null_is_a_value: bool = False  # the paper's semantics: null equals null, and a column may hold it

    def __post_init__(self) -> None:
        if not 0 < self.containment <= 1:
            raise InputError(f"A dependency holds from a share above 0 to 1 on, not {float(self.containment):g}.")
        if not 0 <= self.filters.coverage <= 1:
            raise InputError(f"The coverage is a share from 0 to 1, not {float(self.filters.coverage):g}.")


@dataclass(frozen=True)
class Pairs:
    """Dependencies as arrays: numbers of the two columns, and how many values they share."""

    dependent: Array
    referenced: Array
    overlap: Array

    def __len__(self) -> int:
        return len(self.dependent)


class Inclusions:
    """The dependencies of a lake: `sets` to tell sizes, iterated in blocks of pairs of columns."""

    def __init__(
        self,
        columns: LakeColumns,
        question: Question,
        threads: int = 1,
        signatures: Signatures | None = None,
        referable: Array | None = None,
    ) -> None:
        """Candidates come from posting lists, or from Bloom signatures where these are given.

        With `referable`, these columns may be referenced, and no others, whether they repeat values or not.
        """
        if signatures and question.containment != 1:
            raise InputError("Signatures propose whole inclusions only; leave them out to find partial ones.")
        self.columns = columns
        self.question = question
        self._referable = referable
        self._threads = threads
        self.proposer = Proposer(self.sets, signatures) if signatures else None

    @cached_property
    def sets(self) -> LakeSets:
        wanted, referable = eligible(self.columns, self.question)
        referable = referable if self._referable is None else wanted & self._referable
        return lake_sets(self.columns, wanted, referable, self.question.null_is_a_value)

    @property
    def sizes(self) -> Array:
        """How many values each column has, of those that take part."""
        return self.columns.distinct + (self.columns.nulls > 0 if self.question.null_is_a_value else 0)

    def __iter__(self) -> Iterator[Pairs]:
        for pairs in self.set_pairs():
            yield from self._of_columns(pairs)

    def set_pairs(self) -> Iterator[Array]:
        """Rows of (dependent set, referenced set, overlap), blocks of sets in order whatever the threads."""
        yield self._equal_sets()
        yield self._empty_set()
        least, most = self._bounds()
        blocks = range(0, len(self.sets), _BLOCK)

        def work(first: int) -> list[Array]:
            return list(self._block(first, min(first + _BLOCK, len(self.sets)), least, most))

        if self._threads == 1:
            for first in blocks:
                yield from work(first)
        else:
            yield from _in_threads(self._threads, work, blocks)

    def _bounds(self) -> tuple[Array, Array]:
        """Least overlap and greatest size of the other set, from rationals: a float could put 7 of 10 below 0.7."""
        share, coverage, sizes = self.question.containment, self.question.filters.coverage, self.sets.sizes
        least = -(-sizes * share.numerator // share.denominator)
        largest = int(sizes.max(initial=0))
        most = sizes * coverage.denominator // coverage.numerator if coverage else np.full(len(sizes), largest)
        return least, most

    def _block(self, first: int, last: int, least: Array, most: Array) -> Iterator[Array]:
        """The pairs of the sets of this range."""
        sets = self.sets
        found = np.empty((max(_ROOM, len(sets)), 3), np.int64)
        if self.proposer:
            for pairs in self.proposer.pairs(first, last, most, found):
                yield self._covering(pairs)
            return
        while first < last:
            first, filled = including_sets(
                first, least[:last], most, sets.sizes, sets.private, sets.group_offsets, sets.groups, sets.weights,
                sets.list_offsets, sets.lists, found,
            )  # fmt: skip
            yield self._covering(found[:filled])

    def _covering(self, pairs: Array) -> Array:
        """Those that cover enough: where a dependency is partial, less is shared than the dependent set has."""
        coverage = self.question.filters.coverage
        enough = pairs[:, 2] * coverage.denominator >= self.sets.sizes[pairs[:, 1]] * coverage.numerator
        kept: Array = pairs[enough]
        return kept

    def _equal_sets(self) -> Array:
        several = np.flatnonzero(np.diff(self.sets.member_offsets) > 1)
        return np.stack([several, several, self.sets.sizes[several]], axis=1)

    def _empty_set(self) -> Array:
        """That of columns without rows, where null is a value: all sets include it."""
        if not len(self.sets) or self.sets.sizes[0] or self.question.filters.coverage:
            return np.empty((0, 3), np.int64)
        others = np.arange(1, len(self.sets))
        return np.stack([np.zeros_like(others), others, np.zeros_like(others)], axis=1)

    def _of_columns(self, pairs: Array) -> Iterator[Pairs]:
        sets = self.sets
        room = max(_ROOM, int(np.diff(sets.member_offsets).max(initial=0)))
        arrays = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32)
        start, member, pair = 0, 0, 0
        while start < len(pairs):
            start, member, pair, filled = column_pairs(
                pairs, start, member, pair, sets.member_offsets, sets.members, sets.referable, *arrays
            )
            if filled:
                yield Pairs(*(array[:filled].copy() for array in arrays))


def inclusions(segments: Sequence[OpenSegment], question: Question) -> Inclusions:
    """The dependencies of open segments, found by as many threads as there are processors."""
    return Inclusions(LakeColumns(segments), question, os.cpu_count() or 1)


def as_share(given: float | str) -> Fraction:
    """A share as the rational that was written, not as the float nearest to it."""
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{given!r} is no share: give a number from 0 to 1, such as 0.9.") from None


def eligible(columns: LakeColumns, question: Question) -> tuple[Array, Array]:
    """Which columns take part at all, and which of them may be referenced."""
    filters = question.filters
    wanted = columns.alive.copy()
    if filters.null or not question.null_is_a_value:
        wanted &= columns.distinct > 0
    if filters.integer:
        wanted &= columns.kinds != "integer"
    referable = wanted.copy()
    if filters.non_unique:
        referable &= columns.unique & ((columns.nulls < 2) | (not question.null_is_a_value))
    return wanted, referable


def _in_threads(threads: int, work: Callable[[int], list[Array]], blocks: range) -> Iterator[Array]:
    """The answers in the order of the blocks; no more blocks are under way than there are threads."""
    with ThreadPoolExecutor(threads) as pool:
        under_way = [pool.submit(work, first) for first in blocks[:threads]]
        for first in blocks[threads:]:
            yield from under_way.pop(0).result()
            under_way.append(pool.submit(work, first))
        for future in under_way:
            yield from future.result()
