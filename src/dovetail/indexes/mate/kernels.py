"""Kernels that build: super keys (a few bits for every value, for a row the bits of all its values) and row postings.

Inputs are read-only C arrays; offsets were checked before. Bits are numbered from 0 on, 64 to a word. The compiled
functions keep their plain Python form as `.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._storage.packing_kernels import Packed, bits_at, packed_at
from dovetail._types import Array
from dovetail.normalise.hash_kernels import decode_character

# The constants of SplitMix64.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_MOST_CHARACTERS = 16  # of a value that set bits; more would fill the key of a row


@compiled
def count_rows(sets: Any, set_offsets: Array, set_counts: Packed, tokens: int) -> Array:
    """How many cells hold each token."""
    found = np.zeros(tokens, np.int64)
    for column in range(len(set_offsets) - 1):
        entry = set_offsets[column]
        for i in range(sets.group_offsets[column], sets.group_offsets[column + 1]):
            for token in range(sets.group_tokens[sets.groups[i]], sets.group_tokens[sets.groups[i] + 1]):
                found[token] += packed_at(set_counts, entry)
                entry += 1
    return found


@compiled
def sum_items(set_counts: Packed, every: int) -> Array:
    """The sums of the counts before entry 0, `every`, 2 · `every`, …"""
    sums = np.zeros(set_counts.length // every + 1, np.int64)
    total = int64(0)
    for entry in range(set_counts.length):
        if entry % every == 0:
            sums[entry // every] = total
        total += packed_at(set_counts, entry)
    if set_counts.length % every == 0:
        sums[-1] = total
    return sums


@compiled
def fill_postings(
    postings: Array, columns: tuple[int, int], store: Any, set_offsets: Array, set_counts: Packed
) -> None:
    """For each of some columns the rows of every token, ascending: a counting sort of its cells."""
    place = 0
    for column in range(columns[0], columns[1]):
        table = store.table_of[column]
        size = set_offsets[column + 1] - set_offsets[column]
        cursor = np.empty(size, np.int64)
        for i in range(size):
            cursor[i] = place
            place += packed_at(set_counts, set_offsets[column] + i)
        at = store.starts[table] + store.offsets[column]
        for row in range(store.first_rows[table + 1] - store.first_rows[table]):
            cell = bits_at(store.cells, at, store.widths[column])
            at += store.strides[table]
            if cell:
                postings[cursor[cell - 1]] = row
                cursor[cell - 1] += 1


@compiled
def _mix(value: Any) -> Any:
    """The last steps of SplitMix64."""
    value = (value ^ (value >> np.uint64(30))) * _MIX1
    value = (value ^ (value >> np.uint64(27))) * _MIX2
    return value ^ (value >> np.uint64(31))


@compiled
def _set(key: Array, bit: int) -> None:
    key[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@compiled
def spread_bits(key: Array, hash_: Any, ones: int) -> None:
    """Set `ones` bits anywhere in the key, drawn by the value's hash. Fewer ones are the first of more."""
    bits = np.uint64(64 * len(key) - 1)
    state = hash_
    for _ in range(ones):
        state += _GOLDEN
        _set(key, int64(_mix(state) & bits))


@compiled
def _rarest(content: Array, start: int, stop: int, rank_of: Array, wanted: int, points: Array) -> tuple[int, int]:
    """The `wanted` rarest distinct characters of a value, into `points`; how many there are, and the value's length."""
    found, length, at = 0, 0, start
    while at < stop:
        point, width = decode_character(content, at)
        at += width
        length += 1
        place = found
        known = False
        for i in range(found):
            if points[i] == point:
                known = True
                break
            ahead = rank_of[point] > rank_of[points[i]] or (rank_of[point] == rank_of[points[i]] and point < points[i])
            if ahead and place == found:
                place = i
        if known or place == wanted:
            continue
        found = min(found + 1, wanted)
        for i in range(found - 1, place, -1):
            points[i] = points[i - 1]
        points[place] = point
    return found, length


