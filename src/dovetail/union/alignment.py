"""Which column of another table holds what a column of mine does: one to one, by a model of pairs and an assignment.

What speaks for two columns holding the same attribute is that of D3L (names, values, formats, word vectors,
distributions) and TUS (values, vectors). The assignment has the greatest weight (Kuhn 1955; shortest augmenting paths
as in Jonker and Volgenant 1987).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._model import load_model
from dovetail._types import Array
from dovetail.evidence.features import BOOLEAN, INTEGER, REAL, TEXT
from dovetail.evidence.names import words
from dovetail.union.summary import ColumnSummary, mean_vectors

_LEAST = 0.5  # the probability of a pair of columns that are aligned: more likely right than wrong
COLUMN_FEATURES = (
    "same_kind", "both_numbers", "same_name", "common_words", "similar_name", "abbreviated", "made_up", "contained",
    "jaccard", "values", "of_numbers", "distribution", "same_range", "spelling", "same_classes", "length_differs",
    "unique_differs", "filled_differs", "flag", "place_differs",
)  # fmt: skip


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


def best_assignment(weights: Array) -> list[tuple[int, int]]:
    """Pairs of a row and a column, each at most once, with the greatest sum of weights; none has the weight 0."""
    if weights.shape[0] > weights.shape[1]:
        return sorted((row, column) for column, row in best_assignment(weights.T))
    costs = -np.asarray(weights, np.float64)
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.full(columns + 1, rows)  # the last column is where each search begins, the last row is none
    for row in range(rows):
        row_of[columns] = row
        column, came_from = columns, np.full(columns, columns)
        nearest, done = np.full(columns, np.inf), np.zeros(columns + 1, bool)
        while row_of[column] < rows:
            done[column] = True
            current = row_of[column]
            reduced = costs[current] - row_price[current] - column_price[:columns]
            closer = ~done[:columns] & (reduced < nearest)
            nearest[closer], came_from[closer] = reduced[closer], column
            open_columns = np.where(done[:columns], np.inf, nearest)
            following = int(np.argmin(open_columns))
            step = open_columns[following]
            row_price[row_of[done]] += step
            column_price[done] -= step
            nearest[~done[:columns]] -= step
            column = following
        while column != columns:
            previous = int(came_from[column])
            row_of[column] = row_of[previous]
            column = previous
    pairs = ((int(row_of[column]), column) for column in range(columns) if row_of[column] < rows)
    return sorted(pair for pair in pairs if weights[pair] > 0)


def compare(mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary]) -> Array:
    """All pairs of columns of two tables; the axes are columns of mine, columns of theirs, and COLUMN_FEATURES."""
    kinds = np.array([[one.kind == other.kind for other in theirs] for one in mine], bool)
    shared = _shared(mine, theirs)
    sizes = _each(mine, lambda one: len(one.hashes))[:, None], _each(theirs, lambda one: len(one.hashes))[None, :]
    least, most = np.minimum(*sizes), np.maximum(*sizes)
    numbers = [np.isin(_each(side, lambda one: one.kind), (INTEGER, REAL)) for side in (mine, theirs)]
    both = numbers[0][:, None] & numbers[1][None, :]
    text = (_each(mine, lambda one: one.kind) == TEXT)[:, None] & kinds
    distribution, same_range = _distributions(mine, theirs)
    names = _names(mine, theirs)
    lengths = _each(mine, lambda one: one.length)[:, None], _each(theirs, lambda one: one.length)[None, :]
    columns = {
        "same_kind": kinds,
        "both_numbers": both,
        **names,
        "contained": shared / np.maximum(least, 1),
        "jaccard": shared / np.maximum(sizes[0] + sizes[1] - shared, 1),
        "values": np.log2(1 + shared) / 10 * ~both,
        "of_numbers": np.log2(1 + shared) / 10 * both,
        "distribution": distribution,
        "same_range": same_range,
        "spelling": np.stack([one.spelling for one in mine]) @ np.stack([one.spelling for one in theirs]).T * text,
        "same_classes": 1 - np.abs(_stacked(mine)[:, None] - _stacked(theirs)[None]).sum(axis=2) / 2,
        "length_differs": np.abs(lengths[0] - lengths[1]) / np.maximum(np.maximum(*lengths), 1),
        "unique_differs": _differs(mine, theirs, lambda one: one.unique),
        "filled_differs": _differs(mine, theirs, lambda one: one.filled),
        "flag": (most <= 2) | (_each(mine, lambda one: one.kind) == BOOLEAN)[:, None],
        "place_differs": _differs(mine, theirs, lambda one: one.place),
    }
    assert tuple(columns) == COLUMN_FEATURES
    return np.stack([np.asarray(each, np.float64) for each in columns.values()], axis=2)


def _each(columns: Sequence[ColumnSummary], value: Callable[[ColumnSummary], float]) -> Array:
    return np.array([value(column) for column in columns])


def _stacked(columns: Sequence[ColumnSummary]) -> Array:
    return np.stack([column.classes for column in columns])


def _differs(
    mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary], value: Callable[[ColumnSummary], float]
) -> Array:
    found: Array = np.abs(_each(mine, value)[:, None] - _each(theirs, value)[None, :])
    return found


def _shared(mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary]) -> Array:
    """How many distinct values two columns share: their hashes in one sorted array, each beside its equals."""
    found = np.zeros((len(mine), len(theirs)), np.int64)
    left = np.concatenate([column.hashes for column in mine])
    rows = np.repeat(np.arange(len(mine)), [len(column.hashes) for column in mine])
    order = np.argsort(left, kind="stable")
    left, rows = left[order], rows[order]
    for place, column in enumerate(theirs):
        first, last = (np.searchsorted(left, column.hashes, side=side) for side in ("left", "right"))
        held = np.flatnonzero(last > first)
        spans = last[held] - first[held]
        inside = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans) + np.repeat(first[held], spans)
        found[:, place] = np.bincount(rows[inside], minlength=len(mine))
    return found


def _distributions(mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary]) -> tuple[Array, Array]:
    """For numbers and days: 1 less the Kolmogorov-Smirnov distance, and the common part of both ranges; else 0."""
    close, common = np.zeros((2, len(mine), len(theirs)))
    for row, one in enumerate(mine):
        for column, other in enumerate(theirs):
            if len(one.numbers) and len(other.numbers) and (one.kind == other.kind or REAL in (one.kind, other.kind)):
                close[row, column] = 1 - _distance(one, other)
                ends = [(each.numbers[0], each.numbers[-1]) for each in (one, other)]
                inside = min(ends[0][1], ends[1][1]) - max(ends[0][0], ends[1][0])
                whole = max(ends[0][1], ends[1][1]) - min(ends[0][0], ends[1][0])
                common[row, column] = np.clip(inside / whole, 0, 1) if whole > 0 else 1.0
    return close, common


def _distance(one: ColumnSummary, other: ColumnSummary) -> float:
    points = np.concatenate([one.numbers, other.numbers])
    below = [np.append(0, each.shares)[np.searchsorted(each.numbers, points, side="right")] for each in (one, other)]
    return float(np.abs(below[0] - below[1]).max())


def _names(mine: Sequence[ColumnSummary], theirs: Sequence[ColumnSummary]) -> dict[str, Array]:
    """Whether the names are the same, share words or letters, and whether one abbreviates the other."""
    shape = len(mine), len(theirs)
    same, common, short, made_up = np.zeros((4, *shape))
    split = [[set(words(column.name)) for column in side] for side in (mine, theirs)]
    for row, one in enumerate(mine):
        for column, other in enumerate(theirs):
            if one.is_made_up or other.is_made_up or not (one.folded and other.folded):
                made_up[row, column] = 1
                continue
            same[row, column] = one.folded == other.folded
            both = split[0][row], split[1][column]
            common[row, column] = 2 * len(both[0] & both[1]) / max(len(both[0]) + len(both[1]), 1)
            short[row, column] = _abbreviates(*sorted((one.folded, other.folded), key=len))
    vectors = mean_vectors([pa.array([" ".join(words(column.name))]) for column in (*mine, *theirs)])
    similar = vectors[: len(mine)] @ vectors[len(mine) :].T * (1 - made_up)
    return {
        "same_name": same,
        "common_words": common,
        "similar_name": similar,
        "abbreviated": short,
        "made_up": made_up,
    }


def _abbreviates(short: str, long: str) -> bool:
    """Whether a name has some letters of another, in order, the first included."""
    if short == long or len(short) < 2 or short[0] != long[0]:
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)
