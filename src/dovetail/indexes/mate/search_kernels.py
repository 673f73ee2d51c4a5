"""Kernels of the search: from candidate tables to the rows that hold key tuples, and the best mapping of columns.

Inputs are read-only C arrays; offsets were checked before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

_PRIME = -7046029254386353131  # 2^64 divided by the golden ratio
_STEPS_A_MAPPING = 16  # of counting, at most on average
_LITTLE_ROOM = 64

READ, CHECKED, PASSED, TRUE, TABLES, CUT, EFFORT = range(7)
"""What is counted: posting items read, key tuples held against a row, those that passed, that matched; tables read,
those that were not, or not wholly, because the effort was spent; and what is left of it."""
ROW, VALUES, COLUMNS, CELLS, PAIRS, CHOICES = range(6)
"""What is counted in a table: rows looked up so far, and for the last the values found in it; columns with a value that
is looked for, cells of such values; pairs found, and all of their choices."""
V_TABLE, V_COLUMNS, V_ROW, V_COUNT, V_FIRST, V_HASH, V_START, V_BEGIN, V_END = range(9)
"""What is known of a value of the key, where the table, row and start are those at hand: in how many columns of the
table it stands; how often it stands in the row, the first of its columns there, a hash of these; and the tuples of the
start that have it as their second value."""
C_TABLE, C_NEXT = range(2)
"""Of a column: whether the table has a value in it that is looked for; the next one with the same value in the row."""


class Cells(NamedTuple):
    """A hash table from the number of a cell, with its column, to the value of the key that it stands for."""

    numbers: Array
    values: Array


class Pairs(NamedTuple):
    """Matching pairs of a tuple and a row: their tuples, and which columns of the table can stand for the key's.

    The columns for column j of the key in pair p end at `ends[p * width + j]` and begin where the ones before end. Rows
    that say the same of a tuple are one pair: `slots` is a hash table of them.
    """

    owners: Array
    ends: Array
    choices: Array
    hashes: Array
    slots: Array


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
def _grown(array: Array) -> Array:
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def _first_from(column: int, low: int, high: int, postings: Any) -> int:
    """The first posting of a column that is not before this one."""
    while low < high:
        middle = (low + high) >> 1
        if postings.columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _slot_of(number: int, numbers: Array) -> int:
    """Where a cell stands in the hash table, or the empty place where it would."""
    mask = len(numbers) - 1
    slot = int64((number * _PRIME) >> 32) & mask
    while numbers[slot] >= 0 and numbers[slot] != number:
        slot = (slot + 1) & mask
    return slot


@compiled
def _empty_cells(room: int) -> Cells:
    return Cells(np.full(room, -1, np.int64), np.empty(room, np.int64))


@compiled
def _larger_cells(cells: Cells) -> Cells:
    larger = _empty_cells(4 * len(cells.numbers))
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
    low = _first_from(first, postings.offsets[group], postings.offsets[group + 1], postings)
    high = _first_from(store.first_columns[table + 1], low, postings.offsets[group + 1], postings)
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
    """The values that stand in a row, and for each how often, its columns as a chain, and a hash of these."""
    n[ROW] += 1
    n[VALUES] = 0
    for i in range(n[COLUMNS] - 1, -1, -1):
        column = listed[i]
        number = _read(content, at + offsets[column], widths[column])
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
        values[value, V_HASH] = (values[value, V_HASH] ^ (column + 1)) * _PRIME


@compiled
def _check(
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
    """Where many tuples share a start, a row would be held against all of them; but a second value tells which.

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
def _met_before(
    at: int, hit: int, hits: Array, set_offsets: Array, content: Array, offsets: Array, widths: Array
) -> bool:
    """Whether the start of a hit stands further left in the row too: then this row was met there."""
    other = hit - 1
    while other >= 0 and hits[other, 0] == hits[hit, 0] and hits[other, 1] == hits[hit, 1]:
        column = hits[other, 2]
        if _read(content, at + offsets[column], widths[column]) == hits[other, 3] - set_offsets[column] + 1:
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
    super_keys, content, row_bytes = rows.super_keys, store.cells, items.row_bytes[table]
    offsets, widths = store.offsets[store.first_columns[table] :], store.widths[store.first_columns[table] :]
    numbers, cell_values = cells
    matched = int64(0)
    while hit < stop:
        column, entry = hits[hit, 2], hits[hit, 3]
        place = _items_before(entry, items) - _items_before(items.set_offsets[column], items)
        at = items.starts[column] + place * row_bytes
        for _ in range(items.set_counts[entry]):
            row = _read(items.rows, at, row_bytes)
            at += row_bytes
            cells_at = store.starts[table] + row * store.strides[table]
            row_key = super_keys[store.first_rows[table] + row]
            size = 0
            work[EFFORT] -= 1
            if narrow:
                if _met_before(cells_at, hit, hits, items.set_offsets, content, store.offsets, store.widths):
                    continue
                _look_up(cells_at, content, offsets, widths, listed, numbers, cell_values, values, columns, found, n)
                work[EFFORT] -= n[COLUMNS]
                for i in range(n[VALUES]):
                    value = found[i]
                    if values[value, V_START] == start:
                        begin, end = values[value, V_BEGIN], values[value, V_END]
                        work[EFFORT] -= end - begin
                        size = _check(begin, end, row_key, start_tuples, asked, done, table, passing, size, work)
            else:
                work[EFFORT] -= last - first
                size = _check(first, last, row_key, start_tuples, asked, done, table, passing, size, work)
                if size and _met_before(cells_at, hit, hits, items.set_offsets, content, store.offsets, store.widths):
                    continue
            if size:
                known = n[PAIRS]
                cells, pairs = _match_row(
                    table, cells_at, size, narrow, key, postings, store, seen, cells, pairs, n, work
                )
                numbers, cell_values = cells
                matched += n[PAIRS] > known
        hit += 1
    return matched, cells, pairs


