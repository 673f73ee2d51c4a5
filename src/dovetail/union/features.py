"""What speaks for two columns holding the same attribute, as numbers: one row for each pair.

The evidence is that of D3L (names, values, formats, word vectors, distributions) and TUS (values, vectors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence.features import BOOLEAN, INTEGER, REAL, TEXT
from dovetail.evidence.names import words
from dovetail.union.summary import ColumnSummary, mean_vectors

COLUMN_FEATURES = (
    "same_kind", "both_numbers", "same_name", "common_words", "similar_name", "abbreviated", "made_up", "contained",
    "jaccard", "values", "of_numbers", "distribution", "same_range", "spelling", "same_classes", "length_differs",
    "unique_differs", "filled_differs", "flag", "place_differs",
)  # fmt: skip


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
