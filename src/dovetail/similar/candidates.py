"""The likeliest texts of the other side for each text, through an inverted index: no dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array
from dovetail.similar.texts import Bags, Weighed

CANDIDATES = 12  # for each text
_BUDGET = 5_000  # postings that are read for one text, rare tokens first: what is everywhere is not read


def nearest(weighed: Weighed, blocks: tuple[Array, Array]) -> tuple[Array, Array]:
    """For each text of the first side the candidates of the second (-1: none), and their cosine similarity.

    Only texts of the same block are compared.
    """
    queries, others = weighed.sides
    found = np.full((len(queries.starts) - 1, CANDIDATES), -1, np.int32)
    similarity = np.zeros(found.shape, np.float32)
    posting_starts, owners = _postings(others.starts, others.tokens, len(weighed.weights))
    _nearest(
        queries.starts, queries.tokens, queries.lengths, others.starts, others.tokens, others.lengths,
        weighed.weights, posting_starts, owners, *blocks, _BUDGET, found, similarity,
    )  # fmt: skip
    return found, similarity


def same_block(bags: tuple[Bags, Bags]) -> tuple[Array, Array]:
    """All texts may be compared with all."""
    return np.zeros(len(bags[0].starts) - 1, np.int64), np.zeros(len(bags[1].starts) - 1, np.int64)


@compiled
def _postings(starts: Array, tokens: Array, size: int) -> tuple[Array, Array]:
    """For every token the texts that have it."""
    offsets = np.zeros(size + 1, np.int64)
    for place in range(len(tokens)):
        offsets[tokens[place] + 1] += 1
    for token in range(size):
        offsets[token + 1] += offsets[token]
    at = offsets.copy()
    owners = np.empty(len(tokens), np.int32)
    for text in range(len(starts) - 1):
        for place in range(starts[text], starts[text + 1]):
            owners[at[tokens[place]]] = text
            at[tokens[place]] += 1
    return offsets, owners


@compiled
def _nearest(
    q_starts: Array, q_tokens: Array, q_lengths: Array, starts: Array, tokens: Array, lengths: Array, weights: Array,
    posting_starts: Array, owners: Array, q_blocks: Array, blocks: Array, budget: int, found: Array, similarity: Array,
) -> None:  # fmt: skip
    partial = np.zeros(len(starts) - 1, np.float32)
    touched = np.empty(len(starts) - 1, np.int64)
    keep = found.shape[1]
    best = np.empty(keep, np.float32)
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
                partial[other] += weights[token] ** 2
        kept = 0
        for k in range(count):
            other = touched[k]
            score = partial[other] / lengths[other]
            partial[other] = 0.0
            if (kept < keep or score > best[kept - 1]) and blocks[other] == q_blocks[query]:
                at = kept if kept < keep else keep - 1
                while at > 0 and best[at - 1] < score:
                    best[at], found[query, at] = best[at - 1], found[query, at - 1]
                    at -= 1
                best[at], found[query, at] = score, other
                kept = min(kept + 1, keep)
        for k in range(kept):
            other = found[query, k]
            full = _product(
                q_tokens, q_starts[query], q_starts[query + 1], tokens, starts[other], starts[other + 1], weights
            )
            similarity[query, k] = full / (q_lengths[query] * lengths[other])


@compiled
def _product(a: Array, i: int, i_end: int, b: Array, j: int, j_end: int, weights: Array) -> Any:
    total = np.float32(0)
    while i < i_end and j < j_end:
        if a[i] == b[j]:
            total += weights[a[i]] ** 2
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return total