@compiled
def _match_row(
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
    for i in range(size):
        pairs = _add_pair(seen.passing[i], table, key, seen, pairs, n, work)
    return cells, pairs


@compiled
def _add_pair(tuple_: int, table: int, key: Any, seen: Any, pairs: Pairs, n: Array, work: Array) -> Pairs:
    """Add what the row that was looked up says of a tuple, if it holds it and no other row said the same.

    A value that the tuple has twice must stand twice. Where each value stands in one column of the table only, one row
    says it all, and the tuple is done.
    """
    width = key.tuples.shape[1]
    mixed, total, one_way = int64(tuple_), int64(0), True
    for j in range(width):
        value = key.tuples[tuple_, j]
        needed = 0
        for other in range(width):
            needed += key.tuples[tuple_, other] == value
        if seen.values[value, V_ROW] != n[ROW] or seen.values[value, V_COUNT] < needed:
            return pairs
        total += seen.values[value, V_COUNT]
        one_way &= seen.values[value, V_COLUMNS] == 1
        mixed = (mixed ^ (seen.values[value, V_HASH] >> 7)) * _PRIME
    work[TRUE] += 1
    work[EFFORT] -= total + width
    if one_way:
        seen.done[tuple_] = table
    pairs = _with_room(pairs, width, total, n)
    pair, size = n[PAIRS], n[CHOICES]
    for j in range(width):
        column = seen.values[key.tuples[tuple_, j], V_FIRST]
        while column >= 0:
            pairs.choices[size] = column
            size += 1
            column = seen.columns[column, C_NEXT]
        pairs.ends[pair * width + j] = size
    pairs.owners[pair], pairs.hashes[pair] = tuple_, mixed
    slot = _pair_slot(pair, pairs, pairs.slots, width)
    if pairs.slots[slot] < 0:
        pairs.slots[slot] = pair
        n[PAIRS] += 1
        n[CHOICES] = size
    return pairs


@compiled
def _pair_slot(pair: int, pairs: Pairs, slots: Array, width: int) -> int:
    """Where a pair that says the same stands, or the empty place for this one."""
    mask = len(slots) - 1
    slot = int64(pairs.hashes[pair] >> 32) & mask
    while slots[slot] >= 0 and not _same(slots[slot], pair, pairs, width):
        slot = (slot + 1) & mask
    return slot


@compiled
def _same(one: int, other: int, pairs: Pairs, width: int) -> bool:
    """Whether two pairs have the same tuple, and the same columns to choose from."""
    if pairs.hashes[one] != pairs.hashes[other] or pairs.owners[one] != pairs.owners[other]:
        return False
    begins = (pairs.ends[one * width - 1] if one else 0), (pairs.ends[other * width - 1] if other else 0)
    same = True
    for j in range(width):
        same &= pairs.ends[one * width + j] - begins[0] == pairs.ends[other * width + j] - begins[1]
    if same:
        for c in range(pairs.ends[(one + 1) * width - 1] - begins[0]):
            same &= pairs.choices[begins[0] + c] == pairs.choices[begins[1] + c]
    return same


@compiled
def _no_pairs(width: int) -> Pairs:
    room = _LITTLE_ROOM
    return Pairs(
        np.empty(room, np.int64), np.empty(room * width, np.int64), np.empty(room * width, np.int64),
        np.empty(room, np.int64), np.full(2 * room, -1, np.int64),
    )  # fmt: skip


@compiled
def _with_room(pairs: Pairs, width: int, total: int, n: Array) -> Pairs:
    """The pairs, with room for one more of so many choices."""
    owners, ends, choices, hashes, slots = pairs
    while n[CHOICES] + total > len(choices):
        choices = _grown(choices)
    if n[PAIRS] + 1 > len(owners):
        owners, ends, hashes = _grown(owners), _grown(ends), _grown(hashes)
    if 2 * (n[PAIRS] + 1) > len(slots):
        slots = np.full(4 * len(slots), -1, np.int64)
        for pair in range(n[PAIRS]):
            slots[_pair_slot(pair, pairs, slots, width)] = pair
    return Pairs(owners, ends, choices, hashes, slots)


@compiled
def _count_mappings(
    pairs: Pairs, width: int, count: int, most_mappings: int, n: Array, mapping: Array, work: Array
) -> int:
    """Count the tuples of every mapping; the most, with the first mapping that has them. -1: too many mappings.

    A mapping is a number, whose digits are the columns of the table that each column of the key can be.
    """
    digits, bases = np.full((width, count), -1, np.int64), np.zeros(width, np.int64)
    steps, most_steps = int64(0), most_mappings * _STEPS_A_MAPPING
    for pair in range(n[PAIRS]):
        ways = int64(1)
        for place in range(pair * width, (pair + 1) * width):
            begin = pairs.ends[place - 1] if place else 0
            ways = min(ways * (pairs.ends[place] - begin), most_steps + 1)
            for c in range(begin, pairs.ends[place]):
                digits[place % width, pairs.choices[c]] = 0
        steps += ways
    mappings = int64(1)
    for j in range(width):
        for column in range(count):
            if digits[j, column] == 0:
                digits[j, column] = bases[j]
                bases[j] += 1
        mappings = min(mappings * bases[j], most_mappings + 1)
    if mappings > most_mappings or steps > most_steps:
        return -1
    work[EFFORT] -= mappings + steps
    supports = _supports(pairs, width, bases, digits, mappings, n)
    best = int64(np.argmax(supports))
    code = best
    for j in range(width - 1, -1, -1):
        for column in range(count):
            if digits[j, column] == code % bases[j]:
                mapping[j] = column
        code //= bases[j]
    return int64(supports[best])


@compiled
def _supports(pairs: Pairs, width: int, bases: Array, digits: Array, mappings: int, n: Array) -> Array:
    """How many tuples match under each mapping."""
    supports, last = np.zeros(mappings, np.int32), np.full(mappings, -1, np.int32)
    codes, at, chosen = np.zeros(width + 1, np.int64), np.zeros(width, np.int64), np.full(width, -1, np.int64)
    for pair in np.argsort(pairs.owners[: n[PAIRS]], kind="mergesort"):
        j = 0
        at[0] = pairs.ends[pair * width - 1] if pair else 0
        while j >= 0:
            if at[j] == pairs.ends[pair * width + j]:
                j -= 1
                continue
            column = pairs.choices[at[j]]
            at[j] += 1
            taken = False
            for other in range(j):
                taken |= chosen[other] == column
            if taken:
                continue
            chosen[j] = column
            codes[j + 1] = codes[j] * bases[j] + digits[j, column]
            if j + 1 < width:
                at[j + 1] = pairs.ends[pair * width + j]
                j += 1
            elif last[codes[width]] != pairs.owners[pair]:
                last[codes[width]] = pairs.owners[pair]
                supports[codes[width]] += 1
    return supports


@compiled
def _match_table(
    table: int, hit: int, stop: int, least: int, key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any,
    hits: Array, bounds: Array, many: int, cells: Cells, pairs: Pairs, n: Array, work: Array,
) -> tuple[int, Cells, Pairs]:  # fmt: skip
    """The pairs of a table, and the most tuples that it can reach; left where this is below `least`."""
    if n[CELLS]:
        cells = _empty_cells(_LITTLE_ROOM)
    if n[PAIRS]:
        pairs = _no_pairs(key.tuples.shape[1])
    n[VALUES:] = 0
    rest = bounds[table]
    while hit < stop and rest >= least and work[EFFORT] > 0:  # table filter 2
        start, begin = hits[hit, 1], hit
        tuples = key.start_offsets[start + 1] - key.start_offsets[start]
        total, before = int64(0), n[PAIRS]
        while hit < stop and hits[hit, 1] == start:
            total += items.set_counts[hits[hit, 3]]
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
    cells, pairs = _empty_cells(_LITTLE_ROOM), _no_pairs(width)
    n[VALUES:] = 0
    if begin:
        _raise_best(best, best_ranks, overlaps[begin - 1], ranks[candidates[begin - 1]])
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
        overlap = _count_mappings(pairs, width, count, most_mappings, n, mappings[candidate], work)
        if overlap < 0:
            return candidate, pairs
        overlaps[candidate] = overlap if overlap >= least else 0
        _raise_best(best, best_ranks, overlap, ranks[table])
    return len(candidates), pairs


@compiled
def _raise_best(best: Array, ranks: Array, overlap: int, rank: int) -> None:
    """Put a table in place of the last of the k best, which are in ascending order, if it comes before it."""
    place = -1
    while place + 1 < len(best) and (best[place + 1], -ranks[place + 1]) < (overlap, -rank):
        place += 1
        if place:
            best[place - 1], ranks[place - 1] = best[place], ranks[place]
    if place >= 0:
        best[place], ranks[place] = overlap, rank
