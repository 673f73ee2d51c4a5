"""Algorithm 1 as published: the posting items of one column, table by table.

Tables come by falling number of items. Both table filters have the `<` of the listing (the text has `≤`), so that tables
that tie with the k-th are compared by their rank. Rows are verified as in the search of our own; the paper leaves open
how.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._byte_kernels import read_number
from dovetail._compile import compiled, int64
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


@compiled
def _filter_rows(
    table: int, hit: int, stop: int, least: int, total: int, key: Any, items: Any, store: Any, rows: Any, seen: Any,
    hits: Array, passed: Array, work: Array,
) -> tuple[int, Array]:  # fmt: skip
    """Lines 13 to 20: the tuples that pass the super key of a row, as (item, place of the row, tuple).

    How many there are, or -1 where table filter 2 leaves the table.
    """
    asked, row_bytes = key.keys[key.class_of[rows.ones[table]]], items.row_bytes[table]
    size, checked, matched = 0, int64(0), int64(0)
    while hit < stop and work[EFFORT] > 0:
        start, column, entry = hits[hit, 1], hits[hit, 2], hits[hit, 3]
        first, last = key.start_offsets[start], key.start_offsets[start + 1]
        place = items_before(entry, items) - items_before(items.set_offsets[column], items)
        at = items.starts[column] + place * row_bytes
        for _ in range(items.set_counts[entry]):
            if total - checked + matched < least:
                return -1, passed
            row = read_number(items.rows, at, row_bytes)
            at += row_bytes
            row_key = rows.super_keys[store.first_rows[table] + row]
            found = check(first, last, row_key, key.start_tuples, asked, seen.done, table, seen.passing, 0, work)
            while size + found > len(passed):
                larger = np.empty((2 * len(passed), 3), np.int64)
                larger[: len(passed)] = passed
                passed = larger
            for i in range(found):
                passed[size + i] = checked, store.starts[table] + row * store.strides[table], seen.passing[i]
            size += found
            matched += found > 0
            checked += 1
            work[READ] += 1
            work[EFFORT] -= 1 + last - first
        hit += 1
    return size, passed


@compiled
def _verify(
    table: int, size: int, passed: Array, key: Any, postings: Any, store: Any, seen: Any, cells: Cells, pairs: Pairs,
    n: Array, work: Array,
) -> tuple[Cells, Pairs]:  # fmt: skip
    """Line 21: the pairs of tuples and rows that match."""
    i = 0
    while i < size and work[EFFORT] > 0:
        item, found = passed[i, 0], 0
        while i + found < size and passed[i + found, 0] == item:
            seen.passing[found] = passed[i + found, 2]
            found += 1
        cells, pairs = match_row(
            table, passed[i, 1], found, False, key, postings, store, seen, cells, pairs, n, work
        )  # fmt: skip
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
    cells, pairs = empty_cells(LITTLE_ROOM), no_pairs(width)
    passed = np.empty((LITTLE_ROOM, 3), np.int64)
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
        cells, pairs = empty_cells(LITTLE_ROOM), no_pairs(width)
        n[VALUES:] = 0
        size, passed = _filter_rows(
            table, candidate_offsets[candidate], candidate_offsets[candidate + 1], least, totals[table], key, items,
            store, rows, seen, hits, passed, work,
        )  # fmt: skip
        cells, pairs = _verify(table, size, passed, key, postings, store, seen, cells, pairs, n, work)
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
