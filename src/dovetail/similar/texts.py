"""Texts as words and as weighted bags of words and trigrams: arrays, so that a million texts stay inside memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array
from dovetail.normalise import characters

_LEAST_BITS, _MOST_BITS = 16, 24  # of the numbers of tokens, which are hashes: few fall together
_ROOM = 8  # numbers for each token that there may be


@dataclass(frozen=True)
class Words:
    """The words of texts, without accents and case, end to end."""

    codes: Array
    starts: Array  # of each word in codes, and the end of the last
    first: Array  # of each text, the first of its words, and the end of the last's
    hashes: Array  # of each word, 64 bits

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True)
class Bags:
    """For each text its distinct tokens, rare ones first, and the length of their weights."""

    starts: Array
    tokens: Array
    lengths: Array


@dataclass(frozen=True)
class Weighed:
    """Two sides whose tokens mean the same: weights are inverse document frequencies over both."""

    sides: tuple[Bags, Bags]
    weights: Array  # by token, falling
    word_weights: tuple[Array, Array]  # of each word of either side


def words_of(texts: Sequence[str]) -> Words:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    raw = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return Words(*_cut(raw, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), *characters()))


def weigh(left: Words, right: Words) -> Weighed:
    """What is common says little: log(1 + texts / texts with the token)."""
    room = _ROOM * (len(left.codes) + len(right.codes) + 1)
    bits = min(max(_LEAST_BITS, room.bit_length()), _MOST_BITS)
    cut = [_tokens(side.codes, side.starts, side.first, side.hashes, bits) for side in (left, right)]
    counts = np.sum([np.bincount(tokens, minlength=1 << bits) for _, tokens in cut], axis=0)
    by_rarity = np.argsort(np.where(counts == 0, np.iinfo(np.int64).max, counts), kind="stable")
    used = int(np.count_nonzero(counts))
    ranks = np.empty(1 << bits, np.uint32)
    ranks[by_rarity] = np.arange(1 << bits, dtype=np.uint32)
    weights = np.log1p((len(left) + len(right)) / counts[by_rarity[:used]]).astype(np.float32)
    bags = [_bags(starts, tokens, ranks, weights) for starts, tokens in cut]
    of_words = [weights[ranks[_numbers(side.hashes, bits)]] for side in (left, right)]
    return Weighed((bags[0], bags[1]), weights, (of_words[0], of_words[1]))


def _bags(starts: Array, tokens: Array, ranks: Array, weights: Array) -> Bags:
    ranked = ranks[tokens]
    lengths = np.empty(len(starts) - 1, np.float32)
    _sort(starts, ranked, weights, lengths)
    return Bags(starts, ranked, lengths)


def _numbers(hashes: Array, bits: int) -> Array:
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


@compiled
def _cut(raw: Array, offsets: Array, folded: Array, kinds: Array) -> tuple[Array, Array, Array, Array]:
    """Words are runs of letters and digits."""
    codes = np.empty(len(raw), np.uint32)
    first = np.zeros(len(offsets), np.int64)
    ends = np.empty(len(raw) + 1, np.int64)
    size, words = 0, 0
    for text in range(len(offsets) - 1):
        begun = size
        for place in range(offsets[text], offsets[text + 1] + 1):
            code = raw[place] if place < offsets[text + 1] else np.uint32(0)
            if code >= len(kinds) or kinds[code]:
                codes[size] = code if code >= len(folded) else folded[code]
                size += 1
            elif size > begun:
                words += 1
                ends[words] = size
                begun = size
        first[text + 1] = words
    ends[0] = 0
    starts = ends[: words + 1].copy()
    hashes = np.empty(words, np.uint64)
    for word in range(words):
        value = np.uint64(14695981039346656037)
        for place in range(starts[word], starts[word + 1]):
            value = (value ^ np.uint64(codes[place])) * np.uint64(1099511628211)
        hashes[word] = _mixed(value)
    return codes[:size].copy(), starts, first, hashes


@compiled
def _mixed(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(18397679294719823053)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(14181476777654086739)
    return value ^ (value >> np.uint64(33))


@compiled
def _tokens(codes: Array, word_starts: Array, first: Array, hashes: Array, bits: int) -> tuple[Array, Array]:
    """The distinct numbers of each text's words, and of the trigrams of its words with single spaces around them."""
    starts = np.zeros(len(first), np.int64)
    found = np.empty(len(codes) + 3 * len(hashes) + 1, np.uint32)
    shift = np.uint64(64 - bits)
    size = 0
    for text in range(len(first) - 1):
        begun = size
        a, b = np.uint64(0), np.uint64(0)
        for word in range(first[text], first[text + 1]):
            found[size] = hashes[word] >> shift
            size += 1
            for place in range(word_starts[word] - 1, word_starts[word + 1]):
                c = np.uint64(codes[place]) if place >= word_starts[word] else np.uint64(32)
                if a and b:
                    found[size] = _mixed((a << np.uint64(42)) | (b << np.uint64(21)) | c) >> shift
                    size += 1
                a, b = b, c
        if b:
            found[size] = _mixed((a << np.uint64(42)) | (b << np.uint64(21)) | np.uint64(32)) >> shift
            size += 1
        found[begun:size].sort()
        kept = begun
        for place in range(begun, size):
            if place == begun or found[place] != found[place - 1]:
                found[kept] = found[place]
                kept += 1
        size = kept
        starts[text + 1] = size
    return starts, found[:size].copy()


@compiled
def _sort(starts: Array, tokens: Array, weights: Array, lengths: Array) -> None:
    for text in range(len(starts) - 1):
        tokens[starts[text] : starts[text + 1]].sort()
        total = np.float32(0)
        for place in range(starts[text], starts[text + 1]):
            total += weights[tokens[place]] ** 2
        lengths[text] = np.sqrt(total)
