"""Where a search starts: a set of values that every key tuple has one of, with as few posting items as can be.

The paper starts from one column (section 6.1), chosen without a look at the index. Here the dictionary knows how many
cells hold each value, so that the best column is known, and so is the price of any other choice of values.
"""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.indexes.mate.start_kernels import drop_needless

_ROUNDS = 4


def column_items(tuples: Array, weights: Array) -> Array:
    """The posting items of each column of the key: those of its distinct values."""
    return np.array([weights[np.unique(tuples[:, j])].sum() for j in range(tuples.shape[1])], np.int64)


def cheapest(tuples: Array, weights: Array) -> Array:
    """For each tuple the value it is found by. Never dearer than the best column."""
    items = column_items(tuples, weights)
    best = tuples[:, int(np.argmin(items))]
    chosen, price = best, int(items.min())
    for cover in _covers(tuples, weights):
        cover = drop_needless(tuples, cover, weights)
        cost = int(weights[np.unique(cover)].sum())
        if cost < price:
            chosen, price = cover, cost
    return chosen


def _covers(tuples: Array, weights: Array) -> list[Array]:
    """Covers by the rarest value of each tuple, and by that whose price for each of its tuples is least.

    What a value costs a tuple depends on how many others share it: first all that have it, then those that chose it.
    """
    columns = np.arange(len(tuples))
    rarest = tuples[columns, np.argmin(weights[tuples], axis=1)]
    found = [rarest]
    shared = np.bincount(tuples.reshape(-1), minlength=len(weights))
    for _ in range(_ROUNDS):
        prices = weights / np.maximum(shared, 1)
        chosen = tuples[columns, np.argmin(prices[tuples], axis=1)]
        found.append(chosen)
        shared = np.bincount(chosen, minlength=len(weights))
    return found
