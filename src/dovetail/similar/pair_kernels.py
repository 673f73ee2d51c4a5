"""Kernels that compare two texts word by word: what is the same, what is spelled differently, what is left over."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

# Chosen on half of the AutoFJ development sets, while the scores of the other half were seen (docs/benchmarks.md).
_LEAST_WORD_SIMILARITY = np.float32(0.4)  # words that share less are not matched
_INITIAL = np.float32(0.5)  # an initial and a word that begins with it
_PREFIX = np.float32(0.6)  # a word and one that begins with it
_LEAST_TYPED = 4  # letters of a word in which one may be wrong: short words differ in one letter anyway; arbitrary
_MOST_SPELLED = 16  # first words of a text whose spellings are compared; in a long text one misspelled word is little


@compiled
def words_left_out(first: Array, hashes: Array, most: int) -> tuple[Array, Array]:
    """For every word of every key: a hash of the other words, whatever their order, and the word."""
    rests, gone = np.empty(len(hashes), np.uint64), np.empty(len(hashes), np.uint64)
    size = 0
    for text in range(len(first) - 1):
        if not 1 < first[text + 1] - first[text] <= most:
            continue
        total = np.uint64(0)
        for word in range(first[text], first[text + 1]):
            total += hashes[word]
        for word in range(first[text], first[text + 1]):
            rests[size], gone[size] = total - hashes[word], hashes[word]
            size += 1
    return rests[:size], gone[:size]


@compiled
def word_pair(a: Any, b: Any) -> Any:
    """One number for two words, whatever their order."""
    return (a + b) ^ ((a ^ b) * np.uint64(11400714785074694791))


@compiled
def distinguishing_pairs(rests: Array, gone: Array, most: int) -> Array:
    found = np.empty(len(rests) * 4 + 64, np.uint64)
    size, begun = 0, 0
    for place in range(len(rests)):
        if rests[place] != rests[begun]:
            begun = place
        for other in range(begun, min(place, begun + most)):
            if gone[other] != gone[place] and size < len(found):
                found[size] = word_pair(gone[other], gone[place])
                size += 1
    return found[:size]


@compiled
def measure_pairs(
    candidates: Array, codes: Array, starts: Array, first: Array, hashes: Array, weights: Array,
    k_codes: Array, k_starts: Array, k_first: Array, k_hashes: Array, k_weights: Array, rules: Array, measured: Array,
) -> None:  # fmt: skip
    """What the words of a value and of each candidate have in common, and what not; see `MEASURED` in matching.py."""
    most = 1
    for text in range(len(first) - 1):
        most = max(most, first[text + 1] - first[text])
    for text in range(len(k_first) - 1):
        most = max(most, k_first[text + 1] - k_first[text])
    mine, theirs = np.empty(most, np.float32), np.empty(most, np.float32)
    similar = np.empty((_MOST_SPELLED, _MOST_SPELLED), np.float32)
    for text in range(len(candidates)):
        for place in range(candidates.shape[1]):
            key = candidates[text, place]
            if key < 0:
                break
            a, a_end, b, b_end = first[text], first[text + 1], k_first[key], k_first[key + 1]
            _align_words(a, a_end, b, b_end, codes, starts, hashes, k_codes, k_starts, k_hashes, mine, theirs, similar)
            here = _has_unmatched_number(a, a_end, codes, starts, mine)
            there = _has_unmatched_number(b, b_end, k_codes, k_starts, theirs)
            found = measured[text, place]
            found[0] = _unmatched_weight(a, a_end, weights, mine)
            found[1] = _unmatched_weight(b, b_end, k_weights, theirs)
            found[2] = here and there
            found[3] = here or there
            found[4] = _has_distinguishing_pair(a, a_end, b, b_end, hashes, k_hashes, mine, theirs, rules)
            found[5] = a_end > a and mine[0] > 0
            for word in range(a, a_end):
                matched = mine[word - a]
                found[6] += weights[word] * matched
                found[7] = max(found[7], weights[word] if matched == 1.0 else np.float32(0))
                found[8] = max(found[8], weights[word] * (np.float32(1) - matched))
                found[10] += 0 < matched < 1
            for word in range(b, b_end):
                found[9] = max(found[9], k_weights[word] * (np.float32(1) - theirs[word - b]))


@compiled
def _align_words(
    a: int, a_end: int, b: int, b_end: int, codes: Array, starts: Array, hashes: Array, k_codes: Array, k_starts: Array,
    k_hashes: Array, mine: Array, theirs: Array, similar: Array,
) -> None:  # fmt: skip
    """How well each word is matched by one of the other text, from 0 to 1: equal words first, then the most similar."""
    mine[: a_end - a] = 0.0
    theirs[: b_end - b] = 0.0
    for i in range(a, a_end):
        for j in range(b, b_end):
            if theirs[j - b] == 0.0 and hashes[i] == k_hashes[j]:
                mine[i - a] = theirs[j - b] = 1.0
                break
    a_end, b_end = min(a_end, a + _MOST_SPELLED), min(b_end, b + _MOST_SPELLED)
    for i in range(a, a_end):
        for j in range(b, b_end):
            if mine[i - a] == 0.0 and theirs[j - b] == 0.0:
                similar[i - a, j - b] = _word_similarity(
                    codes, starts[i], starts[i + 1], k_codes, k_starts[j], k_starts[j + 1]
                )
    while True:
        best, best_i, best_j = _LEAST_WORD_SIMILARITY, -1, -1
        for i in range(a_end - a):
            if mine[i] == 0.0:
                for j in range(b_end - b):
                    if theirs[j] == 0.0 and similar[i, j] > best:
                        best, best_i, best_j = similar[i, j], i, j
        if best_i < 0:
            return
        mine[best_i] = theirs[best_j] = best


@compiled
def _word_similarity(a: Array, i: int, i_end: int, b: Array, j: int, j_end: int) -> Any:
    """Dice's coefficient of two words' trigrams; more for a typing error, a beginning, an initial; 0 for numbers."""
    if a[i] - 48 < 10 or b[j] - 48 < 10:
        return np.float32(0)
    size, other = i_end - i, j_end - j
    common = 0
    for x in range(-1, size - 1):
        for y in range(-1, other - 1):
            same = True
            for k in range(3):
                c = a[i + x + k] if 0 <= x + k < size else np.uint32(32)
                d = b[j + y + k] if 0 <= y + k < other else np.uint32(32)
                if c != d:
                    same = False
                    break
            if same:
                common += 1
                break
    similar = np.float32(2 * common / (size + other))
    if min(size, other) >= _LEAST_TYPED and _one_edit_apart(a, i, i_end, b, j, j_end):
        similar = max(similar, np.float32(1 - 1 / max(size, other)))
    shorter = min(size, other)
    begins = True
    for k in range(shorter):
        if a[i + k] != b[j + k]:
            begins = False
            break
    if begins:
        return max(similar, _INITIAL if shorter == 1 else _PREFIX)
    return similar


@compiled
def _one_edit_apart(a: Array, i: int, i_end: int, b: Array, j: int, j_end: int) -> bool:
    """Whether one letter more, less or another, or two neighbours swapped, make one word of the other."""
    if i_end - i > j_end - j:
        return _one_edit_apart(b, j, j_end, a, i, i_end)
    if (j_end - j) - (i_end - i) > 1:
        return False
    while i < i_end and a[i] == b[j]:
        i += 1
        j += 1
    while i < i_end and a[i_end - 1] == b[j_end - 1]:
        i_end -= 1
        j_end -= 1
    mine, theirs = i_end - i, j_end - j
    return (mine <= 1 and theirs <= 1) or (mine == 2 and theirs == 2 and a[i] == b[j + 1] and a[i + 1] == b[j])


@compiled
def _unmatched_weight(a: int, a_end: int, weights: Array, matched: Array) -> Any:
    """The share of a text's words, by weight, that have no match."""
    total, alone = np.float32(1e-9), np.float32(0)
    for word in range(a, a_end):
        total += weights[word]
        alone += weights[word] * (np.float32(1) - matched[word - a])
    return alone / total


@compiled
def _has_unmatched_number(a: int, a_end: int, codes: Array, starts: Array, matched: Array) -> bool:
    """Whether a word with a digit has no match."""
    for word in range(a, a_end):
        if matched[word - a] == 0.0:
            for place in range(starts[word], starts[word + 1]):
                if codes[place] - 48 < 10:
                    return True
    return False


@compiled
def _has_distinguishing_pair(
    a: int, a_end: int, b: int, b_end: int, hashes: Array, k_hashes: Array, mine: Array, theirs: Array, rules: Array
) -> bool:
    """Whether an unmatched word of one and an unmatched word of the other distinguish two keys."""
    for i in range(a, a_end):
        for j in range(b, b_end):
            if mine[i - a] < 1.0 and theirs[j - b] < 1.0:
                pair = word_pair(hashes[i], k_hashes[j])
                at = np.searchsorted(rules, pair)
                if at < len(rules) and rules[at] == pair:
                    return True
    return False
