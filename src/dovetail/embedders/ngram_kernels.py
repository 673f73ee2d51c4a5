"""Trigrams of the words of texts, hashed with a sign, so that what falls together cancels out on average."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array
from dovetail.normalise.hash_kernels import decode_character

_WITH_DIGIT = np.float32(1.75)
_PLAIN = np.float32(1.0)
_FEW = 64  # dimensions up to which insertion sort is used; arbitrary
_EDGE = np.uint64(1)  # before and after a word
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # of SplitMix64
_SHIFT = np.uint64(31)
_SIGN = np.uint64(60)
_ONE = np.uint64(1)


@compiled
def hash_ngrams(content: Array, offsets: Array, dimension: int) -> tuple[Array, Array, Array]:
    """For each text where its coordinates begin, and all dimensions and weights. `dimension` is a power of two."""
    texts = len(offsets) - 1
    longest = 0
    for row in range(texts):
        longest = max(longest, offsets[row + 1] - offsets[row])
    word = np.empty(longest + 2, np.uint64)
    sums = np.zeros(dimension, np.float32)
    dims = np.empty(dimension, np.int32)  # the dimensions of the text
    seen = np.zeros(dimension, np.bool_)
    starts = np.zeros(texts + 1, np.int64)
    # A trigram for each character, and one dimension for a text that has none.
    most = (offsets[texts] - offsets[0]) + texts
    dimensions = np.empty(most, np.int32)
    weights = np.empty(most, np.float32)
    end_of_all = 0
    for row in range(texts):
        count = _add_text(content, offsets[row], offsets[row + 1], word, sums, dims, seen)
        _sort(dims, count)
        end_of_all = _write(sums, dims[:count], end_of_all, dimensions, weights)
        for place in range(count):
            sums[dims[place]] = 0.0
            seen[dims[place]] = False
        starts[row + 1] = end_of_all
    return starts, dimensions[:end_of_all].copy(), weights[:end_of_all].copy()


@compiled
def _sort(dims: Array, count: int) -> None:
    """In place; by insertion, as most texts have few."""
    if count > _FEW:
        dims[:count] = np.sort(dims[:count])
        return
    for place in range(1, count):
        moved = dims[place]
        at = place
        while at > 0 and dims[at - 1] > moved:
            dims[at] = dims[at - 1]
            at -= 1
        dims[at] = moved


@compiled
def _write(sums: Array, dims: Array, at: int, dimensions: Array, weights: Array) -> int:
    """The coordinates of one text, brought to length 1. A text without features gets the first dimension."""
    square = 0.0
    for place in dims:
        square += np.float64(sums[place]) * np.float64(sums[place])
    if square == 0.0:
        dimensions[at] = 0
        weights[at] = 1.0
        return at + 1
    factor = 1.0 / np.sqrt(square)
    for place in dims:
        if sums[place] != 0.0:
            dimensions[at] = place
            weights[at] = np.float32(sums[place] * factor)
            at += 1
    return at


@compiled
def _add_text(content: Array, place: int, end: int, word: Array, sums: Array, dims: Array, seen: Array) -> int:
    """Add the features of a text to `sums`; returns how many dimensions it has."""
    count = 0
    size = 1
    digit = False
    while place < end:
        character, width = decode_character(content, place)
        place += width
        kind = kind_of(character)
        if kind == 0:
            if size > 1:
                count = _add_word(word, size, digit, sums, dims, seen, count)
            size, digit = 1, False
        elif kind > 0:
            word[size] = np.uint64(character)
            size += 1
            digit |= kind == 2
    if size > 1:
        count = _add_word(word, size, digit, sums, dims, seen, count)
    return count


@compiled
def kind_of(character: int) -> int:
    """1 for what words are made of, 2 for digits, 0 for separators, -1 for marks on the letter before."""
    if character < 0x80:
        if 0x30 <= character <= 0x39:
            return 2
        letter = 0x61 <= character <= 0x7A or 0x41 <= character <= 0x5A
        return 1 if letter else 0
    if 0x300 <= character <= 0x36F:
        return -1
    between = character <= 0xBF or 0x2000 <= character <= 0x206F or 0x3000 <= character <= 0x303F
    return 0 if between else 1


@compiled
def _add_word(word: Array, size: int, digit: bool, sums: Array, dims: Array, seen: Array, count: int) -> int:
    """The word is at 1 … size - 1; its trigrams reach over both edges."""
    weight = _WITH_DIGIT if digit else _PLAIN
    word[0] = _EDGE
    word[size] = _EDGE
    for place in range(1, size):
        trigram = (((word[place - 1] * _FACTOR) ^ word[place]) * _FACTOR) ^ word[place + 1]
        count = _add(trigram, weight, sums, dims, seen, count)
    return count


@compiled
def _add(feature: np.uint64, weight: np.float32, sums: Array, dims: Array, seen: Array, count: int) -> int:
    mixed = (feature ^ (feature >> _SHIFT)) * _MIX
    mixed ^= mixed >> _SHIFT
    mixed *= _FACTOR
    place = np.int64((mixed >> _SHIFT) & np.uint64(len(sums) - 1))
    if not seen[place]:
        seen[place] = True
        dims[count] = place
        count += 1
    if (mixed >> _SIGN) & _ONE:
        sums[place] += weight
    else:
        sums[place] -= weight
    return count
