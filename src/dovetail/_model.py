"""From features to a probability: logistic models whose weights are in JSON files beside the modules that use them.

A file names the program, the data sets and the date that made it (`benchmarks/judgement`). A logistic model explains
itself: each feature adds its weight times its value to the log-odds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from dovetail._types import Array
from dovetail.errors import DovetailError

_MOST_LOG_ODDS = 30.0  # beyond that a probability is 0 or 1 in double precision


def weighted_sum(features: Array, weights: Array) -> Array:
    """Of each row. Not a matrix product, whose rounding depends on the number of rows and of threads."""
    found: Array = (features * weights).sum(axis=-1)
    return found


@dataclass(frozen=True)
class Model:
    """Log-odds as a weighted sum. `weights` has one for each of `features`, 0 for those that are not used."""

    name: str
    features: tuple[str, ...]
    intercept: float
    weights: Array
    typical: Array  # the features of a typical candidate: what moves the log-odds away from it is a reason
    made_by: dict[str, object]

    def log_odds(self, features: Array) -> Array:
        found: Array = np.clip(self.intercept + weighted_sum(features, self.weights), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
        return found

    def probability(self, features: Array) -> Array:
        return 1.0 / (1.0 + np.exp(-self.log_odds(features)))


@cache
def load_model(name: str, features: tuple[str, ...], room: str = "evidence") -> Model:
    """The stored model of this name, for these features.

    In `evidence`: `join_equal_rank` and `join_equal`: which equal columns of two tables would a person join, and how
    likely? `join_unequal_rank` and `join_unequal`: the same of transformations and similarity. `join_through`: the
    same of values that tables of the lake relate. `search`: how likely would a person join a table that was found in a
    lake? `reference`: does the one column refer to the other, given all other references?
    `inclusion` asks that of a pair alone, whatever else a column could refer to. In `similar`: `pair_rank` and `pair`:
    which key does a value mean that is spelled differently, and how likely? In `union`: `columns`: do two columns hold
    the same attribute? `tables`: would a person append the one table to the other?
    """
    text = resources.files(f"dovetail.{room}").joinpath(f"{name}.json").read_text(encoding="utf-8")
    return read_model(name, features, text)


def read_model(name: str, features: tuple[str, ...], text: str) -> Model:
    stored = json.loads(text)
    unknown = set(stored["weights"]) - set(features)
    if unknown:
        raise DovetailError(f"The model {name} has weights for unknown features: {', '.join(sorted(unknown))}.")
    weights, typical = (
        np.array([float(stored.get(part, {}).get(feature, 0.0)) for feature in features])
        for part in ("weights", "typical")
    )
    return Model(name, features, float(stored["intercept"]), weights, typical, stored["made_by"])
