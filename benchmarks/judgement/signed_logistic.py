"""Logistic regression in which a feature that speaks for something can never count against it.

Few databases have labels, and each has habits of its own. Without signs, a fit makes rules of these ("small tables are
referred to more often") that do not hold elsewhere.

The projected Newton method of Bertsekas, SIAM Journal on Control and Optimization 20, 1982.
"""

from __future__ import annotations

import numpy as np

from dovetail._types import Array

_ITERATIONS = 60
_CLOSE = 1e-4
_LEAST = 1e-6
_MOST = 30.0
_SHORTEST_STEP = 1e-3


def fit_signed(features: Array, labels: Array, weights: Array, signs: Array, penalty: float) -> tuple[float, Array]:
    """The intercept and the weights of the raw features; a weight has the sign that `signs` says, or any for 0."""
    mean = np.average(features, axis=0, weights=weights)
    scale = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights))
    used = scale > _LEAST
    rows = np.column_stack([np.ones(len(features)), (features - mean) / np.where(used, scale, 1.0) * used])
    sign = np.concatenate([[0], signs])
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = _LEAST

    def loss(candidate: Array) -> float:
        odds = rows @ candidate
        return float(np.sum(weights * (np.logaddexp(0, odds) - labels * odds)) + np.sum(ridge * candidate**2) / 2)

    found, least = np.zeros(rows.shape[1]), np.inf
    for _ in range(_ITERATIONS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ found, -_MOST, _MOST)))
        slope = rows.T @ (weights * (chance - labels)) + ridge * found
        free = ~((sign != 0) & (found == 0) & (sign * slope > 0))  # the others would only leave their side
        active = rows[:, free]
        curved = (active * (weights * np.maximum(chance * (1 - chance), _LEAST))[:, None]).T @ active
        step = np.zeros(len(found))
        step[free] = np.linalg.solve(curved + np.diag(ridge[free]), slope[free])
        length = 1.0
        while True:
            tried = found - length * step
            tried = np.where(sign * tried < 0, 0.0, tried)
            now = loss(tried)
            if now <= least or length < _SHORTEST_STEP:
                break
            length /= 2
        moved, found, least = np.abs(tried - found).max(), tried, now
        if moved < _CLOSE:
            break
    raw = np.where(used, found[1:] / np.where(used, scale, 1.0), 0.0)
    return float(found[0] - raw @ mean), raw
