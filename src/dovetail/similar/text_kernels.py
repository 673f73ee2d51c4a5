"""Kernels that split texts into words and tokens, and find the texts that share most of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array


@compiled
def split_words(raw: Array, offsets: Array, folded: Array, kinds: Array) -> tuple[Array, Array, Array, Array]:
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
        hashes[word] = mixed(value)
    return codes[:size].copy(), starts, first, hashes


@compiled
def mixed(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(18397679294719823053)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(14181476777654086739)
    return value ^ (value >> np.uint64(33))


@compiled
def token_numbers(codes: Array, word_starts: Array, first: Array, hashes: Array, bits: int) -> tuple[Array, Array]:
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
                    found[size] = mixed((a << np.uint64(42)) | (b << np.uint64(21)) | c) >> shift
                    size += 1
                a, b = b, c
        if b:
            found[size] = mixed((a << np.uint64(42)) | (b << np.uint64(21)) | np.uint64(32)) >> shift
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
def sort_bags(starts: Array, tokens: Array, weights: Array, lengths: Array) -> None:
    for text in range(len(starts) - 1):
        tokens[starts[text] : starts[text + 1]].sort()
        total = np.float32(0)
        for place in range(starts[text], starts[text + 1]):
            total += weights[tokens[place]] ** 2
        lengths[text] = np.sqrt(total)


@compiled
def posting_lists(starts: Array, tokens: Array, size: int) -> tuple[Array, Array]:
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
def nearest_texts(
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
            full = _dot_product(
                q_tokens, q_starts[query], q_starts[query + 1], tokens, starts[other], starts[other + 1], weights
            )
            similarity[query, k] = full / (q_lengths[query] * lengths[other])


@compiled
def _dot_product(a: Array, i: int, i_end: int, b: Array, j: int, j_end: int, weights: Array) -> Any:
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
