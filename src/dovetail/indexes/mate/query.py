"""Top-k search for tables that join on several columns together, in one segment.

A search starts from a cover: values such that every key tuple has one of them, with as few row postings as possible.
The paper starts from one column (section 6.1), chosen without a look at the index; here the dictionary knows how many
cells hold each value, and so the price of every choice. The paper's Algorithm 1 is `dovetail.papers.mate`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.packing_kernels import take_packed
from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.indexes.josie.format import NAME as JOSIE_NAME
from dovetail.indexes.josie.format import JosieArrays
from dovetail.indexes.mate.core import (
    Hashing,
    OrderedPairs,
    QueryKey,
    RowKeys,
    RowPostings,
    RowStore,
    TableState,
    TokenPostings,
)
from dovetail.indexes.mate.format import ENTRIES_A_SUM, NAME, VERSION, MateArrays
from dovetail.indexes.mate.kernels import hash_tokens as hash_into
from dovetail.indexes.mate.mapping_kernels import CUT, EFFORT, PAIRS, Pairs, best_mapping
from dovetail.indexes.mate.query_kernels import search_tables
from dovetail.indexes.mate.start_kernels import drop_needless, find_hits
from dovetail.indexes.rows.query import RowReader
from dovetail.normalise.hashing import as_buffers, hash_tokens

MOST_EFFORT = 300_000_000
"""Steps that a search spends on rows, cells and mappings: five to ten seconds. Only keys of many columns with
few values each need more: every row matches many tuples then, in billions of mappings."""
ChooseStarts = Callable[[Array, Array], Array]
_SearchFrom = Callable[[int, Array, Array, Array, Array], tuple[int, Pairs]]
"""A kernel that goes through candidates from a place on, to the end or to one with too many mappings to count."""
MANY = 8
"""Tuples of one start that a row is held against one by one; of more, only those whose second value it has. Nor is it
worth while to look for second values in a table with fewer items of the start."""
_ROUNDS = 4  # of re-pricing a cover: arbitrary, every round gives a valid cover and the cheapest is taken
MOST_MAPPINGS = 1 << 20
"""Mappings of columns that are counted one by one in a table; the best of more is found by branch and bound."""


@dataclass(frozen=True)
class KeyWork:
    """What a search read: posting items, tuples held against rows, those that passed the filter, those that matched."""

    items: int
    checked: int
    passed: int
    matched: int
    tables: int
    cut: int  # tables that were not read, or not wholly, because the effort was spent


@dataclass(frozen=True)
class KeyMatches:
    """Tables by falling overlap, then by rank, and which of their columns match the key's."""

    tables: npt.NDArray[np.int64]
    overlaps: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    work: KeyWork


class Candidates(NamedTuple):
    """Tables that may match, by falling bound of the overlap, ties by rank; as the kernels take them."""

    hits: Array  # table, start, column and entry of every column with a starting value, by table
    tables: Array
    offsets: Array  # of the hits of each table, and the end
    bounds: Array  # of all tables of the segment

    @classmethod
    def of(cls, hits: Array, bounds: Array, floor: int, ranks: Array) -> Candidates:
        hits = hits[bounds[hits[:, 0]] >= floor]
        # By falling bound, ties by rank; hits of one table stay in the order of the starts.
        hits = hits[np.lexsort((ranks[hits[:, 0]], -bounds[hits[:, 0]]))]
        begins = np.flatnonzero(np.diff(hits[:, 0], prepend=-1))
        return cls(hits, hits[begins, 0], np.append(begins, len(hits)), bounds)


class KeyLimits(NamedTuple):
    """How many tables are wanted, of which least overlap, which are allowed (a mask), and how ties are ranked."""

    k: int
    floor: int
    allowed: Array
    ranks: Array


def column_items(tuples: Array, weights: Array) -> Array:
    """The posting items of each column of the key: those of its distinct values."""
    return np.array([weights[np.unique(tuples[:, j])].sum() for j in range(tuples.shape[1])], np.int64)


def cheapest_cover(tuples: Array, weights: Array) -> Array:
    """For each tuple the value it is found by. Never dearer than the best column."""
    items = column_items(tuples, weights)
    best = tuples[:, int(np.argmin(items))]
    chosen, price = best, int(items.min())
    for cover in _covers(tuples, weights):
        cover = drop_needless(tuples, cover, weights)
        cost = int(weights[np.unique(cover)].sum())
        if cost < price:
            chosen, price = cover, cost
    return chosen


