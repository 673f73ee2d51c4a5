"""Kernels over words of texts: abbreviations are replaced by their long forms, and words as sets of hashes related."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array
from dovetail.embedders.ngram_kernels import kind_of
from dovetail.normalise.hash_kernels import decode_character, hash_bytes

ANY, FIRST, LATER, NUMBER = 0, 1, 2, 3  # where an abbreviation applies

_LONGEST = 31  # bytes of a short form: what the hash below takes
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # of SplitMix64
_SHIFT = np.uint64(31)

OTHER_WORDS, SOME_WORDS, ONE_OF_SEVERAL, ALL_WORDS, EQUAL = range(5)
"""No word in common; some, and each text has others too; one text is a single word, one of several of the other; the
other texts whose words are all words of the other text; the same text."""


@compiled
def expand(
    content: Array, offsets: Array, hashes: Array, where: Array, longs: Array, long_offsets: Array
) -> tuple[Array, Array]:
    """The texts with their abbreviations written out. A full stop after one is left out."""
    longest = 0
    for place in range(len(long_offsets) - 1):
        longest = max(longest, long_offsets[place + 1] - long_offsets[place])
    texts = len(offsets) - 1
    room = offsets[texts] - offsets[0]
    out = np.empty(room + room // 2 + longest + 64, np.uint8)
    out_offsets = np.zeros(texts + 1, np.int64)
    end = 0
    for text in range(texts):
        at, stop = offsets[text], offsets[text + 1]
        # At most every second byte is a short form.
        most = (stop - at) + ((stop - at) // 2 + 1) * longest
        if end + most > len(out):
            more = np.empty(2 * len(out) + most, np.uint8)
            more[:end] = out[:end]
            out = more
        first, digit_before = True, False
        while at < stop:
            if not _in_word(content[at]):
                out[end] = content[at]
                end += 1
                at += 1
                continue
            word_end, digit = _word(content, at, stop)
            digit_after = _digit_in_next(content, word_end, stop)
            found = -1
            if not digit:
                found = _find(content, at, word_end, hashes, where, first, digit_before or digit_after)
            if found >= 0:
                for place in range(long_offsets[found], long_offsets[found + 1]):
                    out[end] = longs[place]
                    end += 1
                if word_end < stop and content[word_end] == 0x2E:
                    word_end += 1
            else:
                for place in range(at, word_end):
                    out[end] = content[place]
                    end += 1
            at = word_end
            first, digit_before = False, digit
        out_offsets[text + 1] = end
    return out[:end].copy(), out_offsets


@compiled
def _in_word(byte: int) -> bool:
    return byte >= 0x80 or 0x30 <= byte <= 0x39 or 0x61 <= byte <= 0x7A or 0x41 <= byte <= 0x5A


@compiled
def _word(content: Array, at: int, stop: int) -> tuple[int, bool]:
    """Where the word that begins here ends, and whether it has a digit."""
    digit = False
    while at < stop and _in_word(content[at]):
        digit |= 0x30 <= content[at] <= 0x39
        at += 1
    return at, digit


@compiled
def _digit_in_next(content: Array, at: int, stop: int) -> bool:
    while at < stop and not _in_word(content[at]):
        at += 1
    return _word(content, at, stop)[1]


@compiled
def _find(content: Array, at: int, stop: int, hashes: Array, where: Array, first: bool, beside: bool) -> int:
    """The abbreviation that this word is here, or -1. What holds in one place only comes before what holds anywhere."""
    if stop - at > _LONGEST:
        return -1
    sought = hash_bytes(content, at, stop)
    place = int64(np.searchsorted(hashes, sought))
    found = -1
    while place < len(hashes) and hashes[place] == sought:
        rule = where[place]
        if (rule == FIRST and first) or (rule == LATER and not first) or (rule == NUMBER and beside):
            return place
        if rule == ANY:
            found = place
        place += 1
    return found


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
