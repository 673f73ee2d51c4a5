"""Asking for columns by containment: sketches or posting lists find candidates, sets decide."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail.indexes.lsh_ensemble.core import Sketch, as_ratio, least_overlap
from dovetail.indexes.lsh_ensemble.format import NAME, LshArrays
from dovetail.indexes.lsh_ensemble.kernels import candidates_in
from dovetail.indexes.lsh_ensemble.partitions import Tuning, tuning
from dovetail.indexes.lsh_ensemble.set_kernels import (
    answer_by_postings,
    cost_of_verifying,
    count_postings,
    find_prefix,
    sum_after,
    verify_columns,
)
from dovetail.indexes.tokens.core import hash_tokens
from dovetail.indexes.tokens.query import TokenReader

Array = npt.NDArray[Any]
Plan = Literal["postings", "sketches"]
Answer = TypeVar("Answer")

RECALL = 0.95
"""Sketches are asked only where they find a set at the threshold with at least this probability."""
_WORTH_A_THREAD = 2_000_000  # nanoseconds
_ANY_SIZE = 1 << 62
_EVERY_COLUMN = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Work:
    """What an answer took: which plans, and how much was read."""

    plans: tuple[Plan, ...] = ()
    lists: int = 0
    tree_entries: int = 0
    candidates: int = 0
    sets: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.plans + other.plans, self.lists + other.lists,
            self.tree_entries + other.tree_entries, self.candidates + other.candidates, self.sets + other.sets,
        )  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Columns of the segment with the tokens that each shares with the query; -1 where nobody counted."""

    columns: Array
    overlaps: Array
    work: Work


class Query:
    """Distinct tokens as groups of one segment, from the rarest to the most frequent. May be asked again."""

    def __init__(self, tokens: pa.Array, reader: TokenReader) -> None:
        self._tokens = tokens
        self.size = len(tokens)
        self.groups, weights, _ = reader.grouped(tokens)
        self.after = sum_after(weights)
        self.known = int(self.after[0])
        """How many of the tokens some column holds."""

    @cached_property
    def hashes(self) -> Array:
        return hash_tokens(self._tokens)


class _Lists(NamedTuple):
    """The prefix filter's posting lists: how many, and how many postings they have."""

    prefix: int
    postings: int


