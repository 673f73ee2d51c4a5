"""Logistic regression by Newton's method, with weights of rows and an L2 penalty on standardised features."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array

_ITERATIONS = 50
_CLOSE = 1e-6
_MOST = 30.0


def fit_logistic(features: Array, labels: Array, weights: Array, penalty: float) -> tuple[float, Array]:
    """The intercept and the weights of the raw features. Labels may be shares between 0 and 1."""
    mean = np.average(features, axis=0, weights=weights)
    scale = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights))
    used = scale > _CLOSE
    scaled = np.where(used, (features - mean) / np.where(used, scale, 1.0), 0.0)
    rows = np.column_stack([np.ones(len(scaled)), scaled])
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = _CLOSE
    found = np.zeros(rows.shape[1])
    for _ in range(_ITERATIONS):
        odds = np.clip(rows @ found, -_MOST, _MOST)
        chance = 1 / (1 + np.exp(-odds))
        slope = rows.T @ (weights * (chance - labels)) + ridge * found
        curvature = (rows * (weights * np.maximum(chance * (1 - chance), _CLOSE))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, slope)
        found -= step
        if np.abs(step).max() < _CLOSE:
            break
    raw = np.where(used, found[1:] / np.where(used, scale, 1.0), 0.0)
    return float(found[0] - raw @ mean), raw
