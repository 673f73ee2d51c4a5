"""Which column of another table holds what a column of mine does: one to one, by a model of pairs and an assignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dovetail._model import load_model
from dovetail._types import Array
from dovetail.tables.input_table import InputTable
from dovetail.union.assignment import best_assignment
from dovetail.union.features import COLUMN_FEATURES, compare
from dovetail.union.summary import ColumnSummary, summaries

_LEAST = 0.5  # the probability of a pair of columns that are aligned: more likely right than wrong


@dataclass(frozen=True)
class AlignedColumns:
    """A column of mine and the one of another table that holds the same attribute."""

    mine: str
    theirs: str
    probability: float

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "probability": round(self.probability, 4)}


@dataclass(frozen=True)
class Alignment:
    """Pairs of columns of two tables."""

    mine: tuple[ColumnSummary, ...]
    theirs: tuple[ColumnSummary, ...]
    places: tuple[tuple[int, int], ...]  # of each pair, in the order of mine
    probability: Array  # of every pair of columns, aligned or not
    features: Array  # the last axis: COLUMN_FEATURES

    @cached_property
    def pairs(self) -> tuple[AlignedColumns, ...]:
        return tuple(
            AlignedColumns(self.mine[one].name, self.theirs[other].name, float(self.probability[one, other]))
            for one, other in self.places
        )

    @property
    def only_mine(self) -> tuple[str, ...]:
        aligned = {one for one, _ in self.places}
        return tuple(column.name for place, column in enumerate(self.mine) if place not in aligned)

    @property
    def only_theirs(self) -> tuple[str, ...]:
        aligned = {other for _, other in self.places}
        return tuple(column.name for place, column in enumerate(self.theirs) if place not in aligned)

    def of_pairs(self, name: str) -> Array:
        """A feature of the aligned pairs."""
        values = self.features[..., COLUMN_FEATURES.index(name)]
        found: Array = np.array([values[place] for place in self.places])
        return found


def align(mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary]) -> Alignment:
    """The most likely pairs of columns."""
    if not (mine and theirs):
        nothing = np.empty((len(mine), len(theirs)))
        return Alignment(tuple(mine), tuple(theirs), (), nothing, nothing[..., None])
    features = compare(mine, theirs)
    likely = load_model("columns", COLUMN_FEATURES, "union").probability(features)
    places = best_assignment(np.where(likely >= _LEAST, likely, 0.0))
    return Alignment(tuple(mine), tuple(theirs), tuple(places), likely, features)


def align_tables(mine: InputTable, theirs: InputTable) -> Alignment:
    return align(summaries(mine), summaries(theirs))
