"""Kernels that look tokens up and find the groups that they are in: what every search over posting lists begins with.

Inputs are read-only C arrays; offsets were checked before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail._compile import compiled, compiled_beside, int64
from dovetail._search_kernels import gallop
from dovetail._storage.packing_kernels import Packed, packed_at
from dovetail._storage.symbol_kernels import Symbols, read_some, same_text
from dovetail._types import Array

_DIGIT = 11  # bits: the counts of one pass fit into the nearest cache
_FEW = 256


_AT_ONCE = 512  # tokens looked up together: what they touch fits into a near cache


def _spread(groups: Array, group_tokens: Array) -> Array:
    groups = groups.astype(np.int64)
    firsts, sizes = group_tokens[groups], group_tokens[groups + 1] - group_tokens[groups]
    begins = np.cumsum(sizes) - sizes
    tokens: Array = np.repeat(firsts - begins, sizes) + np.arange(sizes.sum())
    return tokens.astype(np.uint32)


@compiled_beside(_spread)
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
def count_leading(hashes: Array, counts: Array) -> None:
    """Count hashes by their leading bits, of which `counts`, one place longer than a power of two, says how many.

    Counts are shifted one place to the right, so that their running sum is where each part begins.
    """
    shift = _shift_for(counts)
    for i in range(len(hashes)):
        counts[int64(hashes[i] >> shift) + 1] += 1


@compiled
def _shift_for(starts: Array) -> Any:
    """By how much a hash is shifted to leave the leading bits that `starts` counts."""
    bits = 0
    while 1 << bits < len(starts) - 1:
        bits += 1
    return np.uint64(64 - bits)


class HashTable(NamedTuple):
    """Tokens by hash. An entry has the id in its low bits, and above it the bits of the hash below the leading ones."""

    starts: Array
    entries: Array
    id_bits: int


def tags_of(hashes: Array, parts: int, id_bits: int) -> Array:
    """The bits of some hashes that entries keep: those below the leading ones, by which there are so many parts."""
    below = (hashes << np.uint64(parts.bit_length() - 1)) >> np.uint64(1)
    tags: Array = (below >> np.uint64(31 + id_bits)).astype(np.uint32)  # in two steps: all 64 bits may go
    return tags


def _find_tokens(
    table: HashTable,
    codes: Array,
    token_starts: Packed,
    symbols: Symbols,
    query_hashes: Array,
    query: Array,
    query_offsets: Array,
) -> Array:
    found = np.full(len(query_hashes), -1, np.int64)
    if len(table.entries) == 0:
        return found
    id_bits, parts = np.uint32(table.id_bits), len(table.starts) - 1
    part = (query_hashes >> np.uint64(65 - parts.bit_length())).astype(np.int64)
    places, stops = table.starts[part].astype(np.int64), table.starts[part + 1].astype(np.int64)
    tags = tags_of(query_hashes, parts, table.id_bits)
    left = np.flatnonzero(places < stops)
    while len(left):
        tag_there = table.entries[places[left]] >> id_bits
        same = left[tag_there == tags[left]]
        ids = (table.entries[places[same]] & np.uint32((1 << table.id_bits) - 1)).astype(np.int64)
        content, offsets = read_some(codes, token_starts, symbols, ids)
        for i, at in enumerate(same.tolist()):
            mine = query[query_offsets[at] : query_offsets[at + 1]]
            if mine.tobytes() == content[offsets[i] : offsets[i + 1]].tobytes():
                found[at] = ids[i]
        places[left] += 1
        left = left[(tag_there <= tags[left]) & (found[left] < 0) & (places[left] < stops[left])]
    return found


@compiled_beside(_find_tokens)
def find_tokens(
    table: HashTable,
    codes: Array,
    token_starts: Packed,
    symbols: Symbols,
    query_hashes: Array,
    query: Array,
    query_offsets: Array,
) -> Array:
    """The id of each token, or -1. What the hash table leaves open, the bytes decide.

    A look-up visits five arrays at random places, and a mispredicted branch would keep the processor from fetching the
    next. So some tokens at a time go from array to array in loops without branches: many cache lines are fetched at
    once, and are there when the branch is taken.
    """
    number = len(query_hashes)
    found = np.full(number + 1, -1, np.int64)
    if len(table.entries) == 0:
        return found[:number]
    starts, entries = table.starts, table.entries
    shift, last, end = _shift_for(starts), len(entries) - 1, max(len(codes) - 1, 0)
    id_bits, id_mask = np.uint32(table.id_bits), np.uint32((1 << table.id_bits) - 1)
    to_tag = np.uint64(31 + table.id_bits)
    places, stops, begins = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    tags = np.empty(_AT_ONCE, np.uint32)
    touched = np.uint64(0)
    for first in range(0, number, _AT_ONCE):
        block = query_hashes[first : first + _AT_ONCE]
        for i in range(len(block)):
            part = int64(block[i] >> shift)
            places[i], stops[i] = starts[part], starts[part + 1]
            tags[i] = ((block[i] << (np.uint64(64) - shift)) >> np.uint64(1)) >> to_tag
        for i in range(len(block)):
            touched ^= np.uint64(entries[min(places[i], last)])
        for i in range(len(block)):
            place, stop, tag = places[i], stops[i], tags[i]
            while place < stop and entries[place] >> id_bits < tag:
                place += 1
            places[i] = place
        for i in range(len(block)):
            begins[i] = packed_at(token_starts, int64(entries[min(places[i], last)] & id_mask))
        for i in range(len(block)):
            touched ^= np.uint64(codes[min(begins[i], end)])
        for i in range(len(block)):
            place, at = places[i], first + i
            while place < stops[i] and entries[place] >> id_bits == tags[i]:
                token = int64(entries[place] & id_mask)
                begin, stop = packed_at(token_starts, token), packed_at(token_starts, token + 1)
                if same_text(codes, begin, stop, symbols, query, query_offsets[at], query_offsets[at + 1]):
                    found[at] = token
                    break
                place += 1
    found[number] = touched  # what is read ahead has to go somewhere, or it would not be read
    return found[:number]


@compiled
def ascending(ids: Array, bound: int) -> Array:
    """The ids below `bound`, ascending, without those that are -1. A radix sort: queries may have 100,000 tokens."""
    known = 0
    items = np.empty(len(ids), np.uint32)
    for i in range(len(ids)):
        items[known] = ids[i]
        known += ids[i] >= 0
    items = items[:known]
    if known < _FEW:
        items.sort()
        return items
    moved = np.empty(known, np.uint32)
    mask = np.uint32((1 << _DIGIT) - 1)
    shift = 0
    while bound >> shift:
        starts = np.zeros((1 << _DIGIT) + 1, np.int64)
        for i in range(known):
            starts[((items[i] >> np.uint32(shift)) & mask) + 1] += 1
        for digit in range(1 << _DIGIT):
            starts[digit + 1] += starts[digit]
        for i in range(known):
            digit = (items[i] >> np.uint32(shift)) & mask
            moved[starts[digit]] = items[i]
            starts[digit] += 1
        items, moved = moved, items
        shift += _DIGIT
    return items


@compiled
def weigh_groups(ids: Array, group_tokens: Array) -> tuple[Array, Array]:
    """The groups of ascending token ids, which may be repeated, and how many distinct ids each group has."""
    groups = np.empty(len(ids), np.int64)
    weights = np.empty(len(ids), np.int64)
    found = 0
    group = 0
    for i in range(len(ids)):
        if i > 0 and ids[i] == ids[i - 1]:
            continue
        if found == 0 or ids[i] >= group_tokens[group + 1]:
            group = gallop(group_tokens, group, len(group_tokens), ids[i] + 1) - 1
            groups[found] = group
            weights[found] = 0
            found += 1
        weights[found - 1] += 1
    return groups[:found], weights[:found]
