"""What speaks for and against a candidate, in words: the groups of features that move its probability most.

Features that say one thing in several ways are taken together. A group speaks for a candidate by how much it raises the
log-odds above those of a typical one, and against it by how much it lowers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from dovetail._model import Model
from dovetail._types import Array

_LEAST = np.log(1.5)  # of the log-odds; arbitrary: what changes the odds by less than half is not worth a clause
_MOST = 3  # clauses on each side
_ALL = 0.995  # rounds to 100 %

Values = dict[str, float]
"""Of features, by their names."""
Said = TypeVar("Said")
"""What a clause is made of."""
Clauses = tuple[tuple[str, ...], tuple[str, ...]]
"""What speaks for a candidate, and what against it."""


class Group(NamedTuple, Generic[Said]):
    """Features that say one thing, and how: where they speak for a candidate, and against it."""

    features: tuple[str, ...]
    reason: Callable[[Said], str]
    objection: Callable[[Said], str]


def clauses(groups: Sequence[Group[Said]], moved: Mapping[str, float], said: Said) -> Clauses:
    """The strongest first; `moved` is how far each feature raises the log-odds."""
    by_group = [(sum(moved[name] for name in group.features), group) for group in groups]
    for_it = sorted((entry for entry in by_group if entry[0] >= _LEAST), key=lambda entry: -entry[0])
    against = sorted((entry for entry in by_group if entry[0] <= -_LEAST), key=lambda entry: entry[0])
    return (
        tuple(group.reason(said) for _, group in for_it[:_MOST]),
        tuple(group.objection(said) for _, group in against[:_MOST]),
    )


def model_clauses(groups: Sequence[Group[Values]], model: Model, features: Array) -> Clauses:
    """Of a candidate, by its features alone."""
    moved = dict(zip(model.features, (model.weights * (features - model.typical)).tolist(), strict=True))
    return clauses(groups, moved, dict(zip(model.features, features.tolist(), strict=True)))


def share_in_words(value: float) -> str:
    return "all" if value == 1 else "nearly all" if value >= _ALL else f"{value:.0%}"
