"""Kernels of the search: from the starting values to candidate tables, rows, and the best mapping of columns.

Inputs are read-only C arrays; offsets were checked before. The compiled functions keep their plain Python form as
`.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled, int64

Array = npt.NDArray[Any]

READ, CHECKED, PASSED, TRUE, TABLES = range(5)
"""What is counted: posting items read, key tuples held against a row, those that passed, that matched; tables read."""


@compiled
def find_hits(key: Any, postings: Any, items: Any, store: Any, allowed: Array, bounds: Array, hits: Array) -> int:
    """The columns that hold a starting value, as (table, start, column, entry); for each table the most it can reach.

    A row matches at most one tuple, so a start brings a table no more tuples than it has, nor than its posting items
    there. `bounds` must be zero.
    """
    found = 0
    for start in range(len(key.starts)):
        value = key.starts[start]
        tuples = key.start_offsets[start + 1] - key.start_offsets[start]
        i, stop = postings.offsets[key.groups[value]], postings.offsets[key.groups[value] + 1]
        within = key.ids[value] - postings.group_tokens[key.groups[value]]
        while i < stop:
            table = store.table_of[postings.columns[i]]
            total = int64(0)
            while i < stop and store.table_of[postings.columns[i]] == table:
                if allowed[table]:
                    column = int64(postings.columns[i])
                    entry = items.set_offsets[column] + postings.positions[i] + within
                    hits[found] = (table, start, column, entry)
                    found += 1
                    total += items.set_counts[entry]
                i += 1
            bounds[table] += min(tuples, total)
    return found


@compiled
def _items_before(entry: int, items: Any) -> int:
    """How many posting items come before an entry."""
    every = items.every
    total = items.sums[entry // every]
    for i in range(entry - entry % every, entry):
        total += items.set_counts[i]
    return int64(total)


@compiled
def _read(content: Array, at: int, width: int) -> int:
    value = int64(0)
    for byte in range(width):
        value |= int64(content[at + byte]) << (8 * byte)
    return value


@compiled
def _covers(row_key: Array, key: Array) -> bool:
    """Whether every bit of the key is one of the row's. Word by word: the length segment is in the first."""
    for word in range(len(key)):
        if key[word] & ~row_key[word]:
            return False
    return True


@compiled
def _place_values(tuple_: int, table: int, key: Any, postings: Any, store: Any, seen: Any) -> None:
    """Where in the postings the columns of this table stand, for every value of a tuple; looked up once a table."""
    for j in range(key.tuples.shape[1]):
        value = key.tuples[tuple_, j]
        if seen.table[value] == table:
            continue
        seen.table[value] = table
        low, high = postings.offsets[key.groups[value]], postings.offsets[key.groups[value] + 1]
        stop = high
        for end in range(2):
            column = store.first_columns[table + end]
            high = stop
            while low < high:
                middle = (low + high) >> 1
                if postings.columns[middle] < column:
                    low = middle + 1
                else:
                    high = middle
            seen.places[value, end] = low


@compiled
def _grown(array: Array) -> Array:
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def _add_choices(
    tuple_: int, table: int, row: int, key: Any, postings: Any, store: Any, seen: Any, choices: Array, ends: Array,
    used: int, size: int,
) -> int:  # fmt: skip
    """For every value of a tuple the columns where it stands in a row, appended; how many there are then.

    -1 where a value stands nowhere: the filter was wrong. Ends of the lists go to `ends` from `used` on.
    """
    _place_values(tuple_, table, key, postings, store, seen)
    at = store.starts[table] + row * store.strides[table]
    for j in range(key.tuples.shape[1]):
        value = key.tuples[tuple_, j]
        within = key.ids[value] - postings.group_tokens[key.groups[value]] + 1
        before = size
        for i in range(seen.places[value, 0], seen.places[value, 1]):
            column = int64(postings.columns[i])
            cell = _read(store.cells, at + store.offsets[column], store.widths[column])
            if cell == postings.positions[i] + within:
                choices[size] = column
                size += 1
        if size == before:
            return -1
        ends[used + j] = size
    return size


@compiled
def best_mapping(
    owners: Array, ends: Array, choices: Array, width: int, tuples: int, least: int, mapping: Array
) -> int:
    """The most distinct tuples that match under one mapping of the key's columns to different columns of the table.

    `owners` are the tuples of matching pairs of a tuple and a row; `ends` and `choices` tell for each pair and column
    of the key which columns of the table can stand for it. Columns are fixed one after another, in ascending order; a
    branch is left when fewer tuples, or no more than the best so far, remain. So of equal mappings the first is found.
    0 where none reaches `least`; else it is written to `mapping`.
    """
    pairs = len(owners)
    kept = np.empty((width + 1, pairs), np.int64)
    sizes = np.zeros(width + 1, np.int64)
    kept[0] = np.argsort(owners, kind="mergesort")
    sizes[0] = pairs
    chosen = np.full(width + 1, -1, np.int64)
    best, depth = least - 1, 0
    while depth >= 0:
        if depth == width:
            mapping[:] = chosen[:width]
            depth -= 1
            continue
        column = _next_column(kept[depth, : sizes[depth]], ends, choices, width, depth, chosen)
        chosen[depth] = column
        if column < 0:
            depth -= 1
            continue
        distinct = _keep(kept, sizes, owners, ends, choices, width, depth, column)
        if distinct > best:
            depth += 1
            chosen[depth] = -1
            if depth == width:
                best = distinct
                if best == tuples:
                    mapping[:] = chosen[:width]
                    break
    return best if best >= least else 0


