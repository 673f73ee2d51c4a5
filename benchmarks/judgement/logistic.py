"""Logistic models with weights of rows and an L2 penalty on standardised features: of single rows, and of choices."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array

_ITERATIONS = 50
_CLOSE = 1e-6
_MOST = 30.0
_STEPS, _RATE = 300, 0.05


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


def fit_choice(features: Array, rights: Array, starts: Array, weights: Array, penalty: float) -> Array:
    """Weights of the raw features by which the right one of some candidates is chosen (conditional logit).

    Candidates of one case stand together, from `starts[i]` to `starts[i + 1]`; `weights` are those of the cases. The
    likelihood of a case is that of choosing a right candidate, one that is half right counting half.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0)
    used = scale > _CLOSE
    rows = np.where(used, (features - mean) / np.where(used, scale, 1.0), 0.0)
    case = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    share = weights / weights.sum()
    found, slope_mean, slope_square = np.zeros(rows.shape[1]), 0.0, 0.0
    for step in range(1, _STEPS + 1):  # Adam: Kingma and Ba 2015, with its usual constants
        score = rows @ found
        likely = np.exp(score - np.maximum.reduceat(score, starts[:-1])[case])
        chosen = likely / np.add.reduceat(likely, starts[:-1])[case]
        right = np.add.reduceat(chosen * rights, starts[:-1]) + _CLOSE
        slope = rows.T @ ((chosen * rights / right[case] - chosen) * share[case]) - penalty * found
        slope_mean = 0.9 * slope_mean + 0.1 * slope
        slope_square = 0.99 * slope_square + 0.01 * slope**2
        found += _RATE * (slope_mean / (1 - 0.9**step)) / (np.sqrt(slope_square / (1 - 0.99**step)) + 1e-8)
    raw: Array = np.where(used, found / np.where(used, scale, 1.0), 0.0)
    return raw