def _covers(tuples: Array, weights: Array) -> list[Array]:
    """Covers by the rarest value of each tuple, and by that whose price for each of its tuples is least.

    What a value costs a tuple depends on how many others share it: first all that have it, then those that chose it.
    """
    columns = np.arange(len(tuples))
    rarest = tuples[columns, np.argmin(weights[tuples], axis=1)]
    found = [rarest]
    shared = np.bincount(tuples.reshape(-1), minlength=len(weights))
    for _ in range(_ROUNDS):
        prices = weights / np.maximum(shared, 1)
        chosen = tuples[columns, np.argmin(prices[tuples], axis=1)]
        found.append(chosen)
        shared = np.bincount(chosen, minlength=len(weights))
    return found


class MateReader:
    """Exact top-k search over the tables of one segment. Table and column numbers are the segment's own."""

    def __init__(self, segment: Segment) -> None:
        pack = segment.pack(NAME)
        pack.require(NAME, VERSION)
        rows = RowReader(segment)
        self.tokens = rows.tokens
        tokens = self.tokens.arrays
        self.arrays = MateArrays(pack, tokens, rows.arrays)
        self.store = RowStore.of(rows.arrays)
        josie = JosieArrays(segment.pack(JOSIE_NAME))
        josie.require_items(len(tokens.posting_columns))
        self._postings = TokenPostings(
            tokens.posting_offsets, tokens.posting_columns, josie.positions, tokens.group_tokens
        )
        self.items = RowPostings(
            tokens.set_offsets, tokens.set_counts, self.arrays.items_before, ENTRIES_A_SUM, self.arrays.posting_rows
        )
        self.rows = RowKeys(self.arrays.super_keys, self.arrays.ones)

    def search(
        self,
        columns: list[pa.Array],
        tuples: Array,
        k: int,
        floor: int = 1,
        allowed: npt.NDArray[np.bool_] | None = None,
        choose: ChooseStarts = cheapest_cover,
        many: int = MANY,
        most_mappings: int = MOST_MAPPINGS,
        ranks: Array | None = None,
        effort: int = MOST_EFFORT,
    ) -> KeyMatches:
        """The k allowed tables with the largest overlaps of at least `floor`; ties by `ranks`, or by number.

        `columns` are the distinct tokens of each column of the key, `tuples` distinct rows of places among these.
        """
        limits = self.limits(columns, tuples, k, floor, allowed, ranks)
        key = self.key(columns, tuples, choose)
        if key is None or not limits.allowed.any():
            return no_matches(tuples.shape[1])
        found = Candidates.of(*self.hits(key, limits.allowed), floor, limits.ranks)
        return self.verified(search_tables, key, self.rows, found, limits, effort, many, most_mappings)

    def limits(
        self,
        columns: list[pa.Array],
        tuples: Array,
        k: int,
        floor: int,
        allowed: npt.NDArray[np.bool_] | None,
        ranks: Array | None,
    ) -> KeyLimits:
        """The limits of a search, checked. Tables with too few columns are not allowed."""
        if k < 1 or floor < 1 or tuples.shape[1] != len(columns):
            raise ValueError("k and floor must be at least 1, and every column of the key must have its tokens")
        wide = np.diff(self.store.first_columns) >= tuples.shape[1]
        mask = wide if allowed is None else wide & allowed
        return KeyLimits(k, floor, mask, np.arange(len(mask)) if ranks is None else ranks)

    def verified(
        self,
        kernel: Callable[..., tuple[int, Pairs]],
        key: QueryKey,
        rows: RowKeys,
        found: Candidates,
        limits: KeyLimits,
        effort: int,
        *options: int,
    ) -> KeyMatches:
        """The best of the candidates by a kernel such as `search_tables`, which takes the options after the floor."""
        work = np.array([0, 0, 0, 0, 0, 0, effort], np.int64)
        tables = len(limits.allowed)
        best = np.zeros(min(limits.k, tables), np.int64), np.full(min(limits.k, tables), tables, np.int64)
        seen = TableState.nothing(len(key.ids), len(key.tuples), int(np.diff(self.store.first_columns).max()))
        search = partial(
            kernel, key, self._postings, self.items, self.store, rows, seen, *found, limits.ranks, *best, limits.floor,
            *options,
        )  # fmt: skip
        overlaps, mappings = self._overlaps(search, found, key, best[0], limits.floor, work)
        return _found(found.tables, overlaps, mappings, limits.ranks, limits.k, work)

    def _overlaps(
        self, search: _SearchFrom, found: Candidates, key: QueryKey, best: Array, floor: int, work: Array
    ) -> tuple[Array, Array]:
        """Of each candidate table the overlap, 0 if it is not among the best, and the columns that match the key's."""
        overlaps = np.zeros(len(found.tables), np.int64)
        mappings = np.zeros((len(found.tables), key.tuples.shape[1]), np.int64)
        counts = np.zeros(6, np.int64)
        at = 0
        while at < len(found.tables):
            at, pairs = search(at, overlaps, mappings, counts, work)
            if at < len(found.tables):
                least = max(floor, int(best[0]))
                overlaps[at] = self._map(pairs, counts, int(found.tables[at]), least, mappings[at], work)
                at += 1
        mappings += self.store.first_columns[found.tables][:, None]
        return overlaps, mappings

    def _map(self, pairs: Pairs, counts: Array, table: int, least: int, mapping: Array, work: Array) -> int:
        owners = pairs.owners[: counts[PAIRS]]
        ordered = OrderedPairs(owners, pairs.ends, pairs.choices, np.argsort(owners, kind="stable"))
        columns = int(self.store.first_columns[table + 1] - self.store.first_columns[table])
        overlap = best_mapping(ordered, len(mapping), columns, least, mapping, work[EFFORT:])
        work[CUT] += work[EFFORT] <= 0
        return overlap

    def key(self, columns: list[pa.Array], tuples: Array, choose: ChooseStarts) -> QueryKey | None:
        """The tuples all of whose values the segment has; None where there are none."""
        found = [self.tokens.find(tokens) for tokens in columns]
        ids = np.stack([ids[tuples[:, j]] for j, ids in enumerate(found)], axis=1)
        ids = ids[(ids >= 0).all(axis=1)]
        if not len(ids):
            return None
        values, places = np.unique(ids, return_inverse=True)
        local = np.ascontiguousarray(places.reshape(ids.shape), np.int64)
        groups = np.searchsorted(self.tokens.arrays.group_tokens, values, side="right") - 1
        start_of = choose(local, take_packed(self.arrays.token_rows, values))
        starts, start_of = np.unique(start_of, return_inverse=True)
        seconds = _second_columns(local, start_of, len(starts))
        by_start = np.lexsort((local[np.arange(len(local)), seconds[start_of]], start_of))
        offsets = np.searchsorted(start_of[by_start], np.arange(len(starts) + 1))
        return QueryKey(local, values, groups, starts, offsets, by_start, seconds, *self._bits(values, local))

    def _bits(self, values: Array, tuples: Array) -> tuple[Array, Array]:
        """The super keys of the tuples, once for every number of bits that values set in some table."""
        strings = self.tokens.tokens(values)
        hashing = Hashing.of(self.arrays.parameters, hash_tokens(strings), *as_buffers(strings))
        words = self.arrays.parameters.words
        classes = np.unique(self.arrays.ones)
        keys = np.zeros((len(classes), len(tuples), words), np.uint64)
        hashed = np.empty((len(values), words), np.uint64)
        for place, ones in enumerate(classes.tolist() if words else ()):
            hash_into(hashed, np.arange(len(values)), hashing, ones)
            for j in range(tuples.shape[1]):
                keys[place] |= hashed[tuples[:, j]]
        class_of = np.zeros(256, np.int64)
        class_of[classes] = np.arange(len(classes))
        return keys, class_of

    def hits(self, key: QueryKey, allowed: Array) -> tuple[Array, Array]:
        """Table, start, column and entry of every allowed column with a starting value; the bound of every table."""
        groups = key.groups[key.starts]
        most = int((self._postings.offsets[groups + 1] - self._postings.offsets[groups]).sum())
        hits, bounds = np.empty((most, 4), np.int64), np.zeros(len(allowed), np.int64)
        found = find_hits(key, self._postings, self.items, self.store, allowed, bounds, hits)
        return hits[:found], bounds


def _second_columns(tuples: Array, start_of: Array, starts: int) -> Array:
    """For every start the column of the key that has most distinct values among its tuples."""
    distinct = np.empty((tuples.shape[1], starts), np.int64)
    most = int(tuples.max()) + 1
    for j in range(tuples.shape[1]):
        distinct[j] = np.bincount(np.unique(start_of * most + tuples[:, j]) // most, minlength=starts)
    seconds: Array = np.argmax(distinct, axis=0)
    return seconds


def _found(tables: Array, overlaps: Array, mappings: Array, ranks: Array, k: int, work: Array) -> KeyMatches:
    kept = np.flatnonzero(overlaps)
    kept = kept[np.lexsort((ranks[tables[kept]], -overlaps[kept]))][:k]
    return KeyMatches(tables[kept], overlaps[kept], mappings[kept], KeyWork(*work[:-1].tolist()))


def no_matches(width: int) -> KeyMatches:
    """Of a key of so many columns."""
    none = np.empty(0, np.int64)
    return KeyMatches(none, none, np.empty((0, width), np.int64), KeyWork(0, 0, 0, 0, 0, 0))
