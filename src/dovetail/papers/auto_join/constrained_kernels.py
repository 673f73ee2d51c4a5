"""Kernels of the constrained similarity join: the two nearest keys of each value, and values of each key."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled

INTERSECT, JACCARD, DICE, COSINE, MAX_INCLUSION = range(5)


@compiled
def distance_of(measure: int, common: int, mine: int, theirs: int) -> float:
    """Of two sets of tokens by their sizes and what they have in common. Intersect is not yet scaled to 0 to 1."""
    if measure == INTERSECT:
        return -float(common)
    if measure == JACCARD:
        return 1.0 - common / (mine + theirs - common)
    if measure == DICE:
        return 1.0 - 2.0 * common / (mine + theirs)
    if measure == COSINE:
        return float(1.0 - common / np.sqrt(float(mine) * float(theirs)))
    return 1.0 - common / min(mine, theirs)


@compiled
def two_nearest(
    starts: Any, tokens: Any, blocks: Any, key_sizes: Any, key_blocks: Any, posting_starts: Any, owners: Any,
    of_values: Any, nearest: Any, of_keys: Any,
) -> None:  # fmt: skip
    """Fill the smallest and the second smallest distance of each value and of each key, by measure.

    `of_values` and `of_keys` are (measures, 2, texts), filled with infinity before; `nearest` is (measures, values).
    Texts without a common token are not compared: their distance is 1.
    """
    measures = of_values.shape[0]
    common = np.zeros(len(key_sizes), np.int32)
    touched = np.empty(len(key_sizes), np.int32)
    for value in range(len(starts) - 1):
        found = 0
        for place in range(starts[value], starts[value + 1]):
            token = tokens[place]
            for posting in range(posting_starts[token], posting_starts[token + 1]):
                key = owners[posting]
                if key_blocks[key] != blocks[value]:
                    continue
                if common[key] == 0:
                    touched[found] = key
                    found += 1
                common[key] += 1
        size = starts[value + 1] - starts[value]
        for each in range(found):
            key = touched[each]
            for measure in range(measures):
                distance = distance_of(measure, common[key], size, key_sizes[key])
                if distance < of_values[measure, 0, value]:
                    of_values[measure, 1, value] = of_values[measure, 0, value]
                    of_values[measure, 0, value] = distance
                    nearest[measure, value] = key
                elif distance < of_values[measure, 1, value]:
                    of_values[measure, 1, value] = distance
                if distance < of_keys[measure, 0, key]:
                    of_keys[measure, 1, key] = of_keys[measure, 0, key]
                    of_keys[measure, 0, key] = distance
                elif distance < of_keys[measure, 1, key]:
                    of_keys[measure, 1, key] = distance
            common[key] = 0
