"""Kernels of MATE as published, Algorithm 1: the posting items of one column, table by table.

Tables come by falling number of items. Both table filters have the `<` of the listing (the text has `≤`), so that
tables that tie with the k-th are compared by their rank. Rows are verified as in the search of our own; the paper
leaves open how.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._storage.packing_kernels import packed_at
from dovetail._types import Array
from dovetail.indexes.mate.mapping_kernels import (
    CUT,
    EFFORT,
    LITTLE_ROOM,
    PAIRS,
    READ,
    TABLES,
    VALUES,
    Pairs,
    count_mappings,
    no_pairs,
)
from dovetail.indexes.mate.query_kernels import Cells, check, empty_cells, items_before, match_row, raise_best

_BLOCK = 4096  # arbitrary; the authors' program verifies from 100 rows on


@compiled
def _match_table(
    table: int, hit: int, stop: int, least: int, total: int, key: Any, postings: Any, items: Any, store: Any,
    rows: Any, seen: Any, hits: Array, passed: Array, n: Array, work: Array,
) -> Pairs:  # fmt: skip
    """Lines 11 to 21: the pairs of tuples and rows that match, none where table filter 2 leaves the table.

    What passes the filter, as (item, place of the row, tuple), is verified in blocks as large as `passed`.
    """
    cells, pairs = empty_cells(LITTLE_ROOM), no_pairs(key.tuples.shape[1])
    asked = key.keys[key.class_of[rows.ones[table]]]
    none_done = np.full(len(key.tuples), -1, np.int64)  # every row is held against all tuples of its value
    size, checked, matched = 0, int64(0), int64(0)
    while hit < stop and work[EFFORT] > 0:
        start, entry = hits[hit, 1], hits[hit, 3]
        first, last = key.start_offsets[start], key.start_offsets[start + 1]
        place = items_before(entry, items)
        for item in range(place, place + packed_at(items.set_counts, entry)):
            if total - checked + matched < least:  # line 14
                n[PAIRS] = 0
                return pairs
            if size + last - first > len(passed):
                cells, pairs = _verify(table, size, passed, key, postings, store, seen, cells, pairs, n, work)
                size = 0
            row = packed_at(items.rows, item)
            row_key = rows.super_keys[store.first_rows[table] + row]
            found = check(first, last, row_key, key.start_tuples, asked, none_done, table, seen.passing, 0, work)
            for i in range(found):
                passed[size + i] = checked, store.starts[table] + row * store.strides[table], seen.passing[i]
            size += found
            matched += found > 0
            checked += 1
            work[READ] += 1
            work[EFFORT] -= 1 + last - first
        hit += 1
    cells, pairs = _verify(table, size, passed, key, postings, store, seen, cells, pairs, n, work)
    return pairs


@compiled
def _verify(
    table: int, size: int, passed: Array, key: Any, postings: Any, store: Any, seen: Any, cells: Cells, pairs: Pairs,
    n: Array, work: Array,
) -> tuple[Cells, Pairs]:  # fmt: skip
    """Look the tuples that passed up in their rows; the pairs that match are added."""
    i = 0
    while i < size and work[EFFORT] > 0:
        item, found = passed[i, 0], 0
        while i + found < size and passed[i + found, 0] == item:
            seen.passing[found] = passed[i + found, 2]
            found += 1
        cells, pairs = match_row(table, passed[i, 1], found, False, key, postings, store, seen, cells, pairs, n, work)
        i += found
    return cells, pairs


@compiled
def search_as_published(
    key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any, hits: Array, candidates: Array,
    candidate_offsets: Array, totals: Array, ranks: Array, best: Array, best_ranks: Array, floor: int,
    most_mappings: int, begin: int, overlaps: Array, mappings: Array, n: Array, work: Array,
) -> tuple[int, Pairs]:  # fmt: skip
    """As `search_tables`; `totals` are the posting items of each table, the paper's L_t."""
    width = key.tuples.shape[1]
    pairs = no_pairs(width)
    passed = np.empty((max(_BLOCK, len(key.tuples)), 3), np.int64)
    n[VALUES:] = 0
    if begin:
        raise_best(best, best_ranks, overlaps[begin - 1], ranks[candidates[begin - 1]])
    for candidate in range(begin, len(candidates)):
        table = candidates[candidate]
        least = max(floor, best[0])
        if totals[table] < least:  # line 9
            break
        if work[EFFORT] <= 0:
            work[CUT] += 1
            continue
        work[TABLES] += 1
        n[VALUES:] = 0
        pairs = _match_table(
            table, candidate_offsets[candidate], candidate_offsets[candidate + 1], least, totals[table], key, postings,
            items, store, rows, seen, hits, passed, n, work,
        )  # fmt: skip
        if work[EFFORT] <= 0:
            work[CUT] += 1
            continue
        if n[PAIRS] < least:
            continue
        count = store.first_columns[table + 1] - store.first_columns[table]
        overlap = count_mappings(pairs, width, count, most_mappings, n, mappings[candidate], work)
        if overlap < 0:
            return candidate, pairs
        overlaps[candidate] = overlap if overlap >= least else 0
        raise_best(best, best_ranks, overlap, ranks[table])
    return len(candidates), pairs