class LshEnsembleReader:
    """Containment search in one segment. Column numbers are the segment's own."""

    def __init__(self, segment: Segment, threads: int | None = None) -> None:
        self.arrays = LshArrays(segment.pack(NAME))
        self._reader = TokenReader(segment)
        self._threads = threads or os.cpu_count() or 1
        self._costs = self.arrays.costs
        tokens = self._reader.arrays
        self._postings = (tokens.posting_offsets, tokens.posting_columns)
        self._sets = (tokens.set_group_offsets, tokens.set_groups, tokens.set_offsets)
        self._layout = (self.arrays.offsets, self.arrays.columns, self.arrays.signatures, self.arrays.trees)
        self._free: list[tuple[Array, Array]] = []  # as many as there were searches at once; pop and append are atomic

    def prepare(self, tokens: pa.Array) -> Query:
        """Look the tokens up. They must be distinct and not null, as those of a column are."""
        return Query(tokens, self._reader)

    def search(
        self,
        tokens: pa.Array | Query,
        threshold: Fraction | float,
        allowed: Array | None = None,
        verify: bool = True,
        plan: Plan | None = None,
    ) -> Found:
        """The columns that hold at least `threshold` of the distinct tokens, ascending.

        Every answer is right if verified; a column is missed with a probability of at most 1 - RECALL. `allowed` says
        of every column whether it may be an answer. Of the two plans the cheaper one is taken unless one is given.
        """
        query = tokens if isinstance(tokens, Query) else self.prepare(tokens)
        return self._search(query, as_ratio(threshold), _mask(allowed), verify, plan)

    def top(self, tokens: pa.Array, k: int, allowed: Array | None = None) -> Found:
        """About the k columns that hold most of the tokens, best first, by thresholds that fall until k are found."""
        query = self.prepare(tokens)
        work = Work()
        found = _nothing()
        steps = [Fraction(tenths, 10) for tenths in range(10, 0, -1)]
        for threshold in [*steps, Fraction(1, max(query.size, 10))]:
            found = self._search(query, threshold, _mask(allowed), True, None)
            work += found.work
            if len(found.columns) >= k:
                break
        best = np.lexsort((found.columns, -found.overlaps))[:k]
        return Found(found.columns[best], found.overlaps[best], work)

    def _search(self, query: Query, threshold: Fraction, allowed: Array, verify: bool, plan: Plan | None) -> Found:
        need = least_overlap(threshold, query.size)
        if query.known < need or not query.size:
            return _nothing()
        least_size = self.arrays.parameters.least_size
        large = int(self.arrays.uppers.searchsorted(need))  # the first partition that may hold an answer
        if large == self.arrays.partitions and need >= least_size:
            return _nothing()
        lists = _Lists(*find_prefix(query.groups, query.after, need, self._postings[0]))
        if plan == "postings" or (plan is None and need < least_size):  # these lists must be read in any case
            return self._by_postings(query, need, _ANY_SIZE, allowed, lists)
        candidates = min(lists.postings, int(self.arrays.offsets[-1] - self.arrays.offsets[large]))
        by_lists = self._cost_of_lists(query, lists, candidates)
        if plan is None and by_lists <= self._costs.hash * query.size:
            return self._by_postings(query, need, _ANY_SIZE, allowed, lists)
        asked = self._tune(query.size, threshold, range(large, self.arrays.partitions))
        if plan is None and by_lists <= self._cost_of_asking(query, asked):
            return self._by_postings(query, need, _ANY_SIZE, allowed, lists)
        found = self._by_sketches(query, need, asked, allowed, verify, by_lists if plan is None else np.inf)
        if found is None:
            return self._by_postings(query, need, _ANY_SIZE, allowed, lists)
        if need < least_size:
            found = _together(found, self._by_postings(query, need, least_size, allowed, lists))
        return found

    def _tune(self, size: int, threshold: Fraction, partitions: range) -> dict[int, Tuning]:
        parameters, uppers = self.arrays.parameters, self.arrays.uppers
        wanted = (float(threshold), size, parameters.permutations, parameters.depth, RECALL)
        return {partition: tuning(int(uppers[partition]), *wanted) for partition in partitions}

    def _cost_of_lists(self, query: Query, lists: _Lists, candidates: int) -> float:
        """The first lists, then the others or the candidates' sets.

        A set that is no answer is found out after about as many groups that it lacks as were to be read at first.
        """
        costs = self._costs
        verifying = costs.search * candidates * lists.prefix
        limit = int(verifying / costs.posting)
        rest = count_postings(query.groups, lists.prefix, len(query.groups), self._postings[0], limit)
        return costs.posting * lists.postings + min(costs.posting * rest, verifying)

    def _cost_of_asking(self, query: Query, asked: dict[int, Tuning]) -> float:
        """The query's sketch, and a binary search for each band; or all sets where no choice of bands would do."""
        total = self._costs.hash * query.size
        for partition, choice in asked.items():
            members = int(self.arrays.offsets[partition + 1] - self.arrays.offsets[partition])
            probes = choice.bands * members.bit_length()
            total += self._costs.probe * probes if choice.bands else self._costs.search * members * len(query.groups)
        return total

    def _by_postings(self, query: Query, need: int, below: int, allowed: Array, lists: _Lists) -> Found:
        try:
            scratch = self._free.pop()
        except IndexError:
            room = self._reader.arrays.columns + 1
            scratch = np.zeros(room, np.uint32), np.empty(room, np.uint32)
        columns, overlaps, read, sets = answer_by_postings(
            query.groups, query.after, lists.prefix, need, below, self._postings, self._sets, allowed,
            self._costs.search / self._costs.posting, *scratch,
        )  # fmt: skip
        self._free.append(scratch)
        return Found(columns, overlaps, Work(("postings",), lists=read, sets=sets))

    def _by_sketches(
        self, query: Query, need: int, asked: dict[int, Tuning], allowed: Array, verify: bool, limit: float
    ) -> Found | None:
        """Ask the trees, then the candidates' sets. Nothing where verifying these would cost more than the limit."""
        sketch = Sketch.of(self.arrays.parameters, query.hashes).values

        def ask(partitions: Sequence[int]) -> tuple[Array, int]:
            bands, rows = (np.array([asked[p][field] for p in partitions], np.int64) for field in (0, 1))
            return candidates_in(
                np.array(partitions, np.int64), bands, rows, sketch, self._layout, self._sets[2], need, allowed
            )

        reachable = {partition: choice for partition, choice in asked.items() if choice.bands}
        similar = self._in_parallel(ask, list(reachable), self._cost_of_asking(query, reachable))
        unreachable, _ = ask([partition for partition in asked if partition not in reachable])
        candidates = np.concatenate([columns for columns, _ in similar])
        sure = np.concatenate([candidates, unreachable]) if verify else unreachable
        costs = self._costs.look_up, self._costs.search
        verifying = cost_of_verifying(sure, self._sets[0], len(query.groups), *costs)
        if verifying > limit:
            return None

        def confirm(columns: Array) -> tuple[Array, Array]:
            return verify_columns(np.ascontiguousarray(columns), self._sets, query.groups, query.after, need, *costs)

        parts = self._in_parallel(confirm, sure, verifying)
        if not verify:
            parts.append((candidates, np.full(len(candidates), -1)))
        entries = sum(matched for _, matched in similar)
        count = len(candidates) + len(unreachable)
        return _in_order(parts, Work(("sketches",), tree_entries=entries, candidates=count, sets=len(sure)))

    def _in_parallel(self, ask: Callable[[Any], Answer], items: Any, nanoseconds: float) -> list[Answer]:
        """Ask for all items at once, or in threads where that is worth it; neighbours are dealt out in turn."""
        threads = min(self._threads, 1 + int(nanoseconds) // _WORTH_A_THREAD)
        if threads == 1:
            return [ask(items)]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(ask, [items[number::threads] for number in range(threads)]))


def _mask(allowed: Array | None) -> Array:
    """An empty mask allows every column."""
    return _EVERY_COLUMN if allowed is None else np.ascontiguousarray(allowed, np.bool_)


def _nothing() -> Found:
    return Found(np.empty(0, np.uint32), np.empty(0, np.int64), Work())


def _together(one: Found, other: Found) -> Found:
    return _in_order([(one.columns, one.overlaps), (other.columns, other.overlaps)], one.work + other.work)


def _in_order(parts: list[tuple[Array, Array]], work: Work) -> Found:
    columns, overlaps = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    order = np.argsort(columns)
    return Found(columns[order], overlaps[order], work)
