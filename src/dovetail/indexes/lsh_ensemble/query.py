"""Containment search: sketches or posting lists find candidates, the sets decide."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, log2
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.indexes.lsh_ensemble.core import Sketch, as_ratio, least_overlap
from dovetail.indexes.lsh_ensemble.format import NAME, LshArrays
from dovetail.indexes.lsh_ensemble.kernels import candidates_in, tune
from dovetail.indexes.lsh_ensemble.set_kernels import (
    answer_by_postings,
    cost_of_verifying,
    count_postings,
    find_prefix,
    sum_after,
    verify_columns,
)
from dovetail.indexes.tokens.query import TokenReader
from dovetail.normalise.hashing import hash_tokens

Plan = Literal["postings", "sketches"]
Answer = TypeVar("Answer")

RECALL = 0.96
"""Bands are chosen to find a set at the threshold with at least this probability, so that 0.95 are left after the
comparison of whole sketches, which loses one in a hundred at most."""
_WORTH_A_THREAD = 2_000_000  # nanoseconds
_STEPS_AN_OCTAVE = 8  # ratios of sizes are rounded up to these: fewer tunings, a little more recall
_ANY_SIZE = 1 << 62
_EVERY_COLUMN = np.empty(0, np.bool_)


@dataclass(frozen=True)
class ContainmentWork:
    """What an answer took: which plans, and how much was read."""

    plans: tuple[Plan, ...] = ()
    lists: int = 0
    tree_entries: int = 0
    candidates: int = 0
    sets: int = 0

    def __add__(self, other: ContainmentWork) -> ContainmentWork:
        return ContainmentWork(
            self.plans + other.plans, self.lists + other.lists,
            self.tree_entries + other.tree_entries, self.candidates + other.candidates, self.sets + other.sets,
        )  # fmt: skip


@dataclass(frozen=True)
class ContainmentMatches:
    """Columns of the segment with the tokens that each shares with the query; -1 where nobody counted."""

    columns: Array
    overlaps: Array
    work: ContainmentWork


class ContainmentQuery:
    """Distinct tokens as groups of one segment, from the rarest to the most frequent; for one or several searches."""

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
        self._probes = self._count_probes()
        self._free: list[tuple[Array, Array]] = []  # as many as there were searches at once; pop and append are atomic

    def _count_probes(self) -> Array:
        """The estimated comparisons in the trees from each partition on, then 0; a quarter of all bands is usual."""
        depths = [int(members).bit_length() for members in np.diff(self.arrays.offsets)]
        return np.cumsum([0, *reversed(depths)])[::-1] * (self.arrays.parameters.permutations // 4)

    def prepare(self, tokens: pa.Array) -> ContainmentQuery:
        """Look the tokens up. They must be distinct and not null, as those of a column are."""
        return ContainmentQuery(tokens, self._reader)

    def search(
        self,
        tokens: pa.Array | ContainmentQuery,
        threshold: Fraction | float,
        allowed: Array | None = None,
        verify: bool = True,
        plan: Plan | None = None,
    ) -> ContainmentMatches:
        """The columns that hold at least `threshold` of the distinct tokens, ascending.

        Every answer is right if verified; a column is missed with a probability of at most 0.05. `allowed` says
        of every column whether it may be an answer. Of the two plans the cheaper one is taken unless one is given.
        """
        query = tokens if isinstance(tokens, ContainmentQuery) else self.prepare(tokens)
        return self._search(query, as_ratio(threshold), _mask(allowed), verify, plan)

    def top(self, tokens: pa.Array, k: int, allowed: Array | None = None) -> ContainmentMatches:
        """The k columns that hold most of the tokens, best first, by falling thresholds; may miss some."""
        query = self.prepare(tokens)
        work = ContainmentWork()
        found = _nothing()
        steps = [Fraction(tenths, 10) for tenths in range(10, 0, -1)]
        for threshold in [*steps, Fraction(1, max(query.size, 10))]:
            found = self._search(query, threshold, _mask(allowed), True, None)
            work += found.work
            if len(found.columns) >= k:
                break
        best = np.lexsort((found.columns, -found.overlaps))[:k]
        return ContainmentMatches(found.columns[best], found.overlaps[best], work)

    def _search(
        self, query: ContainmentQuery, threshold: Fraction, allowed: Array, verify: bool, plan: Plan | None
    ) -> ContainmentMatches:
        need = least_overlap(threshold, query.size)
        if query.known < need or not query.size:
            return _nothing()
        least_size = self.arrays.parameters.least_size
        large = int(self.arrays.uppers.searchsorted(need))  # the first partition that may hold an answer
        if large == self.arrays.partitions and need >= least_size:
            return _nothing()
        prefix, postings = find_prefix(query.groups, query.after, need, self._postings[0])
        if plan == "postings" or (plan is None and need < least_size):  # small sets have no sketch
            return self._by_postings(query, need, prefix, allowed)[0]
        reading, by_lists = self._costs.posting * postings, np.inf
        if plan is None:
            asking = self._costs.hash * query.size + self._costs.probe * self._probes[large]
            if reading <= asking:
                found, finishing = self._by_postings(query, need, prefix, allowed, limit=asking)
                if finishing <= asking:
                    return found
                by_lists = reading + finishing
            else:
                by_lists = self._costs.posting * count_postings(query.groups, 0, len(query.groups), self._postings[0])
        asked = self._tune(query.size, threshold, range(large, self.arrays.partitions))
        answer = self._by_sketches(query, need, asked, allowed, verify, by_lists)
        if answer is None:
            return self._by_postings(query, need, prefix, allowed)[0]
        if need < least_size:
            answer = _together(answer, self._by_postings(query, need, prefix, allowed, least_size)[0])
        return answer

    def _tune(self, size: int, threshold: Fraction, partitions: range) -> dict[int, Tuning]:
        parameters, uppers = self.arrays.parameters, self.arrays.uppers
        wanted = (float(threshold), size, parameters.permutations, parameters.depth, RECALL)
        return {partition: tuning(int(uppers[partition]), *wanted) for partition in partitions}

    def _by_postings(
        self,
        query: ContainmentQuery,
        need: int,
        prefix: int,
        allowed: Array,
        below: int = _ANY_SIZE,
        limit: float = np.inf,
    ) -> tuple[ContainmentMatches, float]:
        """The answer, unless what follows the first lists costs more than the limit; and that cost."""
        try:
            scratch = self._free.pop()
        except IndexError:
            room = self._reader.arrays.columns + 1
            scratch = np.zeros(room, np.uint32), np.empty(room, np.uint32)
        posting, search = self._costs.posting, self._costs.search
        columns, overlaps, lists, sets, cost = answer_by_postings(
            query.groups, query.after, prefix, need, below, self._postings, self._sets, allowed,
            search / posting, limit / posting, *scratch,
        )  # fmt: skip
        self._free.append(scratch)
        return ContainmentMatches(
            columns, overlaps, ContainmentWork(("postings",), lists=lists, sets=sets)
        ), cost * posting

    def _by_sketches(
        self, query: ContainmentQuery, need: int, asked: dict[int, Tuning], allowed: Array, verify: bool, limit: float
    ) -> ContainmentMatches | None:
        """Ask the trees, then the candidates' sets. Nothing where verifying these would cost more than the limit."""
        costs = self._costs.look_up, self._costs.search

        def verifying(columns: Array) -> float:
            return cost_of_verifying(columns, self._sets[0], len(query.groups), *costs)

        def confirm(columns: Array) -> tuple[Array, Array]:
            return verify_columns(np.ascontiguousarray(columns), self._sets, query.groups, query.after, need, *costs)

        unreachable = self._all_of([number for number, choice in asked.items() if not choice.bands], need, allowed)
        if verifying(unreachable) > limit:
            return None
        candidates, entries = self._ask_trees(query, need, asked, allowed)
        sure = np.concatenate([candidates, unreachable]) if verify else unreachable
        if verifying(sure) > limit:
            return None
        parts = self._in_parallel(confirm, sure, verifying(sure))
        if not verify:
            parts.append((candidates, np.full(len(candidates), -1)))
        count = len(candidates) + len(unreachable)
        return _in_order(parts, ContainmentWork(("sketches",), tree_entries=entries, candidates=count, sets=len(sure)))

    def _all_of(self, partitions: list[int], need: int, allowed: Array) -> Array:
        """The columns of some partitions that are large enough and allowed."""
        columns = np.concatenate([self.arrays.columns[:0], *map(self.arrays.members, partitions)])
        offsets = self._sets[2]
        keep = offsets[columns + 1] - offsets[columns] >= need
        found: Array = columns[keep & allowed[columns] if len(allowed) else keep]
        return found

    def _ask_trees(
        self, query: ContainmentQuery, need: int, asked: dict[int, Tuning], allowed: Array
    ) -> tuple[Array, int]:
        """The columns whose sketch is similar enough, and how many tree entries matched."""
        sketch = Sketch.of(self.arrays.parameters, query.hashes).values

        def ask(partitions: list[int]) -> tuple[Array, int]:
            bands, rows = (np.array([asked[p][field] for p in partitions], np.int64) for field in (0, 1))
            return candidates_in(
                np.array(partitions, np.int64), bands, rows, sketch, self._layout, self._sets[2], query.size, need,
                allowed,
            )  # fmt: skip

        nanoseconds = self._costs.probe * self._probes[min(asked, default=-1)]
        found = self._in_parallel(ask, [number for number, choice in asked.items() if choice.bands], nanoseconds)
        return np.concatenate([columns for columns, _ in found]), sum(matched for _, matched in found)

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


