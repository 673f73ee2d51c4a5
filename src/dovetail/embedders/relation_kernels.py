"""Kernels: the words of texts as sets of hashes, and how the words of two texts relate."""

from __future__ import annotations

import numpy as np

from dovetail._byte_kernels import decode_character
from dovetail._compile import compiled
from dovetail._types import Array
from dovetail.embedders.ngram_kernels import kind_of

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # of SplitMix64
_SHIFT = np.uint64(31)

OTHER_WORDS, SOME_WORDS, ONE_OF_SEVERAL, ALL_WORDS, EQUAL = range(5)
"""No word in common; some, and each text has others too; one text is a single word, one of several of the other; the
other texts whose words are all words of the other text; the same text."""


@compiled
def hash_words(content: Array, offsets: Array) -> tuple[Array, Array]:
    """For each text where its words begin, and the hashes of its distinct words, ascending."""
    texts = len(offsets) - 1
    starts = np.zeros(texts + 1, np.int64)
    hashes = np.empty((offsets[texts] - offsets[0]) // 2 + texts, np.uint64)  # a word and what separates it
    end_of_all = 0
    for text in range(texts):
        first = end_of_all
        place, end = offsets[text], offsets[text + 1]
        word, letters = np.uint64(0), 0
        while place < end:
            character, width = decode_character(content, place)
            place += width
            kind = kind_of(character)
            if kind > 0:
                word = ((word ^ np.uint64(character)) * _FACTOR) ^ (word >> _SHIFT)
                letters += 1
            if letters > 0 and (kind == 0 or place >= end):
                end_of_all = _add(hashes, first, end_of_all, word * _MIX)
                word, letters = np.uint64(0), 0
        starts[text + 1] = end_of_all
    return starts, hashes[:end_of_all].copy()


@compiled
def _add(hashes: Array, first: int, end: int, word: np.uint64) -> int:
    """Insert a word into the ascending ones from `first` to `end`, unless it is there; returns the new end."""
    at = end
    while at > first and hashes[at - 1] > word:
        at -= 1
    if at > first and hashes[at - 1] == word:
        return end
    for place in range(end, at, -1):
        hashes[place] = hashes[place - 1]
    hashes[at] = word
    return end + 1


@compiled
def relate(
    a_starts: Array, a_words: Array, a_texts: Array, a_rows: Array,
    b_starts: Array, b_words: Array, b_texts: Array, b_rows: Array,
) -> Array:  # fmt: skip
    """How the words of pairs of texts relate. `a_texts` and `b_texts` are hashes of the whole texts."""
    found = np.empty(len(a_rows), np.uint8)
    for pair in range(len(a_rows)):
        a, b = a_rows[pair], b_rows[pair]
        i, i_end = a_starts[a], a_starts[a + 1]
        j, j_end = b_starts[b], b_starts[b + 1]
        mine, theirs, shared = i_end - i, j_end - j, 0
        while i < i_end and j < j_end:
            left, right = a_words[i], b_words[j]
            shared += left == right
            i += left <= right
            j += right <= left
        if a_texts[a] == b_texts[b]:
            found[pair] = EQUAL
        elif shared == 0:
            found[pair] = OTHER_WORDS
        elif shared < min(mine, theirs):
            found[pair] = SOME_WORDS
        elif shared == 1 and mine != theirs:
            found[pair] = ONE_OF_SEVERAL
        else:
            found[pair] = ALL_WORDS
    return found