@compiled
def _next_column(pairs: Array, ends: Array, choices: Array, width: int, depth: int, chosen: Array) -> int:
    """The least column above the last one tried that some pair allows and that is not taken; -1 where there is none."""
    found = int64(-1)
    for i in range(len(pairs)):
        place = pairs[i] * width + depth
        for c in range(ends[place - 1] if place else 0, ends[place]):
            column = choices[c]
            if column <= chosen[depth] or (0 <= found <= column):
                continue
            taken = False
            for d in range(depth):
                taken |= chosen[d] == column
            if not taken:
                found = int64(column)
    return found


@compiled
def _keep(
    kept: Array, sizes: Array, owners: Array, ends: Array, choices: Array, width: int, depth: int, column: int
) -> int:
    """The pairs that allow a column go one deeper; how many distinct tuples they have."""
    size, distinct, last = 0, 0, -1
    for i in range(sizes[depth]):
        pair = kept[depth, i]
        place = pair * width + depth
        for c in range(ends[place - 1] if place else 0, ends[place]):
            if choices[c] == column:
                kept[depth + 1, size] = pair
                size += 1
                distinct += owners[pair] != last
                last = owners[pair]
                break
    sizes[depth + 1] = size
    return distinct


@compiled
def search_tables(
    key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any, hits: Array, candidates: Array,
    candidate_offsets: Array, bounds: Array, k: int, floor: int, overlaps: Array, mappings: Array, work: Array,
) -> None:  # fmt: skip
    """Go through candidate tables by falling bound; the overlap of each that may be among the k best, else 0.

    Both filters count posting items and leave a table only where it must stay strictly below the k-th.
    """
    width = key.tuples.shape[1]
    best = np.zeros(k, np.int64)
    owners, ends = np.empty(64, np.int64), np.empty(64 * width, np.int64)
    choices = np.empty(1024, np.int64)
    for candidate in range(len(candidates)):
        table = candidates[candidate]
        least = max(floor, best[0])
        if bounds[table] < least:
            break
        work[TABLES] += 1
        columns = store.first_columns[table + 1] - store.first_columns[table]
        asked = key.keys[key.class_of[rows.ones[table]]]
        rest, pairs, size = bounds[table], 0, 0
        hit, stop = candidate_offsets[candidate], candidate_offsets[candidate + 1]
        while hit < stop and rest >= least:
            start = hits[hit, 1]
            first, last = key.start_offsets[start], key.start_offsets[start + 1]
            total, matched, before = int64(0), int64(0), pairs
            while hit < stop and hits[hit, 1] == start:
                column, entry = hits[hit, 2], hits[hit, 3]
                hit += 1
                total += items.set_counts[entry]
                place = _items_before(entry, items) - _items_before(items.set_offsets[column], items)
                at = items.starts[column] + place * items.row_bytes[table]
                for _ in range(items.set_counts[entry]):
                    row = _read(items.rows, at, items.row_bytes[table])
                    at += items.row_bytes[table]
                    work[READ] += 1
                    row_key = rows.super_keys[store.first_rows[table] + row]
                    hers = pairs
                    for i in range(first, last):
                        tuple_ = key.start_tuples[i]
                        work[CHECKED] += 1
                        if not _covers(row_key, asked[tuple_]):
                            continue
                        work[PASSED] += 1
                        while size + width * columns > len(choices):
                            choices = _grown(choices)
                        while (pairs + 1) * width > len(ends):
                            ends, owners = _grown(ends), _grown(owners)
                        now = _add_choices(
                            tuple_, table, row, key, postings, store, seen, choices, ends, pairs * width, size
                        )
                        if now >= 0:
                            work[TRUE] += 1
                            owners[pairs] = tuple_
                            pairs += 1
                            size = now
                    matched += pairs > hers
            rest -= min(last - first, total) - min(last - first, matched, pairs - before)
        if rest < least or pairs < least:
            continue
        overlap = best_mapping(
            owners[:pairs], ends, choices, width, len(key.tuples), least, mappings[candidate]
        )
        overlaps[candidate] = overlap
        if overlap > best[0]:
            _raise_best(best, overlap)


@compiled
def _raise_best(best: Array, overlap: int) -> None:
    """Put an overlap in place of the least of the k best, which are ascending."""
    place = 0
    while place + 1 < len(best) and best[place + 1] < overlap:
        best[place] = best[place + 1]
        place += 1
    best[place] = overlap
