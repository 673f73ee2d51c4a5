"""Texts as words and as weighted bags of words and trigrams: arrays, so that a million texts fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.normalise import characters
from dovetail.similar.text_kernels import nearest_texts, posting_lists, sort_bags, split_words, token_numbers

# Tokens are known by a hash of so many bits: enough that few collide, few enough for an array of all of them.
_LEAST_BITS, _MOST_BITS = 16, 24
_ROOM = 4  # hash values for each character: several for each distinct token
CANDIDATES = 12  # of each text; chosen with the margin of matching.py
SLICE = 2_000  # texts that are compared at once; arbitrary, a fraction of a second
_POSTINGS = 5_000  # read for one text, rare tokens first: a token that is everywhere is not read


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
    """The distinct tokens of each text, rare ones first, and the norm of their weights."""

    starts: Array
    tokens: Array
    lengths: Array

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True)
class WeightedTexts:
    """Two lists of texts with common tokens; the weights are inverse document frequencies over both."""

    sides: tuple[Bags, Bags]
    weights: Array  # by token, falling
    word_weights: tuple[Array, Array]  # of each word of either side


def words_of(texts: Sequence[str]) -> Words:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    raw = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return Words(*split_words(raw, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), *characters()))


def weigh(left: Words, right: Words) -> WeightedTexts:
    """The weight of a token is log(1 + texts / texts that have it)."""
    room = _ROOM * (len(left.codes) + len(right.codes) + 1)
    bits = min(max(_LEAST_BITS, room.bit_length()), _MOST_BITS)
    cut = [token_numbers(side.codes, side.starts, side.first, side.hashes, bits) for side in (left, right)]
    counts = np.bincount(cut[0][1], minlength=1 << bits)
    counts += np.bincount(cut[1][1], minlength=1 << bits)
    used = np.flatnonzero(counts)
    by_rarity = used[np.argsort(counts[used], kind="stable")]
    ranks = np.empty(1 << bits, np.uint32)
    ranks[by_rarity] = np.arange(len(by_rarity), dtype=np.uint32)
    weights = np.log1p((len(left) + len(right)) / counts[by_rarity]).astype(np.float32)
    bags = [_bags(starts, tokens, ranks, weights) for starts, tokens in cut]
    of_words = [weights[ranks[_numbers(side.hashes, bits)]] for side in (left, right)]
    return WeightedTexts((bags[0], bags[1]), weights, (of_words[0], of_words[1]))


def _bags(starts: Array, tokens: Array, ranks: Array, weights: Array) -> Bags:
    ranked = ranks[tokens]
    lengths = np.empty(len(starts) - 1, np.float32)
    sort_bags(starts, ranked, weights, lengths)
    return Bags(starts, ranked, lengths)


def _numbers(hashes: Array, bits: int) -> Array:
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


def nearest(
    texts: WeightedTexts, blocks: tuple[Array, Array] | None = None, between: tuple[int, int] | None = None
) -> Iterator[tuple[slice, Array, Array]]:
    """For each text of the first side its candidates of the second (-1: none), and their cosine similarity.

    Some texts at a time, `SLICE` of them; `between` limits it to those from one on and before another.
    With `blocks`, only texts with the same block number are compared. No dense matrix is made: candidates come from
    the posting lists of a text's rarest tokens.
    """
    queries, others = texts.sides
    of_block = blocks or (np.zeros(len(queries), np.int64), np.zeros(len(others), np.int64))
    posting_starts, owners = posting_lists(others.starts, others.tokens, len(texts.weights))
    first, end = between or (0, len(queries))
    for begin in range(first, end, SLICE):
        rows = slice(begin, min(begin + SLICE, end))
        found = np.full((rows.stop - begin, CANDIDATES), -1, np.int32)
        similarity = np.zeros(found.shape, np.float32)
        nearest_texts(
            queries.starts[begin : rows.stop + 1], queries.tokens, queries.lengths[rows], others.starts, others.tokens,
            others.lengths, texts.weights, posting_starts, owners, of_block[0][rows], of_block[1], _POSTINGS, found,
            similarity,
        )  # fmt: skip
        yield rows, found, similarity
