"""Which key a value means if they are spelled differently: the nearest, if it is nearest by a margin.

Chapter 4.6 of E. Zhu's thesis (Auto-Join) chooses one threshold for a whole column, the greatest at which no value
matches two keys; a single pair of similar keys then forbids every join. Here the constraint holds value by value: a
value joins its nearest key if the second nearest is clearly farther. Pairs of words that distinguish keys are the
negative rules of Auto-FuzzyJoin (doi:10.1145/3448016.3452824): where two keys differ in one word only, `stakes` and
`oaks`, a value that differs from a key in these words is something else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.similar.mismatch_kernels import distinguishing_pairs, mismatch_penalties, words_left_out
from dovetail.similar.texts import Words, nearest, weigh, words_of

# Chosen on half of the AutoFJ development sets while the scores of the other half were seen (docs/benchmarks.md).
MARGIN = 0.76  # of the distance to the second key: the nearest must be nearer than that
_OF_VALUE, _OF_KEY = 0.3, 0.1  # what words without a match add to the distance: of the value, of the key
_OF_NUMBERS, _OF_RULE = 0.2, 0.2  # what numbers that differ add, and words that distinguish keys
_FARTHEST = 1.0 + _OF_VALUE + _OF_KEY  # where nothing is shared
_MOST_WORDS = 12  # of a key, from which rules are learned: longer keys are sentences
_MOST_SIBLINGS = 40  # keys that differ in one word: more teach nothing new


class Similar(NamedTuple):
    """Pairs of positions among distinct values and distinct keys, and how similar they are, from 0 to 1."""

    values: Array
    keys: Array
    similarity: Array


def similar_pairs(
    values: Sequence[str],
    keys: Sequence[str],
    taken: Collection[int] = (),
    blocks: tuple[Array, Array] | None = None,
    min_similarity: float | None = None,
    one_to_one: bool = False,
) -> Similar:
    """For each value at most one key. Several values may have one key, unless `one_to_one`.

    With `min_similarity`, the nearest key, if it is similar enough, whatever the second nearest. With `blocks`, a value
    and a key are compared only if their numbers are the same. With `one_to_one`, keys that are `taken` join nothing.
    """
    if not len(values) or not len(keys):
        return Similar(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
    candidates, distance = distances(values, keys, blocks)
    rows = np.arange(len(candidates))
    order = np.argsort(distance, axis=1, kind="stable")
    first, second = distance[rows, order[:, 0]], distance[rows, order[:, 1]]
    chosen = candidates[rows, order[:, 0]]
    similarity = np.clip(1.0 - first.astype(np.float64), 0.0, 1.0)
    fits = (
        (first <= MARGIN * second) & (first < second) if min_similarity is None else similarity >= min_similarity
    ) & (chosen >= 0)
    found = np.flatnonzero(fits)
    if one_to_one:
        found = np.sort(_nearest_of_each_key(found, chosen, first, taken))
    return Similar(found, chosen[found].astype(np.int64), similarity[found])


def _nearest_of_each_key(found: Array, keys: Array, distance: Array, taken: Collection[int]) -> Array:
    by_distance = found[np.argsort(distance[found], kind="stable")]
    free = by_distance[~np.isin(keys[by_distance], np.fromiter(taken, np.int64, len(taken)))]
    _, place = np.unique(keys[free], return_index=True)
    return free[place]


def distances(
    values: Sequence[str], keys: Sequence[str], blocks: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """For each value its candidates among the keys, and how far each is."""
    mine, theirs = words_of(values), words_of(keys)
    weighed = weigh(mine, theirs)
    candidates, similarity = nearest(weighed, blocks)
    distance = np.full(candidates.shape, _FARTHEST, np.float32)
    mismatch_penalties(
        candidates, similarity, mine.codes, mine.starts, mine.first, mine.hashes, weighed.word_weights[0],
        theirs.codes, theirs.starts, theirs.first, theirs.hashes, weighed.word_weights[1], negative_rules(theirs),
        _OF_VALUE, _OF_KEY, _OF_NUMBERS, _OF_RULE, distance,
    )  # fmt: skip
    return candidates, distance


def negative_rules(keys: Words) -> Array:
    """The pairs of words that distinguish two keys, as ascending numbers."""
    rests, gone = words_left_out(keys.first, keys.hashes, _MOST_WORDS)
    order = np.lexsort((gone, rests))
    return np.unique(distinguishing_pairs(rests[order], gone[order], _MOST_SIBLINGS))
