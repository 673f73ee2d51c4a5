"""Sentences for what speaks for and against a hit: the groups of features that move its probability most.

Features that say one thing in several ways are taken together. A group speaks for a hit by how much it raises the
log-odds above those of a typical candidate, and against it by how much it lowers them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._model import Model
from dovetail._types import Array

_LEAST = np.log(1.5)  # of the log-odds; arbitrary: what changes the odds by less than half is not worth a clause
_MOST = 3  # clauses on each side
_ALL = 0.995  # rounds to 100 %

Values = dict[str, float]


class Group(NamedTuple):
    """Features that say one thing, and how: where they speak for a hit, and against it."""

    features: tuple[str, ...]
    reason: Callable[[Values], str]
    objection: Callable[[Values], str]


_GROUPS = (
    Group(
        ("contained", "matched", "missing", "contained_key"),
        lambda of: f"{_share(of['contained'])} of your values occur there",
        lambda of: f"only {_share(of['contained'])} of your values occur there",
    ),
    Group(
        ("unique_there", "partners_there", "lookup", "leading_there", "first_there", "filled_there"),
        lambda of: "its column identifies its rows" if of["unique_there"] == 1 else "few rows match each of yours",
        lambda of: "its column is not the key of its table" if of["lookup"] else "several rows match each of yours",
    ),
    Group(
        ("called", "same_name", "called_key", "rare_name", "ends_alike",
         "ends_alike_key", "called_back", "generic_there"),
        lambda of: "the columns have the same name" if of["same_name"] else "the names correspond",
        lambda of: "the columns have a common name" if of["same_name"] else "the names do not correspond",
    ),
    Group(
        ("near", "near_called", "near_key"),
        lambda _: "the tables are close to each other in the lake",
        lambda _: "the tables are far from each other in the lake",
    ),
    Group(
        ("rare_values", "rare_bits", "rivals", "bits", "chance"),
        lambda _: "few other columns have these values",
        lambda of: "such values match by chance" if of["chance"] > 1 / 2 else "many other columns have these values",
    ),
    Group(
        ("integer", "real", "date", "flag", "same_kind", "length_differs", "from_one"),
        lambda _: "the values are of a kind that keys have",
        lambda of: "dates match by chance" if of["date"] else "the values are of a kind that keys rarely have",
    ),
    Group(
        ("called_alike", "shared_names", "shared_values"),
        lambda _: "the tables have other names or values in common",
        lambda _: "the tables have nothing else in common",
    ),
)  # fmt: skip


def reasons(
    model: Model, features: Array, groups: Sequence[Group] = _GROUPS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What speaks for a hit and what against it, the strongest first."""
    values = dict(zip(model.features, features.tolist(), strict=True))
    moved = dict(zip(model.features, (model.weights * (features - model.typical)).tolist(), strict=True))
    by_group = [(sum(moved[name] for name in group.features), group) for group in groups]
    for_it = sorted((entry for entry in by_group if entry[0] >= _LEAST), key=lambda entry: -entry[0])
    against = sorted((entry for entry in by_group if entry[0] <= -_LEAST), key=lambda entry: entry[0])
    return (
        tuple(group.reason(values) for _, group in for_it[:_MOST]),
        tuple(group.objection(values) for _, group in against[:_MOST]),
    )


def _share(value: float) -> str:
    return "all" if value == 1 else "nearly all" if value >= _ALL else f"{value:.0%}"