def _nothing() -> ContainmentMatches:
    return ContainmentMatches(np.empty(0, np.uint32), np.empty(0, np.int64), ContainmentWork())


def _together(one: ContainmentMatches, other: ContainmentMatches) -> ContainmentMatches:
    return _in_order([(one.columns, one.overlaps), (other.columns, other.overlaps)], one.work + other.work)


def _in_order(parts: list[tuple[Array, Array]], work: ContainmentWork) -> ContainmentMatches:
    columns, overlaps = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    order = np.argsort(columns)
    return ContainmentMatches(columns[order], overlaps[order], work)


class Tuning(NamedTuple):
    """How a partition is asked: `bands` of `rows` values, 0 where no choice reaches the recall."""

    bands: int
    rows: int


@lru_cache(maxsize=1 << 14)
def _tuned(threshold: float, octave_steps: int, permutations: int, depth: int, recall: float) -> Tuning:
    ratio = 2.0 ** (octave_steps / _STEPS_AN_OCTAVE)
    bands, rows = tune(threshold, ratio, permutations, depth, recall)
    return Tuning(int(bands), int(rows))


def tuning(upper: int, threshold: float, size: int, permutations: int, depth: int, recall: float) -> Tuning:
    """The choice for sets of up to `upper` tokens and a query of `size`.

    Ratios of sizes are rounded up to an eighth of an octave, towards more recall, so that answers are found again.
    """
    return _tuned(threshold, ceil(_STEPS_AN_OCTAVE * log2(upper / size)), permutations, depth, recall)
