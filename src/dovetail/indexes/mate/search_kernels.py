"""Kernels of the search: from the starting values to candidate tables, rows, and the best mapping of columns.

Inputs are read-only C arrays; offsets were checked before. The compiled functions keep their plain Python form as
`.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled, int64

Array = npt.NDArray[Any]


_PRIME = np.uint64(11400714785074694791)


class Pairs(NamedTuple):
    """Matching pairs of a tuple and a row: their tuples, and which columns of the table can stand for the key's.

    The columns for column j of the key in pair p end at `ends[p * width + j]` and begin where the ones before end.
    """

    owners: Array
    ends: Array
    choices: Array


READ, CHECKED, PASSED, TRUE, TABLES, CUT, EFFORT = range(7)
"""What is counted: posting items read, key tuples held against a row, those that passed, that matched; tables read,
those that were not, or not wholly, because the effort was spent; and what is left of it."""


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
    covered = True
    for word in range(len(key)):
        if key[word] & ~row_key[word]:
            covered = False
            break
    return covered


@compiled
def _place(value: int, table: int, key: Any, postings: Any, store: Any, seen: Any) -> None:
    """Where in the postings of a value the columns of this table stand; looked up once a table."""
    if seen.table[value] == table:
        return
    seen.table[value] = table
    low, stop = postings.offsets[key.groups[value]], postings.offsets[key.groups[value] + 1]
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
    work: Array,
) -> int:  # fmt: skip
    """For every value of a tuple the columns where it stands in a row, appended; how many there are then.

    -1 where a value stands in fewer columns than the tuple needs: the filter was wrong. Ends of the lists go to `ends`
    from `used` on.
    """
    at = store.starts[table] + row * store.strides[table]
    for j in range(key.tuples.shape[1]):
        value = key.tuples[tuple_, j]
        _place(value, table, key, postings, store, seen)
        within = key.ids[value] - postings.group_tokens[key.groups[value]] + 1
        before = size
        work[EFFORT] -= 1 + seen.places[value, 1] - seen.places[value, 0]
        for i in range(seen.places[value, 0], seen.places[value, 1]):
            column = int64(postings.columns[i])
            cell = _read(store.cells, at + store.offsets[column], store.widths[column])
            if cell == postings.positions[i] + within:
                choices[size] = column
                size += 1
        needed = 0
        for other in range(key.tuples.shape[1]):
            needed += key.tuples[tuple_, other] == value
        if size - before < needed:
            return -1
        ends[used + j] = size
    return size


@compiled
def best_mapping(pairs: Any, width: int, columns: tuple[int, int], least: int, mapping: Array, work: Array) -> int:
    """The most distinct tuples that match under one mapping of the key's columns to different columns of the table.

    0 where no mapping reaches `least`; else the first of the best, by its columns in the key's order, is written to
    `mapping`. First the number is found, then the mapping. When the effort is spent, the best so far has to do.
    """
    best = _explore(pairs, width, columns, least - 1, False, mapping, work)
    if best < least:
        return 0
    if work[EFFORT] > 0:
        _explore(pairs, width, columns, best - 1, True, mapping, work)
    return best


@compiled
def _explore(
    pairs: Any, width: int, columns: tuple[int, int], best: int, ordered: bool, mapping: Array, work: Array
) -> int:
    """Fix one column of the key after another, and leave a branch where no mapping can have more than `best` tuples.

    In order: the key's columns as they come, the table's from left to right, up to the first mapping. Else the column
    of the key comes first that leaves fewest tuples, and the table's columns by falling support.
    """
    order = np.argsort(pairs.owners, kind="mergesort")
    count = columns[1] - columns[0]
    kept = np.empty((width + 1, len(order)), np.int64)
    kept[0] = order
    sizes = np.zeros(width + 1, np.int64)
    sizes[0] = len(order)
    tried = np.zeros((width, count), np.int64)  # at each depth the table's columns to try,
    supports = np.zeros((width, count), np.int64)  # and how many tuples each would leave
    tries, at, position = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64)
    chosen, used = np.full(width, -1, np.int64), np.zeros(count, np.bool_)
    depth = 0
    if _plan(pairs, kept, sizes, columns, 0, ordered, chosen, used, tried, supports, tries, at, position) <= best:
        return best
    while depth >= 0 and work[EFFORT] > 0:
        j = position[depth]
        if chosen[j] >= 0:
            used[chosen[j]] = False
            chosen[j] = -1
        if at[depth] == tries[depth]:
            depth -= 1
            continue
        column, support = tried[depth, at[depth]], supports[depth, at[depth]]
        at[depth] += 1
        if support <= best:
            continue
        chosen[j], used[column] = column, True
        if depth + 1 == width:
            best = support
            mapping[:] = chosen + columns[0]
            if ordered:
                return best
            continue
        _keep(pairs, kept, sizes, depth, j, width, columns[0] + column)
        work[EFFORT] -= (sizes[depth + 1] + count) * width
        bound = _plan(
            pairs, kept, sizes, columns, depth + 1, ordered, chosen, used, tried, supports, tries, at, position
        )
        if bound > best:
            depth += 1
    return best


@compiled
def _plan(
    pairs: Any, kept: Array, sizes: Array, columns: tuple[int, int], depth: int, ordered: bool, chosen: Array,
    used: Array, tried: Array, supports: Array, tries: Array, at: Array, position: Array,
) -> int:  # fmt: skip
    """Which column of the key is fixed at this depth, and what it can be; the most tuples that can be left in the end.

    Every open column of the key must become some column of the table, so the best of each is a bound for all.
    """
    width, count = len(chosen), len(used)
    support, last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    bound = int64(-1)
    for j in range(width):
        if chosen[j] >= 0:
            continue
        support[:] = 0
        last[:] = -1
        for i in range(sizes[depth]):
            pair = kept[depth, i]
            place = pair * width + j
            for c in range(pairs.ends[place - 1] if place else 0, pairs.ends[place]):
                column = pairs.choices[c] - columns[0]
                if last[column] != pairs.owners[pair]:
                    last[column] = pairs.owners[pair]
                    support[column] += not used[column]
        most = support.max()
        first_open = bound < 0
        if first_open or (most < bound and not ordered):
            position[depth], tries[depth], at[depth] = j, 0, 0
            for column in range(count):
                if support[column]:
                    tried[depth, tries[depth]], supports[depth, tries[depth]] = column, support[column]
                    tries[depth] += 1
        bound = most if first_open else min(bound, most)
    if not ordered:
        size = tries[depth]
        by_support = np.argsort(-supports[depth, :size])
        tried[depth, :size] = tried[depth, :size][by_support]
        supports[depth, :size] = supports[depth, :size][by_support]
    return bound


@compiled
def _keep(pairs: Any, kept: Array, sizes: Array, depth: int, j: int, width: int, column: int) -> None:
    """The pairs that allow a column of the table for column j of the key go one deeper."""
    size = 0
    for i in range(sizes[depth]):
        pair = kept[depth, i]
        place = pair * width + j
        for c in range(pairs.ends[place - 1] if place else 0, pairs.ends[place]):
            if pairs.choices[c] == column:
                kept[depth + 1, size] = pair
                size += 1
                break
    sizes[depth + 1] = size


@compiled
def _runs_by_cell(table: int, start: int, key: Any, postings: Any, store: Any, seen: Any) -> tuple[Array, Array]:
    """Where many tuples share a start, a row would be held against all of them. Here a second value tells which.

    The tuples of a start are ordered by their second value; those with the same one are a run. Returns for every cell
    that such a value may be in (column and number, as one) its run, by cell.
    """
    first, last = key.start_offsets[start], key.start_offsets[start + 1]
    second = key.start_seconds[start]
    cells, runs = np.empty(64, np.int64), np.empty(128, np.int64)
    size, begin = 0, first
    while begin < last:
        value = key.tuples[key.start_tuples[begin], second]
        end = begin + 1
        while end < last and key.tuples[key.start_tuples[end], second] == value:
            end += 1
        _place(value, table, key, postings, store, seen)
        within = key.ids[value] - postings.group_tokens[key.groups[value]] + 1
        for i in range(seen.places[value, 0], seen.places[value, 1]):
            if size == len(cells):
                cells, runs = _grown(cells), _grown(runs)
            cells[size] = (int64(postings.columns[i]) << 32) | (int64(postings.positions[i]) + within)
            runs[2 * size], runs[2 * size + 1] = begin, end
            size += 1
        begin = end
    order = np.argsort(cells[:size])
    ordered = np.empty((size, 2), np.int64)
    for i in range(size):
        ordered[i, 0], ordered[i, 1] = runs[2 * order[i]], runs[2 * order[i] + 1]
    return cells[order], ordered


@compiled
def _columns_of(cells: Array) -> Array:
    """The distinct columns of some cells, ascending."""
    found = np.empty(len(cells), np.int64)
    size = 0
    for i in range(len(cells)):
        if size == 0 or found[size - 1] != cells[i] >> 32:
            found[size] = cells[i] >> 32
            size += 1
    return found[:size]


@compiled
def _match_row(
    table: int, row: int, first: int, last: int, key: Any, postings: Any, store: Any, rows: Any, seen: Any,
    found: Any, work: Array,
) -> Any:  # fmt: skip
    """Hold some tuples of a start against a row; the pairs that match are added to those found."""
    width = key.tuples.shape[1]
    columns = store.first_columns[table + 1] - store.first_columns[table]
    owners, ends, choices, pairs, size, slots = found
    row_key = rows.super_keys[store.first_rows[table] + row]
    asked = key.keys[key.class_of[rows.ones[table]]]
    for i in range(first, last):
        tuple_ = key.start_tuples[i]
        if seen.done[tuple_] == table:
            continue
        work[CHECKED] += 1
        if not _covers(row_key, asked[tuple_]):
            continue
        work[PASSED] += 1
        while size + width * columns > len(choices):
            choices = _grown(choices)
        while (pairs + 1) * width > len(ends):
            ends, owners = _grown(ends), _grown(owners)
        now = _add_choices(tuple_, table, row, key, postings, store, seen, choices, ends, pairs * width, size, work)
        if now >= 0:
            work[TRUE] += 1
            owners[pairs] = tuple_
            if 2 * (pairs + 1) > len(slots):
                slots = _larger_slots(slots, owners, ends, choices, width, pairs)
            if _is_new(pairs, slots, owners, ends, choices, width):
                pairs += 1
                size = now
            if _maps_one_way(tuple_, key, seen):
                seen.done[tuple_] = table
    return owners, ends, choices, pairs, size, slots


@compiled
def _hash_pair(pair: int, owners: Array, ends: Array, choices: Array, width: int) -> Any:
    mixed = np.uint64(owners[pair])
    begin = ends[pair * width - 1] if pair else 0
    for place in range(pair * width, (pair + 1) * width):
        mixed = (mixed ^ np.uint64(ends[place] - begin)) * _PRIME
        for c in range(begin, ends[place]):
            mixed = (mixed ^ np.uint64(choices[c])) * _PRIME
        begin = ends[place]
    return mixed ^ (mixed >> np.uint64(29))


@compiled
def _same_pair(one: int, other: int, owners: Array, ends: Array, choices: Array, width: int) -> bool:
    """Whether two pairs have the same tuple, and the same columns to choose from."""
    same = owners[one] == owners[other]
    begins = (ends[one * width - 1] if one else 0), (ends[other * width - 1] if other else 0)
    for j in range(width):
        same &= ends[one * width + j] - begins[0] == ends[other * width + j] - begins[1]
    if same:
        for c in range(ends[(one + 1) * width - 1] - begins[0]):
            same &= choices[begins[0] + c] == choices[begins[1] + c]
    return bool(same)


@compiled
def _is_new(pair: int, slots: Array, owners: Array, ends: Array, choices: Array, width: int) -> bool:
    """Whether no other pair is the same; then it gets a slot. Rows that say the same again need not be held."""
    mask = len(slots) - 1
    slot = int64(_hash_pair(pair, owners, ends, choices, width) & np.uint64(mask))
    while slots[slot] >= 0 and not _same_pair(slots[slot], pair, owners, ends, choices, width):
        slot = (slot + 1) & mask
    new = slots[slot] < 0
    if new:
        slots[slot] = pair
    return bool(new)


@compiled
def _larger_slots(slots: Array, owners: Array, ends: Array, choices: Array, width: int, pairs: int) -> Array:
    larger = np.full(4 * len(slots), -1, np.int64)
    for pair in range(pairs):
        _is_new(pair, larger, owners, ends, choices, width)
    return larger


@compiled
def _maps_one_way(tuple_: int, key: Any, seen: Any) -> bool:
    """Whether each value of a tuple stands in one column of the table only: then one row that matches says it all."""
    one_way = True
    for j in range(key.tuples.shape[1]):
        value = key.tuples[tuple_, j]
        one_way &= seen.places[value, 1] - seen.places[value, 0] == 1
    return one_way


@compiled
def _match_by_second(
    table: int, row: int, cells: Array, runs: Array, columns: Array, key: Any, postings: Any, store: Any, rows: Any,
    seen: Any, found: Any, work: Array,
) -> Any:  # fmt: skip
    """The same for the tuples whose second value stands in the row."""
    at = store.starts[table] + row * store.strides[table]
    for i in range(len(columns)):
        column = columns[i]
        cell = (column << 32) | _read(store.cells, at + store.offsets[column], store.widths[column])
        place = np.searchsorted(cells, cell)
        if place < len(cells) and cells[place] == cell:
            found = _match_row(
                table, row, runs[place, 0], runs[place, 1], key, postings, store, rows, seen, found, work
            )
    return found


@compiled
def search_tables(
    key: Any, postings: Any, items: Any, store: Any, rows: Any, seen: Any, hits: Array, candidates: Array,
    candidate_offsets: Array, bounds: Array, ranks: Array, k: int, floor: int, many: int, overlaps: Array,
    mappings: Array, work: Array,
) -> None:  # fmt: skip
    """Go through candidate tables by falling bound; the overlap of each that may be among the k best, else 0.

    Both filters count posting items and leave a table only where it must come after the k-th: strictly below it, or as
    high as it at best, and later by rank. Candidates come by falling bound, then by rank. A start with more than `many`
    tuples is narrowed down by a second value.
    """
    width = key.tuples.shape[1]
    best, best_ranks = np.zeros(k, np.int64), np.full(k, len(ranks), np.int64)
    owners, ends, choices = np.empty(64, np.int64), np.empty(64 * width, np.int64), np.empty(1024, np.int64)
    no_cells, no_runs = np.empty(0, np.int64), np.empty((0, 2), np.int64)
    for candidate in range(len(candidates)):
        table = candidates[candidate]
        least = max(floor, best[0])
        if bounds[table] < least or (bounds[table] == best[0] and ranks[table] > best_ranks[0]):  # table filter 1
            break
        if work[EFFORT] <= 0:
            work[CUT] += 1
            continue
        work[TABLES] += 1
        rest = bounds[table]
        found = owners, ends, choices, 0, 0, np.full(64, -1, np.int64)
        hit, stop = candidate_offsets[candidate], candidate_offsets[candidate + 1]
        while hit < stop and rest >= least and work[EFFORT] > 0:  # table filter 2
            start = hits[hit, 1]
            first, last = key.start_offsets[start], key.start_offsets[start + 1]
            narrow = last - first > many
            cells, runs = _runs_by_cell(table, start, key, postings, store, seen) if narrow else (no_cells, no_runs)
            columns = _columns_of(cells)
            total, matched, before = int64(0), int64(0), found[3]
            while hit < stop and hits[hit, 1] == start:
                column, entry = hits[hit, 2], hits[hit, 3]
                hit += 1
                total += items.set_counts[entry]
                place = _items_before(entry, items) - _items_before(items.set_offsets[column], items)
                at = items.starts[column] + place * items.row_bytes[table]
                for _ in range(items.set_counts[entry]):
                    row = _read(items.rows, at, items.row_bytes[table])
                    at += items.row_bytes[table]
                    pairs = found[3]
                    if narrow:
                        found = _match_by_second(
                            table, row, cells, runs, columns, key, postings, store, rows, seen, found, work
                        )
                    else:
                        found = _match_row(table, row, first, last, key, postings, store, rows, seen, found, work)
                    matched += found[3] > pairs
            work[READ] += total
            rest -= min(last - first, total) - min(last - first, matched, found[3] - before)
        owners, ends, choices, pairs = found[:4]
        if rest < least or pairs < least:
            continue
        columns_of_table = (store.first_columns[table], store.first_columns[table + 1])
        matches = Pairs(owners[:pairs], ends, choices)
        overlap = best_mapping(matches, width, columns_of_table, least, mappings[candidate], work)
        work[CUT] += work[EFFORT] <= 0
        overlaps[candidate] = overlap
        _raise_best(best, best_ranks, overlap, ranks[table])


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
