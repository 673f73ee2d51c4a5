"""Kernels over tokens, sets and posting lists, and those that merge buckets. Inputs are read-only C arrays.

Offsets were checked before. The compiled functions keep their plain Python form as `.py_func`, the oracle in tests.
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._search_kernels import same_run
from dovetail._types import Array
from dovetail.normalise.hash_kernels import P1, P2, rotate


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

    Returns the group of each token, an example token of each group, and the hash of each group's columns. A list of
    one column is known by the column; longer ones share a hash table, where the columns themselves decide.
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
            while slots[slot] >= 0 and not _same_lists(offsets, columns, example[slots[slot]], token):
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
def _same_lists(offsets: Array, columns: Array, one: int, other: int) -> bool:
    length = offsets[one + 1] - offsets[one]
    if offsets[other + 1] - offsets[other] != length:
        return False
    return same_run(columns, offsets[one], columns, offsets[other], length)


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
def merge_groups(
    order: Array, lengths: Array, firsts: Array, hashes: Array, starts: Array, columns: Array
) -> tuple[Array, Array]:
    """Number the groups of all buckets, in `order` of length, first column and hash; the same list, the same number.

    Group i has the columns from `starts[i]` on. Returns the number of each group, and an example group of each
    number. Where hashes collide, the columns decide.
    """
    numbers = np.empty(len(order), np.int64)
    examples = np.empty(len(order), np.int64)
    # Numbers given, and the first of those with the same length, first column and hash.
    found, first_same = 0, 0
    for i in range(len(order)):
        one = order[i]
        if i > 0:
            last = order[i - 1]
            if lengths[one] != lengths[last] or firsts[one] != firsts[last] or hashes[one] != hashes[last]:
                first_same = found
        number = first_same
        while number < found and not same_run(columns, starts[examples[number]], columns, starts[one], lengths[one]):
            number += 1
        if number == found:
            examples[found] = one
            found += 1
        numbers[one] = number
    return numbers, examples[:found]


@compiled
def take_lists(starts: Array, lengths: Array, members: Array, order: Array) -> tuple[Array, Array]:
    """The lists at `order`, as offsets and members."""
    offsets = np.zeros(len(order) + 1, np.int64)
    for i in range(len(order)):
        offsets[i + 1] = offsets[i] + lengths[order[i]]
    taken = np.empty(offsets[-1], members.dtype)
    for i in range(len(order)):
        for k in range(lengths[order[i]]):
            taken[offsets[i] + k] = members[starts[order[i]] + k]
    return offsets, taken


@compiled
def copy_runs(
    target: Array, target_offsets: Array, base: int, firsts: Array, content: Array, offsets: Array, locals_: Array
) -> None:
    """Copy a bucket's strings to where they belong in `target`, which begins at byte `base` of all content.

    Run i has the strings `locals_[i]` to `locals_[i + 1]` of the bucket; they become the strings from firsts[i] on.
    """
    for i in range(len(firsts)):
        at = target_offsets[firsts[i]] - base
        for k in range(offsets[locals_[i]], offsets[locals_[i + 1]]):
            target[at] = content[k]
            at += 1
