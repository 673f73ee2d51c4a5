"""Kernels over tokens, sets and postings. Inputs are read-only C arrays; offsets were checked before.

The compiled functions keep their plain Python form as `.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array
from dovetail.normalise.hash_kernels import P1, P2, rotate

_AT_ONCE = 512  # tokens looked up together: what they touch fits into a near cache


@compiled
def merge_repeats(codes: Array, columns: Array, counts: Array, distinct: int) -> int:
    """Fold entries of the same column and token into the first of them, in place; columns must not decrease.

    Returns how many entries are left at the front of the arrays.
    """
    last_column = np.full(distinct, -1, np.int64)
    last_place = np.zeros(distinct, np.int64)
    kept = 0
    for i in range(len(codes)):
        code = codes[i]
        if last_column[code] == columns[i]:
            counts[last_place[code]] += counts[i]
            continue
        last_column[code] = columns[i]
        last_place[code] = kept
        codes[kept], columns[kept], counts[kept] = code, columns[i], counts[i]
        kept += 1
    return kept


@compiled
def group_lists(offsets: Array, columns: Array, width: int) -> tuple[Array, Array, Array]:
    """Which tokens are held by exactly the same columns, of which there are `width`.

    Returns the group of each token, a token that stands for each group, and the hash of each group's columns. A list of
    one column is known by the column; longer ones meet in a hash table, where the columns themselves decide.
    """
    tokens = len(offsets) - 1
    long_lists = 0
    for token in range(tokens):
        long_lists += offsets[token + 1] - offsets[token] > 1
    mask = 1
    while mask < 2 * long_lists:
        mask *= 2
    mask -= 1
    slots = np.full(mask + 1, -1, np.int64)
    alone = np.full(width, -1, np.int64)
    group_of = np.empty(tokens, np.int64)
    example = np.empty(tokens, np.int64)
    hashes = np.empty(tokens, np.uint64)
    groups = 0
    for token in range(tokens):
        start, stop = offsets[token], offsets[token + 1]
        mixed = np.uint64(stop - start)
        for i in range(start, stop):
            mixed = rotate(mixed ^ (np.uint64(columns[i]) * P2), 31) * P1
        mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(mask))
        if stop - start == 1:
            found = alone[columns[start]]
        else:
            while slots[slot] >= 0 and not _same_list(offsets, columns, example[slots[slot]], token):
                slot = (slot + 1) & mask
            found = slots[slot]
        if found < 0:
            found = groups
            groups += 1
            example[found] = token
            hashes[found] = mixed
            if stop - start == 1:
                alone[columns[start]] = found
            else:
                slots[slot] = found
        group_of[token] = found
    return group_of, example[:groups], hashes[:groups]


@compiled
def _same_list(offsets: Array, columns: Array, one: int, other: int) -> bool:
    length = offsets[one + 1] - offsets[one]
    same = offsets[other + 1] - offsets[other] == length
    for i in range(length):
        if not same:
            break
        same = columns[offsets[one] + i] == columns[offsets[other] + i]
    return bool(same)


@compiled
def stable_order(items: Array, keys: Array, bound: int) -> Array:
    """The items by their key, which is below `bound`; items of one key stay in their order. A counting sort."""
    starts = np.zeros(bound + 1, np.int64)
    for i in range(len(items)):
        starts[keys[items[i]] + 1] += 1
    for i in range(bound):
        starts[i + 1] += starts[i]
    order = np.empty(len(items), np.int64)
    for i in range(len(items)):
        key = keys[items[i]]
        order[starts[key]] = items[i]
        starts[key] += 1
    return order


@compiled
def gather_lists(offsets: Array, members: Array, counts: Array, order: Array) -> tuple[Array, Array, Array]:
    """The lists at `order`, as new offsets, members and counts."""
    new_offsets = np.zeros(len(order) + 1, np.int64)
    for i in range(len(order)):
        new_offsets[i + 1] = new_offsets[i] + offsets[order[i] + 1] - offsets[order[i]]
    new_members = np.empty(new_offsets[-1], members.dtype)
    new_counts = np.empty(new_offsets[-1], counts.dtype)
    for i in range(len(order)):
        start = offsets[order[i]]
        for k in range(offsets[order[i] + 1] - start):
            new_members[new_offsets[i] + k] = members[start + k]
            new_counts[new_offsets[i] + k] = counts[start + k]
    return new_offsets, new_members, new_counts


@compiled
def spread(groups: Array, group_tokens: Array) -> Array:
    """The tokens of some groups, one after another."""
    total = 0
    for i in range(len(groups)):
        total += group_tokens[groups[i] + 1] - group_tokens[groups[i]]
    tokens = np.empty(total, np.uint32)
    at = 0
    for i in range(len(groups)):
        for token in range(group_tokens[groups[i]], group_tokens[groups[i] + 1]):
            tokens[at] = token
            at += 1
    return tokens


@compiled
def transpose(offsets: Array, members: Array, counts: Array, groups: int) -> tuple[Array, Array, Array]:
    """Turn lists of members by owner (CSR) into lists of owners by member, each ascending, with their counts."""
    turned_offsets = np.zeros(groups + 1, np.int64)
    for i in range(len(members)):
        turned_offsets[members[i] + 1] += 1
    for i in range(groups):
        turned_offsets[i + 1] += turned_offsets[i]
    cursor = turned_offsets[:-1].copy()
    owners = np.empty(len(members), np.uint32)
    turned_counts = np.empty(len(members), np.uint32)
    for owner in range(len(offsets) - 1):
        for i in range(offsets[owner], offsets[owner + 1]):
            place = cursor[members[i]]
            owners[place] = owner
            turned_counts[place] = counts[i]
            cursor[members[i]] = place + 1
    return turned_offsets, owners, turned_counts


@compiled
def gather_strings(content: Array, offsets: Array, order: Array) -> tuple[Array, Array]:
    """The strings at `order`, as new bytes and offsets."""
    new_offsets = np.zeros(len(order) + 1, np.int64)
    for i in range(len(order)):
        new_offsets[i + 1] = new_offsets[i] + offsets[order[i] + 1] - offsets[order[i]]
    new_content = np.empty(new_offsets[-1], np.uint8)
    for i in range(len(order)):
        start = offsets[order[i]]
        target = new_offsets[i]
        for k in range(new_offsets[i + 1] - target):
            new_content[target + k] = content[start + k]
    return new_content, new_offsets


@compiled
def count_leading(hashes: Array, counts: Array) -> None:
    """Count hashes by their leading bits, of which `counts`, one place longer than a power of two, says how many.

    Counts stand one place to the right, so that their running sum says where each part begins.
    """
    shift = _shift_for(counts)
    for i in range(len(hashes)):
        counts[int64(hashes[i] >> shift) + 1] += 1


@compiled
def _shift_for(starts: Array) -> Any:
    """By how much a hash is shifted to leave the bits that `starts` is about."""
    bits = 0
    while 1 << bits < len(starts) - 1:
        bits += 1
    return np.uint64(64 - bits)


@compiled
def _first_not_below(hashes: Array, place: int, value: Any) -> int:
    """The first place from this one on whose hash is not below the value: a few steps away."""
    while place < len(hashes) and hashes[place] < value:
        place += 1
    return place


@compiled
def _same_bytes(one: Array, one_start: int, other: Array, other_start: int, length: int) -> bool:
    k = 0
    while k < length and one[one_start + k] == other[other_start + k]:
        k += 1
    return k == length


@compiled
def find_tokens(
    starts: Array,
    hashes: Array,
    ids: Array,
    content: Array,
    offsets: Array,
    asked_hashes: Array,
    asked: Array,
    asked_offsets: Array,
) -> Array:
    """The id of each asked token, or -1. Where 64-bit hashes meet, the bytes decide.

    A look-up visits five arrays at random places, and a decision about one, guessed wrongly by the processor, would
    keep it from asking the memory for the next. So some tokens at a time go from array to array in loops without
    decisions: many places are asked for at once, and have come when it is decided.
    """
    number = len(asked_hashes)
    found = np.full(number + 1, -1, np.int64)
    if len(hashes) == 0:
        return found[:number]
    shift, last, end = _shift_for(starts), len(hashes) - 1, max(len(content) - 1, 0)
    places, begins = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    touched = np.uint64(0)
    for first in range(0, number, _AT_ONCE):
        block = asked_hashes[first : first + _AT_ONCE]
        for i in range(len(block)):
            places[i] = starts[int64(block[i] >> shift)]
        for i in range(len(block)):
            touched ^= hashes[min(places[i], last)] ^ np.uint64(ids[min(places[i], last)])
        for i in range(len(block)):
            places[i] = _first_not_below(hashes, places[i], block[i])
        for i in range(len(block)):
            begins[i] = offsets[ids[min(places[i], last)]]
        for i in range(len(block)):
            touched ^= np.uint64(content[min(begins[i], end)])
        for i in range(len(block)):
            place, at = places[i], first + i
            length = asked_offsets[at + 1] - asked_offsets[at]
            while place <= last and hashes[place] == block[i]:
                begin = offsets[ids[place]]
                same_length = offsets[ids[place] + 1] - begin == length
                if same_length and _same_bytes(content, begin, asked, asked_offsets[at], length):
                    found[at] = ids[place]
                    break
                place += 1
    found[number] = touched  # what is read ahead has to go somewhere, or it would not be read
    return found[:number]
