"""Which value joins which key, where neither is written the same: the nearest, if it is so by a margin.

The paper chooses one threshold for the whole column, the greatest at which no value meets two keys. One pair of like
keys then forbids every join. Here the constraint is kept value by value: a value joins its nearest key where the
second is clearly farther, and a key is joined by one value, its nearest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dovetail._types import Array
from dovetail.similar.candidates import nearest, same_block
from dovetail.similar.mismatch import rules_of, weigh_doubts
from dovetail.similar.texts import weigh, words_of

_MARGIN = 0.76  # of the distance to the second key: the nearest must be nearer than that
_OF_VALUE, _OF_KEY, _OF_NUMBERS, _OF_RULE = 0.3, 0.1, 0.2, 0.2  # what doubts add to the distance
_FARTHEST = 1.0 + _OF_VALUE + _OF_KEY  # where nothing is shared


def fuzzy_matches(
    values: Sequence[str],
    keys: Sequence[str],
    taken: Collection[int] = (),
    blocks: tuple[Array, Array] | None = None,
) -> list[tuple[int, int]]:
    """Pairs of places of distinct values and distinct keys. Keys that are `taken` only stand in the way of others.

    With `blocks`, a value and a key are compared only where their numbers are the same.
    """
    if len(taken) == len(keys) or not values:
        return []
    candidates, distance = distances(values, keys, blocks)
    rows = np.arange(len(candidates))
    order = np.argsort(distance, axis=1, kind="stable")
    first, second = distance[rows, order[:, 0]], distance[rows, order[:, 1]]
    chosen = candidates[rows, order[:, 0]]
    fits = (chosen >= 0) & (first <= _MARGIN * second) & (first < second)
    used = set(taken)
    pairs = []
    for value in np.argsort(first, kind="stable")[: len(fits)].tolist():
        key = int(chosen[value])
        if fits[value] and key not in used:
            used.add(key)
            pairs.append((value, key))
    return pairs


def distances(values: Sequence[str], keys: Sequence[str], blocks: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """For each value its candidates among the keys, and how far each is."""
    mine, theirs = words_of(values), words_of(keys)
    weighed = weigh(mine, theirs)
    candidates, similarity = nearest(weighed, blocks or same_block(weighed.sides))
    distance = np.full(candidates.shape, _FARTHEST, np.float32)
    weigh_doubts(
        candidates, similarity, mine.codes, mine.starts, mine.first, mine.hashes, weighed.word_weights[0],
        theirs.codes, theirs.starts, theirs.first, theirs.hashes, weighed.word_weights[1], rules_of(theirs),
        _OF_VALUE, _OF_KEY, _OF_NUMBERS, _OF_RULE, distance,
    )  # fmt: skip
    return candidates, distance
