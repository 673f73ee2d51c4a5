"""Kernels that pack whole numbers into few bits, and read them back one by one or run by run.

Numbers lie in blocks of 128 (frame of reference). A block stores how far each of its numbers is above the least of
them, in as many bits as the greatest distance takes, so that any number is read without those before it.

J. Goldstein, R. Ramakrishnan, U. Shaft: Compressing Relations and Indexes. ICDE 1998. doi:10.1109/ICDE.1998.655800.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, compiled_beside, inlined, int64
from dovetail._types import Array

BLOCK = 128
_BLOCK_BITS = 7
WIDTH_BITS = 6
WIDEST = (1 << WIDTH_BITS) - 1


class Packed(NamedTuple):
    """Whole numbers from 0 to below 2^63, packed. Kernels take it as it is."""

    heads: Array  # int64, two a block: the least number; the block's first word, and the bits of a number in the low 6
    words: Array  # uint64; one more than the numbers need, so that reading two at a time stays within
    length: int


@inlined
def bits_at(words: Array, bit: int, width: int) -> int:
    """The number in the bits from `bit` on, at most 63 of them."""
    word, shift = bit >> 6, np.uint64(bit & 63)
    after = min(word + 1, len(words) - 1)  # numbers of no bits may lie behind the last but one word
    low = words[word] >> shift
    high = (words[after] << np.uint64(1)) << (np.uint64(63) - shift)  # in two steps: all 64 bits may go
    return int64((low | high) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@inlined
def put_bits(words: Array, bit: int, number: int) -> None:
    """Write a number into bits that are zero."""
    word, shift = bit >> 6, np.uint64(bit & 63)
    words[word] |= np.uint64(number) << shift
    words[min(word + 1, len(words) - 1)] |= (np.uint64(number) >> np.uint64(1)) >> (np.uint64(63) - shift)


@inlined
def packed_at(packed: Packed, place: int) -> int:
    """The number at a place."""
    block = 2 * (place >> _BLOCK_BITS)
    width = packed.heads[block + 1] & WIDEST
    bit = ((packed.heads[block + 1] >> WIDTH_BITS) << 6) + (place & (BLOCK - 1)) * width
    return int64(packed.heads[block]) + bits_at(packed.words, bit, width)


def read_packed(packed: Packed, places: Array) -> Array:
    """The numbers at some places, by numpy."""
    places = places.astype(np.int64)
    block = 2 * (places >> _BLOCK_BITS)
    head = packed.heads[block + 1]
    width = head & WIDEST
    bit = ((head >> WIDTH_BITS) << 6) + (places & (BLOCK - 1)) * width
    word, shift = bit >> 6, (bit & 63).astype(np.uint64)
    after = np.minimum(word + 1, len(packed.words) - 1)
    low = packed.words[word] >> shift
    high = (packed.words[after] << np.uint64(1)) << (np.uint64(63) - shift)
    above: Array = (low | high) & ((np.uint64(1) << width.astype(np.uint64)) - np.uint64(1))
    numbers: Array = packed.heads[block] + above.astype(np.int64)
    return numbers


def _unpack(packed: Packed, first: int, last: int) -> Array:
    return read_packed(packed, np.arange(first, last))


def _sum_packed(packed: Packed, offsets: Array) -> Array:
    sums = np.append(0, np.cumsum(_unpack(packed, 0, packed.length)))
    return np.diff(sums[offsets.astype(np.int64)])


def _most_packed(packed: Packed) -> int:
    return int(_unpack(packed, 0, packed.length).max(initial=-1))


def _search_packed(packed: Packed, values: Array) -> Array:
    return np.searchsorted(_unpack(packed, 0, packed.length), values)


@compiled_beside(_unpack)
def unpack(packed: Packed, first: int, last: int) -> Array:
    """The numbers from `first` to below `last`."""
    heads, words = packed.heads, packed.words
    numbers = np.empty(max(last - first, 0), np.int64)
    place = first
    while place < last:
        block = place >> _BLOCK_BITS
        stop = min(last, (block + 1) << _BLOCK_BITS)
        least = heads[2 * block]
        width = heads[2 * block + 1] & WIDEST
        bit = ((heads[2 * block + 1] >> WIDTH_BITS) << 6) + (place & (BLOCK - 1)) * width
        for at in range(place - first, stop - first):
            numbers[at] = least + bits_at(words, bit, width)
            bit += width
        place = stop
    return numbers


@compiled_beside(read_packed)
def take_packed(packed: Packed, places: Array) -> Array:
    """The numbers at some places."""
    numbers = np.empty(len(places), np.int64)
    for i in range(len(places)):
        numbers[i] = packed_at(packed, int64(places[i]))
    return numbers


@compiled_beside(_sum_packed)
def sum_packed(packed: Packed, offsets: Array) -> Array:
    """The sum of the numbers of each run; run i lies between offsets i and i + 1."""
    sums = np.zeros(len(offsets) - 1, np.int64)
    for run in range(len(sums)):
        for place in range(offsets[run], offsets[run + 1]):
            sums[run] += packed_at(packed, int64(place))
    return sums


@compiled_beside(_most_packed)
def most_packed(packed: Packed) -> int:
    """The greatest number, or -1 where there is none."""
    most = int64(-1)
    for place in range(packed.length):
        most = max(most, packed_at(packed, place))
    return most


@compiled_beside(_search_packed)
def search_packed(packed: Packed, values: Array) -> Array:
    """For each value the first place in ascending numbers that is not below it: binary searches."""
    places = np.empty(len(values), np.int64)
    for i in range(len(values)):
        low, high = int64(0), int64(packed.length)
        while low < high:
            middle = (low + high) >> 1
            if packed_at(packed, middle) < values[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low
    return places


@compiled
def measure_blocks(numbers: Array, heads: Array) -> int:
    """Fill the heads of the blocks of these numbers, with words from 0 on; returns how many words they take."""
    words = int64(0)
    for block in range(len(heads) // 2):
        first = block * BLOCK
        least = int64(numbers[first])
        most = least
        for place in range(first + 1, min(first + BLOCK, len(numbers))):
            number = int64(numbers[place])
            least, most = min(least, number), max(most, number)
        width = int64(0)
        while (most - least) >> width:
            width += 1
        heads[2 * block] = least
        heads[2 * block + 1] = (words << WIDTH_BITS) | width
        words += 2 * width  # 128 numbers of so many bits
    return words


@compiled
def fill_blocks(numbers: Array, heads: Array, words: Array) -> None:
    """Write the numbers as their heads say; `words` must be zero."""
    for place in range(len(numbers)):
        block = 2 * (place >> _BLOCK_BITS)
        width = heads[block + 1] & WIDEST
        bit = ((heads[block + 1] >> WIDTH_BITS) << 6) + (place & (BLOCK - 1)) * width
        put_bits(words, bit, int64(numbers[place]) - heads[block])