@compiled
def xash_bits(key: Array, content: Array, start: int, stop: int, rank_of: Array, slots: int, ones: int) -> None:
    """XASH (section 5.3): one bit for the length, the others for the rarest characters and their positions.

    The length segment comes first. A character that has no slot of its own shares one that its code point picks.
    """
    bits = 64 * len(key)
    areas = (bits - 1) // slots
    character_bits = slots * areas
    length_bits = bits - character_bits
    points = np.empty(_MOST_CHARACTERS, np.int64)
    found, length = _rarest(content, start, stop, rank_of, min(ones - 1, _MOST_CHARACTERS), points)
    _set(key, length % length_bits)
    for i in range(found):
        total, times, at, place = 0, 0, start, 0
        while at < stop:
            point, width = decode_character(content, at)
            at += width
            place += 1
            if point == points[i]:
                total += place
                times += 1
        area = -(-total * areas // (times * length)) - 1
        rank = int64(rank_of[points[i]])
        slot = rank if rank < slots else int64(_mix(np.uint64(points[i])) % np.uint64(slots))
        _set(key, length_bits + (slot * areas + area - length) % character_bits)


@compiled
def hash_tokens(keys: Array, ids: Array, hashing: Any, ones: int) -> None:
    """The bits of some tokens, each into its row of `keys`. Family 1 is XASH, family 2 spreads bits by the hash."""
    for i in range(len(ids)):
        keys[i, :] = 0
        token = ids[i]
        if hashing.family == 1:
            start, stop = hashing.token_offsets[token], hashing.token_offsets[token + 1]
            xash_bits(keys[i], hashing.token_bytes, start, stop, hashing.rank_of, hashing.slots, ones)
        else:
            spread_bits(keys[i], hashing.hashes[token], ones)


@compiled
def _tokens_from(column: int, place: int, sets: Any, ids: Array) -> int:
    """The tokens of a column from a place in its set on, ascending, as many as `ids` takes; how many they are."""
    size = 0
    for i in range(sets.group_offsets[column], sets.group_offsets[column + 1]):
        first, last = sets.group_tokens[sets.groups[i]], sets.group_tokens[sets.groups[i] + 1]
        skipped = min(place, last - first)
        place -= skipped
        for token in range(first + skipped, min(last, first + skipped + len(ids) - size)):
            ids[size] = token
            size += 1
    return size


@compiled
def _add_cells(keys: Array, hashed: Array, place: int, cells: Array, at: int, stride: int, width: int) -> None:
    """Add the bits of one column's cells to the keys of consecutive rows; `at` is the first row's cell.

    `hashed` are the bits of the column's tokens from `place` on.
    """
    for row in range(len(keys)):
        cell = bits_at(cells, at, width) - 1 - place
        if 0 <= cell < len(hashed):
            for word in range(keys.shape[1]):
                keys[row, word] |= hashed[cell, word]
        at += stride


@compiled
def fill_keys(
    keys: Array, tables: tuple[int, int], rows: tuple[int, int], ones: Array, store: Any, sets: Any, hashing: Any,
    ids: Array, hashed: Array,
) -> None:  # fmt: skip
    """The super keys of some tables' rows, or of some rows of one table; a set larger than `ids` is hashed in parts."""
    keys[:, :] = 0
    written = 0
    for table in range(tables[0], tables[1]):
        last = min(rows[1], store.first_rows[table + 1] - store.first_rows[table])
        mine = keys[written : written + last - rows[0]]
        for column in range(store.first_columns[table], store.first_columns[table + 1]):
            at = store.starts[table] + store.offsets[column] + rows[0] * store.strides[table]
            place = 0
            size = _tokens_from(column, place, sets, ids)
            while size:
                hash_tokens(hashed, ids[:size], hashing, ones[table])
                _add_cells(mine, hashed[:size], place, store.cells, at, store.strides[table], store.widths[column])
                place += size
                size = _tokens_from(column, place, sets, ids) if size == len(ids) else 0
        written += len(mine)
