"""All unary inclusion dependencies of a lake, whole or partial, exact.

Tschirschnitz, Papenbrock, Naumann: Detecting Inclusion Dependencies on Very Many Tables, TODS 42(3), 2017,
doi:10.1145/3105959. The definitions and filters are theirs. Candidates come from the posting lists of a set's rarest
tokens; the paper's Bloom signatures are `dovetail.papers.many`. docs/algorithms/many.md lists the departures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dovetail._progress import Progress, ShouldStop, in_threads, silent
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion_kernels import column_pairs, including_sets
from dovetail.graph.value_sets import ValueSets, value_sets

_ROOM = 1 << 20  # pairs that a kernel returns at once: 24 MB
_FINEST = 10**9  # the denominator of a share: times the size of a column it fits into a machine integer
_BLOCK = 1 << 9  # sets that a thread takes at a time
_MOMENT = 0.1  # seconds that a kernel may take: an interrupt waits for it


@dataclass(frozen=True)
class InclusionFilters:
    """Which columns and dependencies are left out, as in section 3.2 of the paper."""

    null: bool = True  # columns without a value
    integer: bool = True  # columns of whole numbers
    non_unique: bool = True  # referenced columns with repeated values
    coverage: Fraction = Fraction(1, 5)  # least share of the referenced column's values that the dependent one has


NO_FILTERS = InclusionFilters(null=False, integer=False, non_unique=False, coverage=Fraction(0))


@dataclass(frozen=True)
class InclusionQuery:
    """Which dependencies are asked for."""

    filters: InclusionFilters = InclusionFilters()
    containment: Fraction = Fraction(1)  # least share of the dependent column's values that the referenced one has
    null_is_a_value: bool = False  # the paper's semantics: null equals null, and a column may hold it

    def __post_init__(self) -> None:
        if not 0 < self.containment <= 1:
            raise InputError(f"`partial` is a share above 0 and at most 1, not {float(self.containment):g}.")
        if not 0 <= self.filters.coverage <= 1:
            raise InputError(f"`coverage` is a share from 0 to 1, not {float(self.filters.coverage):g}.")


@dataclass(frozen=True)
class ColumnPairs:
    """Dependencies as arrays: the numbers of both columns, and how many values they share."""

    dependent: Array
    referenced: Array
    overlap: Array

    def __len__(self) -> int:
        return len(self.dependent)


class InclusionFinder:
    """Finds the dependencies of a lake; iterating gives them in blocks of column pairs."""

    def __init__(
        self,
        columns: LakeColumns,
        query: InclusionQuery,
        threads: int = 1,
        referable: Array | None = None,
        progress: Progress = silent,
        sets: ValueSets | None = None,
    ) -> None:
        """`referable` marks the only columns that may be referenced, whether they repeat values or not.

        `sets` are those of the columns, if they are known.
        """
        self.columns = columns
        self.query = query
        self._referable = referable
        self._threads = threads
        self._progress = progress
        if sets is not None:
            self.sets = sets

    @cached_property
    def sets(self) -> ValueSets:
        wanted, referable = eligible(self.columns, self.query)
        referable = referable if self._referable is None else wanted & self._referable
        return value_sets(self.columns, wanted, referable, self.query.null_is_a_value, self._progress)

    @property
    def sizes(self) -> Array:
        """The number of values of each column, null among them where it is a value."""
        return values_of(self.columns, self.query)

    def __iter__(self) -> Iterator[ColumnPairs]:
        for pairs in self.set_pairs():
            yield from self._of_columns(pairs)

    def between(self, first: int, last: int) -> Iterator[ColumnPairs]:
        """The dependencies of the columns with the sets from `first` to `last`: a part of all."""
        for pairs in (self._equal_sets(), self._empty_set()):
            yield from self._of_columns(pairs[(pairs[:, 0] >= first) & (pairs[:, 0] < last)])
        for found in self._block(first, last, *self._bounds(), lambda: False):
            yield from self._of_columns(found)

    def set_pairs(self) -> Iterator[Array]:
        """Rows of (dependent set, referenced set, overlap), in the same order with any number of threads."""
        yield self._equal_sets()
        yield self._empty_set()
        least, most = self._bounds()

        def work(first: int, should_stop: ShouldStop) -> tuple[int, list[Array]]:
            last = min(first + _BLOCK, len(self.sets))
            return last, list(self._block(first, last, least, most, should_stop))

        total = len(self.sets.groups)
        for last, found in in_threads(self._threads, work, range(0, len(self.sets), _BLOCK)):
            yield from found
            self._progress("comparing columns", int(self.sets.group_offsets[last]), total)

    def _bounds(self) -> tuple[Array, Array]:
        """The least overlap and the greatest size of the other set, from rationals: a float may put 7/10 below 0.7."""
        share, coverage, sizes = self.query.containment, self.query.filters.coverage, self.sets.sizes
        least = -(-sizes * share.numerator // share.denominator)
        largest = int(sizes.max(initial=0))
        most = sizes * coverage.denominator // coverage.numerator if coverage else np.full(len(sizes), largest)
        return least, most

    def _block(self, first: int, last: int, least: Array, most: Array, should_stop: ShouldStop) -> Iterator[Array]:
        """The pairs of the sets of this range, by kernels of a moment each."""
        found = np.empty((max(_ROOM, len(self.sets)), 3), np.int64)
        step = _BLOCK
        while first < last and not should_stop():
            begun, stop = time.perf_counter(), min(last, first + step)
            first, filled = self._propose(first, stop, least, most, found)
            yield self._covering(found[:filled])
            step = max(1, step // 2) if time.perf_counter() - begun > _MOMENT else 2 * step

    def _propose(self, first: int, stop: int, least: Array, most: Array, found: Array) -> tuple[int, int]:
        """Fill `found` with the pairs of some sets, from posting lists; where to go on, and how many there are."""
        sets = self.sets
        return including_sets(
            first, least[:stop], most, sets.sizes, sets.private, sets.group_offsets, sets.groups, sets.weights,
            sets.list_offsets, sets.lists, found,
        )  # fmt: skip

    def _covering(self, pairs: Array) -> Array:
        """The pairs with enough coverage: a partial dependency shares less than the dependent set has."""
        coverage = self.query.filters.coverage
        enough = pairs[:, 2] * coverage.denominator >= self.sets.sizes[pairs[:, 1]] * coverage.numerator
        kept: Array = pairs[enough]
        return kept

    def _equal_sets(self) -> Array:
        several = np.flatnonzero(np.diff(self.sets.member_offsets) > 1)
        return np.stack([several, several, self.sets.sizes[several]], axis=1)

    def _empty_set(self) -> Array:
        """The set of columns without rows, where null is a value: all sets include it."""
        if not len(self.sets) or self.sets.sizes[0] or self.query.filters.coverage:
            return np.empty((0, 3), np.int64)
        others = np.arange(1, len(self.sets))
        return np.stack([np.zeros_like(others), others, np.zeros_like(others)], axis=1)

    def _of_columns(self, pairs: Array) -> Iterator[ColumnPairs]:
        sets = self.sets
        room = max(_ROOM, int(np.diff(sets.member_offsets).max(initial=0)))
        arrays = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32)
        start, member, pair = 0, 0, 0
        while start < len(pairs):
            start, member, pair, filled = column_pairs(
                pairs, start, member, pair, sets.member_offsets, sets.members, sets.referable, *arrays
            )
            if filled:
                yield ColumnPairs(*(array[:filled].copy() for array in arrays))


def as_share(name: str, given: float | str) -> Fraction:
    """A share as the rational that was written, not the nearest float."""
    try:
        share = Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"`{name}` is a share from 0 to 1, such as 0.9, not {given!r}.") from None
    if share.denominator > _FINEST:
        raise InputError(f"`{name}` is {given!r}; at most nine digits after the point count.")
    return share


def eligible(columns: LakeColumns, query: InclusionQuery) -> tuple[Array, Array]:
    """Which columns take part at all, and which of them may be referenced."""
    filters = query.filters
    wanted = columns.alive.copy()
    if filters.null or not query.null_is_a_value:
        wanted &= columns.distinct > 0
    if filters.integer:
        wanted &= columns.kinds != "integer"
    referable = wanted.copy()
    if filters.non_unique:
        referable &= values_of(columns, query) == columns.rows - (0 if query.null_is_a_value else columns.nulls)
    return wanted, referable


def values_of(columns: LakeColumns, query: InclusionQuery) -> Array:
    """The number of values of each column, null among them where it is a value."""
    found: Array = columns.distinct + (columns.nulls > 0 if query.null_is_a_value else 0)
    return found
