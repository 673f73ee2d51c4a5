"""Which value joins which key, where neither is written the same: the nearest, if it is so by a margin.

The paper chooses one threshold for the whole column, the greatest at which no value meets two keys. One pair of like
keys then forbids every join. Here the constraint is kept value by value: a value joins its nearest key where the
second is clearly farther, and a key is joined by one value, its nearest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dovetail.join.fuzzy.grams import bags, neighbours

_MARGIN = 0.75  # of the distance to the second key: the nearest must be nearer than that
_FARTHEST = 0.65  # farther than this is no likeness, whatever the second


def fuzzy_matches(values: Sequence[str], keys: Sequence[str], taken: Collection[int] = ()) -> list[tuple[int, int]]:
    """Pairs of places of distinct values and distinct keys. Keys that are `taken` only stand in the way of others."""
    if len(taken) == len(keys) or not values:
        return []
    found = neighbours(*bags([values, keys]))
    distance, second = 1.0 - found.similarity, 1.0 - found.second
    fits = (found.nearest >= 0) & (distance <= _MARGIN * second) & (distance <= _FARTHEST)
    used = set(taken)
    pairs = []
    for value in np.argsort(distance, kind="stable"):
        key = int(found.nearest[value])
        if fits[value] and key not in used:
            used.add(key)
            pairs.append((int(value), key))
    return pairs
