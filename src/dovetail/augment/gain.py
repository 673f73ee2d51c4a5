"""What some inputs add to a prediction: the share of the target's variance that they explain beyond the others.

A ridge regression on a part of the rows predicts the others, so that inputs that only fit by chance add nothing.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dovetail._types import Array

_FOLDS = 5  # the usual number
_RIDGE = 5.0  # arbitrary: as if each bin had five more rows without an effect
_SEED = 0


class Target:
    """The column to predict, and what my own columns leave unexplained of it."""

    def __init__(self, outcomes: Array, own: Array) -> None:
        """A row for each row of mine: the number to predict or a column for each class, and the inputs that I have."""
        self._outcomes: Array = outcomes - outcomes.mean(axis=0)
        self._own = own
        self._fold = np.random.default_rng(_SEED).permutation(len(outcomes)) % _FOLDS

    @cached_property
    def _total(self) -> float:
        return float((self._outcomes**2).sum())

    @cached_property
    def _rest(self) -> Array:
        """The errors of the predictions from my own columns, or from the mean where that is better."""
        errors: Array = self._outcomes - self._predicted(self._own, self._outcomes)
        return errors if (errors**2).sum() < self._total else self._outcomes

    @property
    def explained(self) -> float:
        """The share of the variance that my own columns explain, on rows that were left out."""
        return 1 - float((self._rest**2).sum()) / self._total if self._total else 0.0

    def gain(self, inputs: Array) -> float:
        """The share of the variance that the inputs explain in addition, on rows that were left out."""
        if not (inputs.shape[1] and self._total):
            return 0.0
        errors = self._rest - self._predicted(inputs, self._rest)
        return float((self._rest**2).sum() - (errors**2).sum()) / self._total

    def _predicted(self, inputs: Array, outcomes: Array) -> Array:
        found = np.zeros_like(outcomes)
        if not inputs.shape[1]:
            return found
        for fold in range(_FOLDS):
            known, left_out = self._fold != fold, self._fold == fold
            middle, mean = inputs[known].mean(axis=0), outcomes[known].mean(axis=0)
            rows = inputs[known] - middle
            weights = np.linalg.solve(rows.T @ rows + _RIDGE * np.eye(rows.shape[1]), rows.T @ (outcomes[known] - mean))
            found[left_out] = mean + (inputs[left_out] - middle) @ weights
        return found
