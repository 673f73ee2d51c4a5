"""Asking for columns by containment: sketches or posting lists find candidates, sets decide."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeVar

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
    groups_of_tokens,
    verification_steps,
    verify_columns,
)
from dovetail.indexes.tokens.core import hash_tokens
from dovetail.indexes.tokens.query import TokenReader

Array = npt.NDArray[Any]
Plan = Literal["postings", "sketches"]
Answer = TypeVar("Answer")

RECALL = 0.95
"""Sketches are asked only where they find a set at the threshold with at least this probability."""
_BAND_STEPS = 8  # what a band costs beside its binary search
_WORTH_A_THREAD = 1_000_000
_ANY_SIZE = 1 << 62


@dataclass(frozen=True)
class Work:
    """What an answer took: which plans, and how much was read."""

    plans: tuple[Plan, ...] = ()
    lists: int = 0
    postings: int = 0
    tree_entries: int = 0
    candidates: int = 0
    sets: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.plans + other.plans, self.lists + other.lists, self.postings + other.postings,
            self.tree_entries + other.tree_entries, self.candidates + other.candidates, self.sets + other.sets,
        )  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Columns of the segment with the tokens that each shares with the query; -1 where nobody counted."""

    columns: Array
    overlaps: Array
    work: Work


class _Query:
    """The query's distinct tokens as groups of the segment, from the rarest to the most frequent."""

    def __init__(self, tokens: pa.Array, reader: TokenReader) -> None:
        self._tokens = tokens.drop_null().unique()
        self.size = len(self._tokens)
        ids = reader.find(self._tokens)
        self.groups, self.after = groups_of_tokens(np.sort(ids[ids >= 0]), reader.arrays.group_tokens)

    @property
    def known(self) -> int:
        """How many of the tokens some column holds."""
        return int(self.after[0])

    @cached_property
    def hashes(self) -> Array:
        return hash_tokens(self._tokens)

    def prefix(self, need: int) -> int:
        """How many groups must be read to meet every set with `need` of the tokens: all but need - 1 tokens."""
        return int(np.searchsorted(-self.after, 1 - need, side="left"))


