"""Kernels that score pairs of columns, one after another; docs/algorithms/many.md says what the features mean.

The words of the dependent name, with their weights, are marked in an array of all words, so that another name costs one
lookup for each of its words. Pairs of one dependent column are mostly consecutive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

_SAME_TABLE = 0.5  # nearness of two columns of one table: rows refer to other rows of it, but not often
_HALF_EVIDENCE = 5.0  # values that count as half of full evidence; arbitrary, "a handful"


SIZE, LOW, HIGH, NUMBER_SHARE, AT_HOME, NAME_TOTAL, TABLE_TOTAL, PATH_TOTAL = range(8)
"""Columns of `ColumnFacts.numbers`: values; least and greatest whole number, or NaN; share of values that are
numbers; how similar the name of a leading column is to that of its table; weights of all words of name, table, path."""

TABLE, NAME, LEADING, UNIQUE, HOME, HOME_BOTH, HOME_OWN, HOME_END = range(8)
"""Columns of `ColumnFacts.places`; the last four bound the words of its table only, of both, of its name only."""


class ColumnFacts(NamedTuple):
    """Facts about columns, one row each, so that a pair costs few memory accesses; and the words of all names."""

    numbers: Array
    places: Array
    home_words: Array
    words: Array  # of distinct column names, by name_offsets
    name_offsets: Array
    weights: Array
    path_words: Array  # of tables' paths, by path_offsets
    path_offsets: Array
    path_weights: Array


@compiled
def score_pairs(
    ones: Array, others: Array, overlaps: Array, facts: ColumnFacts, weights: Array, power: int, features: Array
) -> Array:
    """The weighted mean of each pair's features, times a power of the containment.

    `features` keeps them, if it has a row for each pair; else its first row is reused. The loops are not in functions
    of their own: passing so many arrays would cost more than the work.
    """
    scores = np.empty(len(ones))
    keep = len(features) == len(ones)
    numbers, places, home, words, name_offsets, word_weights, path_words, path_offsets, path_weights = facts
    marks, path_marks = np.zeros(len(word_weights)), np.zeros(len(path_weights))
    name, table = -1, -1
    for p in range(len(ones)):
        one, other, overlap = int64(ones[p]), int64(others[p]), int64(overlaps[p])
        if places[one, NAME] != name:
            _move_marks(marks, name_offsets, words, word_weights, name, places[one, NAME])
            name = places[one, NAME]
        if places[one, TABLE] != table:
            _move_marks(path_marks, path_offsets, path_words, path_weights, table, places[one, TABLE])
            table = places[one, TABLE]
        other_table = places[other, TABLE]
        apart = table != other_table

        of_table, of_both, of_name, near = 0.0, 0.0, 0.0, 0.0
        for k in range(places[other, HOME], places[other, HOME_BOTH]):
            of_table += marks[home[k]]
        for k in range(places[other, HOME_BOTH], places[other, HOME_OWN]):
            of_both += marks[home[k]]
        for k in range(places[other, HOME_OWN], places[other, HOME_END]):
            of_name += marks[home[k]]
        called = 0.0
        if of_table + of_both + of_name > 0:
            totals = numbers[one, NAME_TOTAL], numbers[other, NAME_TOTAL], numbers[other, TABLE_TOTAL]
            called = _called_after(of_table, of_both, of_name, *totals)
        if apart:
            for k in range(path_offsets[other_table], path_offsets[other_table + 1]):
                near += path_marks[path_words[k]]
            if near > 0:
                near /= numbers[one, PATH_TOTAL] + numbers[other, PATH_TOTAL] - near

        size = numbers[other, SIZE]
        room = numbers[other, HIGH] - numbers[other, LOW] + 1
        if np.isnan(room) or np.isnan(numbers[one, LOW]):
            full = min(numbers[one, NUMBER_SHARE], numbers[other, NUMBER_SHARE])
        else:
            full = min(1.0, size / room)
        coverage = overlap / max(1.0, size)
        row = features[p if keep else 0]
        row[0] = max(0.0, called - numbers[one, AT_HOME])
        # Few values say little; whole numbers say nothing where the other column is full of them. Columns in which only
        # some values are numbers are assumed to be full of them: their range is unknown.
        row[1] = overlap / (overlap + _HALF_EVIDENCE) * (1 - full)
        # Within one table, a column with nearly all values of the key is a copy of it and refers to nothing.
        row[2] = coverage if apart else 4 * coverage * (1 - coverage)
        row[3] = places[other, LEADING]
        row[4] = 0.0 if places[one, LEADING] else 1.0 if not places[one, UNIQUE] else 0.5 if apart else 0.0
        row[5] = near if apart else _SAME_TABLE
        score = 0.0
        for k in range(len(weights)):
            score += weights[k] * row[k]
        mine = numbers[one, SIZE]
        scores[p] = score if overlap == mine else score * (overlap / mine) ** power
    return scores


@compiled
def _move_marks(marks: Array, offsets: Array, words: Array, weights: Array, last: int, name: int) -> None:
    """Mark the words of this name instead of those of the last one."""
    if last >= 0:
        for k in range(offsets[last], offsets[last + 1]):
            marks[words[k]] = 0.0
    for k in range(offsets[name], offsets[name + 1]):
        marks[words[k]] = weights[words[k]]


@compiled
def _called_after(of_table: float, of_both: float, of_name: float, mine: float, other: float, table: float) -> float:
    """How similar a name is to another, or to the other's table and name together, from the weight of common words.

    The greater of two: the share of words that both names have in common, less where these are mere key words; and the
    share of the first name's words that occur in the second or its table, times the share of the table's that it has.
    """
    common = of_both + of_name
    same = common / (mine + other - common) * min(1.0, common)
    qualified = (of_table + common) / mine * ((of_table + of_both) / table) if table > 0 else 0.0
    return float(max(same, qualified))


@compiled
def total_weights(offsets: Array, numbers: Array, weights: Array) -> Array:
    """The weight of all words of each name."""
    totals = np.zeros(len(offsets) - 1)
    for name in range(len(totals)):
        for i in range(offsets[name], offsets[name + 1]):
            totals[name] += weights[numbers[i]]
    return totals


@compiled
def home_words(places: Array, name_offsets: Array, words: Array, table_offsets: Array, table_words: Array) -> Array:
    """For each column, the words of its table only, of both, and of its name only; `places` gets their bounds."""
    room = 0
    for column in range(len(places)):
        name, table = places[column, NAME], places[column, TABLE]
        room += name_offsets[name + 1] - name_offsets[name] + table_offsets[table + 1] - table_offsets[table]
    found = np.empty(room, np.int32)
    filled = 0
    for column in range(len(places)):
        name, table = places[column, NAME], places[column, TABLE]
        mine = words[name_offsets[name] : name_offsets[name + 1]]
        tables = table_words[table_offsets[table] : table_offsets[table + 1]]
        places[column, HOME] = filled
        filled = _copy_if(tables, mine, False, found, filled)
        places[column, HOME_BOTH] = filled
        filled = _copy_if(tables, mine, True, found, filled)
        places[column, HOME_OWN] = filled
        filled = _copy_if(mine, tables, False, found, filled)
        places[column, HOME_END] = filled
    return found[:filled]


@compiled
def _copy_if(words: Array, others: Array, wanted: bool, found: Array, filled: int) -> int:
    """Append the words that are among the others, or those that are not."""
    for word in words:
        known = False
        for other in others:
            known = known or word == other
        if known == wanted:
            found[filled] = word
            filled += 1
    return filled


@compiled
def named_after_tables(columns: Array, facts: ColumnFacts) -> Array:
    """How similar the name of each of these columns is to the name of its table, from 0 to 1."""
    shares = np.zeros(len(columns))
    for i in range(len(columns)):
        column = columns[i]
        common = 0.0
        for k in range(facts.places[column, HOME_BOTH], facts.places[column, HOME_OWN]):
            common += facts.weights[facts.home_words[k]]
        if common > 0:
            mine, whole = facts.numbers[column, NAME_TOTAL], facts.numbers[column, TABLE_TOTAL]
            shares[i] = (common / mine) * (common / whole)
    return shares
