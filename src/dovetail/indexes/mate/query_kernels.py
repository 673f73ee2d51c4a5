"""Kernels of the search: from candidate tables to the rows that hold key tuples.

Inputs are read-only C arrays; offsets were checked before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._search_kernels import lower_bound
from dovetail._storage.packing_kernels import bits_at, packed_at
from dovetail._types import Array
from dovetail.indexes.mate.mapping_kernels import (
    C_NEXT,
    C_TABLE,
    CELLS,
    CHECKED,
    COLUMNS,
    CUT,
    EFFORT,
    GOLDEN,
    LITTLE_ROOM,
    PAIRS,
    PASSED,
    READ,
    ROW,
    TABLES,
    V_BEGIN,
    V_COLUMNS,
    V_COUNT,
    V_END,
    V_FIRST,
    V_HASH,
    V_ROW,
    V_START,
    V_TABLE,
    VALUES,
    Pairs,
    add_pair,
    count_mappings,
    no_pairs,
)


class Cells(NamedTuple):
    """A hash table from the number of a cell, with its column, to the value of the key that it holds."""

    numbers: Array
    values: Array


@compiled
def items_before(entry: int, items: Any) -> int:
    """How many posting items come before an entry."""
    every = items.every
    total = packed_at(items.sums, entry // every)
    for i in range(entry - entry % every, entry):
        total += packed_at(items.set_counts, i)
    return int64(total)


@compiled
def _slot_of(number: int, numbers: Array) -> int:
    """The slot of a cell in the hash table, or its empty slot."""
    mask = len(numbers) - 1
    slot = int64((number * GOLDEN) >> 32) & mask
    while numbers[slot] >= 0 and numbers[slot] != number:
        slot = (slot + 1) & mask
    return slot


@compiled
def empty_cells(room: int) -> Cells:
    return Cells(np.full(room, -1, np.int64), np.empty(room, np.int64))


@compiled
def _larger_cells(cells: Cells) -> Cells:
    larger = empty_cells(4 * len(cells.numbers))
    for i in range(len(cells.numbers)):
        if cells.numbers[i] >= 0:
            slot = _slot_of(cells.numbers[i], larger.numbers)
            larger.numbers[slot], larger.values[slot] = cells.numbers[i], cells.values[i]
    return larger


@compiled
def _look_for(value: int, table: int, key: Any, postings: Any, store: Any, seen: Any, cells: Cells, n: Array) -> Cells:
    """From now on the cells of this table that hold a value are known."""
    if seen.values[value, V_TABLE] == table:
        return cells
    group = key.groups[value]
    first = store.first_columns[table]
    low = lower_bound(postings.columns, postings.offsets[group], postings.offsets[group + 1], first)
    high = lower_bound(postings.columns, low, postings.offsets[group + 1], store.first_columns[table + 1])
    seen.values[value, V_TABLE], seen.values[value, V_COLUMNS] = table, high - low
    for i in range(low, high):
        if 2 * (n[CELLS] + 1) > len(cells.numbers):
            cells = _larger_cells(cells)
        column = int64(postings.columns[i]) - first
        number = postings.positions[i] + key.ids[value] - postings.group_tokens[group] + 1
        slot = _slot_of((column << 32) | number, cells.numbers)
        cells.numbers[slot], cells.values[slot] = (column << 32) | number, value
        n[CELLS] += 1
        if seen.columns[column, C_TABLE] != table:
            seen.columns[column, C_TABLE] = table
            place = n[COLUMNS]
            while place and seen.listed[place - 1] > column:
                seen.listed[place] = seen.listed[place - 1]
                place -= 1
            seen.listed[place] = column
            n[COLUMNS] += 1
    return cells


@compiled
def _look_up(
    at: int, content: Array, offsets: Array, widths: Array, listed: Array, numbers: Array, cell_values: Array,
    values: Array, columns: Array, found: Array, n: Array,
) -> None:  # fmt: skip
    """The values of the key in a row, and for each how often it occurs, its columns as a chain, and a hash of these."""
    n[ROW] += 1
    n[VALUES] = 0
    for i in range(n[COLUMNS] - 1, -1, -1):
        column = listed[i]
        number = bits_at(content, at + offsets[column], widths[column])
        slot = _slot_of((column << 32) | number, numbers)
        if numbers[slot] < 0:
            continue
        value = cell_values[slot]
        if values[value, V_ROW] != n[ROW]:
            values[value, V_ROW], values[value, V_COUNT] = n[ROW], 0
            values[value, V_FIRST], values[value, V_HASH] = -1, 0
            found[n[VALUES]] = value
            n[VALUES] += 1
        values[value, V_COUNT] += 1
        columns[column, C_NEXT] = values[value, V_FIRST]
        values[value, V_FIRST] = column
        values[value, V_HASH] = (values[value, V_HASH] ^ (column + 1)) * GOLDEN


@compiled
def check(
    first: int, last: int, row_key: Array, start_tuples: Array, asked: Array, done: Array, table: int, passing: Array,
    size: int, work: Array,
) -> int:  # fmt: skip
    """Hold some tuples of a start against a row's super key; those that pass are noted. How many there are then.

    A row covers a tuple that has no other bits. Word by word: the length segment is in the first.
    """
    for i in range(first, last):
        tuple_ = start_tuples[i]
        if done[tuple_] == table:
            continue
        work[CHECKED] += 1
        covered = True
        for word in range(len(row_key)):
            if asked[tuple_, word] & ~row_key[word]:
                covered = False
                break
        if covered:
            passing[size] = tuple_
            size += 1
    return size


@compiled
def _set_runs(table: int, start: int, key: Any, postings: Any, store: Any, seen: Any, cells: Cells, n: Array) -> Cells:
    """Where many tuples share a start, a row would be compared with all of them; a second value narrows them down.

    The tuples of a start are ordered by their second value; those with the same one are a run.
    """
    begin, last = key.start_offsets[start], key.start_offsets[start + 1]
    second = key.start_seconds[start]
    while begin < last:
        value = key.tuples[key.start_tuples[begin], second]
        end = begin + 1
        while end < last and key.tuples[key.start_tuples[end], second] == value:
            end += 1
        cells = _look_for(value, table, key, postings, store, seen, cells, n)
        seen.values[value, V_START], seen.values[value, V_BEGIN], seen.values[value, V_END] = start, begin, end
        begin = end
    return cells


@compiled
def _handled_before(
    at: int, hit: int, hits: Array, set_offsets: Array, content: Array, offsets: Array, widths: Array
) -> bool:
    """Whether the start of a hit occurs further left in the row too: then this row was handled there."""
    other = hit - 1
    while other >= 0 and hits[other, 0] == hits[hit, 0] and hits[other, 1] == hits[hit, 1]:
        column = hits[other, 2]
        if bits_at(content, at + offsets[column], widths[column]) == hits[other, 3] - set_offsets[column] + 1:
            return True
        other -= 1
    return False


@compiled
def _match_start(
    hit: int, stop: int, key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any, hits: Array,
    narrow: bool, cells: Cells, pairs: Pairs, n: Array, work: Array,
) -> tuple[int, Cells, Pairs]:  # fmt: skip
    """Hold the tuples of a start against its rows; the pairs that match are added. How many rows brought any.

    The loop over rows touches few arrays: handing over all of them takes longer than most rows do.
    """
    table, start = hits[hit, 0], hits[hit, 1]
    first, last = key.start_offsets[start], key.start_offsets[start + 1]
    values, columns, listed, found, done, passing = seen
    start_tuples, asked = key.start_tuples, key.keys[key.class_of[rows.ones[table]]]
    super_keys, content = rows.super_keys, store.cells
    offsets, widths = store.offsets[store.first_columns[table] :], store.widths[store.first_columns[table] :]
    numbers, cell_values = cells
    matched = int64(0)
    while hit < stop:
        entry = hits[hit, 3]
        place = items_before(entry, items)
        for item in range(place, place + packed_at(items.set_counts, entry)):
            row = packed_at(items.rows, item)
            cells_at = store.starts[table] + row * store.strides[table]
            row_key = super_keys[store.first_rows[table] + row]
            size = 0
            work[EFFORT] -= 1
            if narrow:
                if _handled_before(cells_at, hit, hits, items.set_offsets, content, store.offsets, store.widths):
                    continue
                _look_up(cells_at, content, offsets, widths, listed, numbers, cell_values, values, columns, found, n)
                work[EFFORT] -= n[COLUMNS]
                for i in range(n[VALUES]):
                    value = found[i]
                    if values[value, V_START] == start:
                        begin, end = values[value, V_BEGIN], values[value, V_END]
                        work[EFFORT] -= end - begin
                        size = check(begin, end, row_key, start_tuples, asked, done, table, passing, size, work)
            else:
                work[EFFORT] -= last - first
                size = check(first, last, row_key, start_tuples, asked, done, table, passing, size, work)
                if size and _handled_before(
                    cells_at, hit, hits, items.set_offsets, content, store.offsets, store.widths
                ):
                    continue
            if size:
                known = n[PAIRS]
                cells, pairs = match_row(
                    table, cells_at, size, narrow, key, postings, store, seen, cells, pairs, n, work
                )
                numbers, cell_values = cells
                matched += n[PAIRS] > known
        hit += 1
    return matched, cells, pairs


@compiled
def match_row(
    table: int, at: int, size: int, looked_up: bool, key: Any, postings: Any, store: Any, seen: Any, cells: Cells,
    pairs: Pairs, n: Array, work: Array,
) -> tuple[Cells, Pairs]:  # fmt: skip
    """Look the tuples that passed up in the row; the pairs that match are added."""
    known = n[CELLS]
    for i in range(size):
        for j in range(key.tuples.shape[1]):
            cells = _look_for(key.tuples[seen.passing[i], j], table, key, postings, store, seen, cells, n)
    if n[CELLS] > known or not looked_up:
        first = store.first_columns[table]
        _look_up(
            at, store.cells, store.offsets[first:], store.widths[first:], seen.listed, cells.numbers, cells.values,
            seen.values, seen.columns, seen.found, n,
        )  # fmt: skip
        work[EFFORT] -= n[COLUMNS]
    work[PASSED] += size
    work[EFFORT] -= size * key.tuples.shape[1]
    for i in range(size):
        pairs = add_pair(seen.passing[i], table, key, seen, pairs, n, work)
    return cells, pairs


@compiled
def _match_table(
    table: int, hit: int, stop: int, least: int, key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any,
    hits: Array, bounds: Array, many: int, cells: Cells, pairs: Pairs, n: Array, work: Array,
) -> tuple[int, Cells, Pairs]:  # fmt: skip
    """The pairs of a table, and the most tuples that it can reach; left where this is below `least`."""
    if n[CELLS]:
        cells = empty_cells(LITTLE_ROOM)
    if n[PAIRS]:
        pairs = no_pairs(key.tuples.shape[1])
    n[VALUES:] = 0
    rest = bounds[table]
    while hit < stop and rest >= least and work[EFFORT] > 0:  # table filter 2
        start, begin = hits[hit, 1], hit
        tuples = key.start_offsets[start + 1] - key.start_offsets[start]
        total, before = int64(0), n[PAIRS]
        while hit < stop and hits[hit, 1] == start:
            total += packed_at(items.set_counts, hits[hit, 3])
            hit += 1
        narrow = min(tuples, total) > many
        if narrow:
            cells = _set_runs(table, start, key, postings, store, seen, cells, n)
            work[EFFORT] -= tuples
        matched, cells, pairs = _match_start(
            begin, hit, key, postings, items, store, rows, seen, hits, narrow, cells, pairs, n, work
        )
        work[READ] += total
        rest -= min(tuples, total) - min(tuples, matched, n[PAIRS] - before)
    return min(rest, n[PAIRS]), cells, pairs


@compiled
def search_tables(
    key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any, hits: Array, candidates: Array,
    candidate_offsets: Array, bounds: Array, ranks: Array, best: Array, best_ranks: Array, floor: int, many: int,
    most_mappings: int, begin: int, overlaps: Array, mappings: Array, n: Array, work: Array,
) -> tuple[int, Pairs]:  # fmt: skip
    """Go through candidate tables by falling bound; the overlap of each that may be among the k best, else 0.

    Both filters count posting items and leave a table only where it must come after the k-th: strictly below it, or as
    high as it at best, and later by rank. Candidates come by falling bound, then by rank. A start with more than `many`
    tuples and items in a table is narrowed down by a second value. A candidate with too many mappings to count is
    handed back, with its pairs; go on behind it when its overlap is known.
    """
    width = key.tuples.shape[1]
    cells, pairs = empty_cells(LITTLE_ROOM), no_pairs(width)
    n[VALUES:] = 0
    if begin:
        raise_best(best, best_ranks, overlaps[begin - 1], ranks[candidates[begin - 1]])
    for candidate in range(begin, len(candidates)):
        table = candidates[candidate]
        least = max(floor, best[0])
        if bounds[table] < least or (bounds[table] == best[0] and ranks[table] > best_ranks[0]):  # table filter 1
            break
        if work[EFFORT] <= 0:
            work[CUT] += 1
            continue
        work[TABLES] += 1
        most, cells, pairs = _match_table(
            table, candidate_offsets[candidate], candidate_offsets[candidate + 1], least, key, postings, items, store,
            rows, seen, hits, bounds, many, cells, pairs, n, work,
        )  # fmt: skip
        if work[EFFORT] <= 0:
            work[CUT] += 1
            continue
        if most < least:
            continue
        count = store.first_columns[table + 1] - store.first_columns[table]
        overlap = count_mappings(pairs, width, count, most_mappings, n, mappings[candidate], work)
        if overlap < 0:
            return candidate, pairs
        overlaps[candidate] = overlap if overlap >= least else 0
        raise_best(best, best_ranks, overlap, ranks[table])
    return len(candidates), pairs


@compiled
def raise_best(best: Array, ranks: Array, overlap: int, rank: int) -> None:
    """Put a table in place of the last of the k best, which are in ascending order, if it comes before it."""
    place = -1
    while place + 1 < len(best) and (best[place + 1], -ranks[place + 1]) < (overlap, -rank):
        place += 1
        if place:
            best[place - 1], ranks[place - 1] = best[place], ranks[place]
    if place >= 0:
        best[place], ranks[place] = overlap, rank