class LshEnsembleReader:
    """Containment search in one segment. Column numbers are the segment's own."""

    def __init__(self, segment: Segment, threads: int | None = None) -> None:
        self.arrays = LshArrays(segment.pack(NAME))
        self._reader = TokenReader(segment)
        self._threads = threads or os.cpu_count() or 1
        tokens = self._reader.arrays
        self._postings = (tokens.posting_offsets, tokens.posting_columns)
        self._sets = (tokens.set_group_offsets, tokens.set_groups, tokens.set_offsets)
        self._layout = (self.arrays.offsets, self.arrays.columns, self.arrays.signatures, self.arrays.trees)

    def search(
        self,
        tokens: pa.Array,
        threshold: Fraction | float,
        allowed: Array | None = None,
        verify: bool = True,
        plan: Plan | None = None,
    ) -> Found:
        """The columns that hold at least `threshold` of the distinct tokens, ascending.

        Every answer is right if verified; a column is missed with a probability of at most 1 - RECALL. `allowed` says
        of every column whether it may be an answer. Of the two plans the cheaper one is taken unless one is given.
        """
        query = _Query(tokens, self._reader)
        return self._search(query, as_ratio(threshold), _mask(allowed), verify, plan)

    def top(self, tokens: pa.Array, k: int, allowed: Array | None = None) -> Found:
        """About the k columns that hold most of the tokens, best first, by thresholds that fall until k are found."""
        query = _Query(tokens, self._reader)
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

    def _search(self, query: _Query, threshold: Fraction, allowed: Array, verify: bool, plan: Plan | None) -> Found:
        """By posting lists where the first of them are shorter than the way through the trees; else by sketches."""
        need = least_overlap(threshold, query.size)
        if not query.size or query.known < need:
            return _nothing()
        large = int(np.searchsorted(self.arrays.uppers, need))  # the first partition that may hold an answer
        small = need < self.arrays.parameters.least_size
        if large == self.arrays.partitions and not small:
            return _nothing()
        read = self._postings_of(query.groups[: query.prefix(need)])
        least = _BAND_STEPS * (self.arrays.partitions - large)
        if plan == "postings" or (plan is None and (small or read <= least)):
            return self._by_postings(query, need, _ANY_SIZE, allowed)
        asked = self._tune(query.size, threshold, range(large, self.arrays.partitions))
        if plan is None and read <= sum(self._steps(query, partition, choice) for partition, choice in asked.items()):
            return self._by_postings(query, need, _ANY_SIZE, allowed)
        found = self._by_sketches(query, need, asked, allowed, verify, plan is None)
        if small:
            found = _together(found, self._by_postings(query, need, self.arrays.parameters.least_size, allowed))
        return found

    def _tune(self, size: int, threshold: Fraction, partitions: range) -> dict[int, Tuning]:
        parameters, uppers = self.arrays.parameters, self.arrays.uppers
        wanted = (float(threshold), size, parameters.permutations, parameters.depth, RECALL)
        return {partition: tuning(int(uppers[partition]), *wanted) for partition in partitions}

    def _postings_of(self, groups: Array) -> int:
        offsets = self._postings[0]
        return int(np.sum(offsets[groups + 1] - offsets[groups]))

    def _steps(self, query: _Query, partition: int, choice: Tuning) -> int:
        """About how many steps a partition costs: binary searches in its trees, or in all of its sets."""
        members = int(self.arrays.offsets[partition + 1] - self.arrays.offsets[partition])
        if not choice.bands:
            return members * len(query.groups)
        return choice.bands * (_BAND_STEPS + members.bit_length())

    def _by_postings(self, query: _Query, need: int, below: int, allowed: Array) -> Found:
        columns, overlaps, work = answer_by_postings(
            query.groups, query.after, query.prefix(need), need, below, self._postings, self._sets, allowed
        )
        lists, postings, sets = work.tolist()
        return _in_order([(columns, overlaps)], Work(("postings",), lists, postings, sets=sets))

    def _by_sketches(
        self, query: _Query, need: int, asked: dict[int, Tuning], allowed: Array, verify: bool, may_leave: bool
    ) -> Found:
        """Ask the trees, then the candidates' sets; if it `may_leave`, the posting lists where these are shorter."""
        sketch = Sketch.of(self.arrays.parameters, query.hashes).values

        def ask(partitions: Sequence[int]) -> tuple[Array, int]:
            bands, rows = (np.array([asked[p][field] for p in partitions], np.int64) for field in (0, 1))
            return candidates_in(
                np.array(partitions, np.int64), bands, rows, sketch, self._layout, self._sets[2], need, allowed
            )

        steps = sum(self._steps(query, partition, choice) for partition, choice in asked.items() if choice.bands)
        similar = self._in_parallel(ask, [p for p, choice in asked.items() if choice.bands], steps)
        unreachable, _ = ask([p for p, choice in asked.items() if not choice.bands])
        candidates = np.concatenate([columns for columns, _ in similar])
        sure = np.concatenate([candidates, unreachable]) if verify else unreachable
        steps = int(verification_steps(sure, self._sets[0], len(query.groups)))
        if may_leave and self._postings_of(query.groups) < steps:
            return self._by_postings(query, need, _ANY_SIZE, allowed)

        def confirm(columns: Array) -> tuple[Array, Array]:
            return verify_columns(np.ascontiguousarray(columns), self._sets, query.groups, query.after, need)

        parts = self._in_parallel(confirm, sure, steps)
        if not verify:
            parts.append((candidates, np.full(len(candidates), -1)))
        entries = sum(matched for _, matched in similar)
        count = len(candidates) + len(unreachable)
        return _in_order(parts, Work(("sketches",), tree_entries=entries, candidates=count, sets=len(sure)))

    def _in_parallel(self, ask: Callable[[Any], Answer], items: Any, steps: int) -> list[Answer]:
        """Ask for all items at once, or in threads where that is worth it; neighbours are dealt out in turn."""
        threads = min(self._threads, 1 + steps // _WORTH_A_THREAD)
        if threads == 1:
            return [ask(items)]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(ask, [items[number::threads] for number in range(threads)]))


def _mask(allowed: Array | None) -> Array:
    """An empty mask allows every column."""
    return np.empty(0, np.bool_) if allowed is None else np.ascontiguousarray(allowed, np.bool_)


def _nothing() -> Found:
    return Found(np.empty(0, np.uint32), np.empty(0, np.int64), Work())


def _together(one: Found, other: Found) -> Found:
    return _in_order([(one.columns, one.overlaps), (other.columns, other.overlaps)], one.work + other.work)


def _in_order(parts: list[tuple[Array, Array]], work: Work) -> Found:
    columns, overlaps = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    order = np.argsort(columns)
    return Found(columns[order], overlaps[order], work)
