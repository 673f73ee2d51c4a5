"""Kernels that replace abbreviations in texts by their long forms."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array
from dovetail.normalise.hash_kernels import hash_bytes

ANY, FIRST, LATER, NUMBER = 0, 1, 2, 3  # where an abbreviation applies

_LONGEST = 31  # bytes of a short form: what the hash below takes


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
