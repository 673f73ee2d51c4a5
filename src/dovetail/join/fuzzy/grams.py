"""Texts as weighted bags of words and trigrams, and an inverted index over them: neighbours without a dense matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail._compile import compiled
from dovetail.normalise import plain

Array = npt.NDArray[Any]
_WORDS = re.compile(r"[^\W_]+")
_CANDIDATES = 16  # neighbours whose similarity is worked out in full
_BUDGET = 20_000  # postings that are read for one text, rare tokens first


def words(text: str) -> list[str]:
    return _WORDS.findall(plain(text))


def tokens_of(text: str) -> set[str]:
    """Words, told apart by a mark, and the trigrams of the words in a row."""
    found = words(text)
    padded = f" {' '.join(found)} "
    return {f"={word}" for word in found} | {padded[place : place + 3] for place in range(len(padded) - 2)}


@dataclass(frozen=True)
class Bags:
    """For each text its distinct tokens, numbered by rarity, and their weights, of Euclidean length 1."""

    starts: Array
    tokens: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.starts) - 1


def bags(sides: Sequence[Sequence[str]]) -> list[Bags]:
    """Weights are inverse document frequencies over all sides, so that what is common says little."""
    cut_sides = [[sorted(tokens_of(text)) for text in side] for side in sides]
    counts: dict[str, int] = {}
    for side in cut_sides:
        for tokens in side:
            for token in tokens:
                counts[token] = counts.get(token, 0) + 1
    total = sum(len(side) for side in sides)
    ranked = sorted(counts, key=lambda token: (counts[token], token))
    number = {token: place for place, token in enumerate(ranked)}
    idf = np.log1p(total / np.array([counts[token] for token in ranked] or [1]))
    return [_bags(side, number, idf) for side in cut_sides]


def _bags(side: Sequence[Sequence[str]], number: dict[str, int], idf: Array) -> Bags:
    starts = np.zeros(len(side) + 1, dtype=np.int64)
    np.cumsum([len(tokens) for tokens in side], out=starts[1:])
    tokens = np.concatenate([[], *(sorted(number[token] for token in bag) for bag in side)]).astype(np.int64)
    weights = idf[tokens]
    owner = np.repeat(np.arange(len(side)), np.diff(starts))
    lengths = np.sqrt(np.bincount(owner, weights=weights**2, minlength=len(side)))
    return Bags(starts, tokens, weights / np.maximum(lengths, 1e-12)[owner])


@dataclass(frozen=True)
class Neighbours:
    """The nearest text of the other side for each text (-1: none), how similar, and how similar the second is."""

    nearest: Array
    similarity: Array
    second: Array


def neighbours(queries: Bags, others: Bags) -> Neighbours:
    """By cosine similarity, worked out in full for the candidates that the rarest tokens bring."""
    size = int(max(queries.tokens.max(initial=-1), others.tokens.max(initial=-1))) + 1
    order = np.argsort(others.tokens, kind="stable")
    posting_starts = np.searchsorted(others.tokens[order], np.arange(size + 1))
    owners = np.repeat(np.arange(len(others)), np.diff(others.starts))[order]
    found = Neighbours(np.full(len(queries), -1), np.zeros(len(queries)), np.zeros(len(queries)))
    _nearest(
        queries.starts, queries.tokens, queries.weights, others.starts, others.tokens, others.weights,
        posting_starts, owners, others.weights[order], _BUDGET, _CANDIDATES,
        found.nearest, found.similarity, found.second,
    )  # fmt: skip
    return found


@compiled
def _nearest(
    q_starts: Any, q_tokens: Any, q_weights: Any, starts: Any, tokens: Any, weights: Any,
    posting_starts: Any, owners: Any, posting_weights: Any, budget: int, keep: int,
    nearest: Any, similarity: Any, second: Any,
) -> None:  # fmt: skip
    partial = np.zeros(len(starts) - 1)
    touched = np.empty(len(starts) - 1, dtype=np.int64)
    for query in range(len(q_starts) - 1):
        count, read = 0, 0
        for place in range(q_starts[query], q_starts[query + 1]):
            token = q_tokens[place]
            size = posting_starts[token + 1] - posting_starts[token]
            if read > 0 and read + size > budget:
                break
            read += size
            for posting in range(posting_starts[token], posting_starts[token + 1]):
                other = owners[posting]
                if partial[other] == 0.0:
                    touched[count] = other
                    count += 1
                partial[other] += q_weights[place] * posting_weights[posting]
        for _ in range(min(keep, count)):
            best = -1
            for k in range(count):
                if partial[touched[k]] > 0.0 and (best < 0 or partial[touched[k]] > partial[best]):
                    best = touched[k]
            if best < 0:
                break
            partial[best] = 0.0
            full = _product(
                q_tokens, q_weights, q_starts[query], q_starts[query + 1],
                tokens, weights, starts[best], starts[best + 1],
            )  # fmt: skip
            if full > similarity[query]:
                second[query] = similarity[query]
                similarity[query], nearest[query] = full, best
            elif full > second[query]:
                second[query] = full
        for k in range(count):
            partial[touched[k]] = 0.0


@compiled
def _product(a: Any, a_weights: Any, i: int, i_end: int, b: Any, b_weights: Any, j: int, j_end: int) -> float:
    total = 0.0
    while i < i_end and j < j_end:
        if a[i] == b[j]:
            total += a_weights[i] * b_weights[j]
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return total
