"""A kernel that finds words that are forms of one another."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

SHORTEST_FORM = 3  # letters that two forms have in common at least
_COMMON = 0.6  # share of the longer word that they have in common, unless one is the beginning of the other
_BEGINNING = 0.5  # what a beginning counts at least: a person who shortens a word wants it to be recognised


@compiled
def similar_words(offsets: Array, letters: Array) -> tuple[Array, Array, Array]:
    """Pairs of sorted words that begin alike, in both directions, and how similar they are; each word with itself."""
    number = len(offsets) - 1
    room = 4 * number + 16
    ones, others, shares = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    filled = 0
    for one in range(number):
        start, size = offsets[one], offsets[one + 1] - offsets[one]
        other = int64(one)
        while other < number:
            start_other, size_other = offsets[other], offsets[other + 1] - offsets[other]
            least, most = min(size, size_other), max(size, size_other)
            common = 0
            while common < least and letters[start + common] == letters[start_other + common]:
                common += 1
            if other > one and common < SHORTEST_FORM:
                break  # the words are sorted: no later one has more in common
            share = 1.0
            if other > one:
                share = common / most
                if common == least:
                    share = _BEGINNING + (1 - _BEGINNING) * share
                elif share < _COMMON:
                    share = 0.0
            if share > 0:
                if filled + 2 > room:
                    room *= 2
                    more_ones, more_others, more_shares = (
                        np.empty(room, np.int64),
                        np.empty(room, np.int64),
                        np.empty(room),
                    )
                    more_ones[:filled], more_others[:filled] = ones[:filled], others[:filled]
                    more_shares[:filled] = shares[:filled]
                    ones, others, shares = more_ones, more_others, more_shares
                ones[filled], others[filled], shares[filled] = one, other, share
                filled += 1
                if other > one:
                    ones[filled], others[filled], shares[filled] = other, one, share
                    filled += 1
            other += 1
    return ones[:filled], others[:filled], shares[:filled]
