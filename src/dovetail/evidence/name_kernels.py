"""Kernels that compare the names of columns and tables, pair by pair, and find words that are forms of one another.

The words of the dependent name, with their weights, are marked in an array of all words, so that another name costs one
lookup for each of its words. Pairs of one dependent column are mostly consecutive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

NAME_TOTAL, TABLE_TOTAL, PATH_TOTAL, AT_HOME = range(4)
"""Columns of `NamedColumns.numbers`: weights of all words of name, table and path; how similar the name of a leading
column is to that of its table."""

TABLE, NAME, HOME, HOME_BOTH, HOME_OWN, HOME_END = range(6)
"""Columns of `NamedColumns.places`; the last four bound the words of its table only, of both, of its name only."""
SHORTEST_FORM = 3  # letters that two forms have in common at least
_COMMON = 0.6  # share of the longer word that they have in common, unless one is the beginning of the other
_BEGINNING = 0.5  # what a beginning counts at least: a person who shortens a word wants it to be recognised


class NamedColumns(NamedTuple):
    """The names of columns and of their tables, as numbers of words; one row for each column."""

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
def compare_names(ones: Array, others: Array, columns: NamedColumns, called: Array, near: Array) -> None:
    """For each pair, how far the first is named after the second or its table, and how similar the tables' paths are.

    The loops are not in functions of their own: passing so many arrays would cost more than the work.
    """
    numbers, places, home, words, name_offsets, word_weights, path_words, path_offsets, path_weights = columns
    marks, path_marks = np.zeros(len(word_weights)), np.zeros(len(path_weights))
    name, table = -1, -1
    for p in range(len(ones)):
        one, other = int64(ones[p]), int64(others[p])
        if places[one, NAME] != name:
            _move_marks(marks, name_offsets, words, word_weights, name, places[one, NAME])
            name = places[one, NAME]
        if places[one, TABLE] != table:
            _move_marks(path_marks, path_offsets, path_words, path_weights, table, places[one, TABLE])
            table = places[one, TABLE]
        other_table = places[other, TABLE]
        of_table, of_both, of_name, shared = 0.0, 0.0, 0.0, 0.0
        for k in range(places[other, HOME], places[other, HOME_BOTH]):
            of_table += marks[home[k]]
        for k in range(places[other, HOME_BOTH], places[other, HOME_OWN]):
            of_both += marks[home[k]]
        for k in range(places[other, HOME_OWN], places[other, HOME_END]):
            of_name += marks[home[k]]
        found = 0.0
        if of_table + of_both + of_name > 0:
            totals = numbers[one, NAME_TOTAL], numbers[other, NAME_TOTAL], numbers[other, TABLE_TOTAL]
            found = _called_after(of_table, of_both, of_name, *totals)
        called[p] = max(0.0, found - numbers[one, AT_HOME])
        if table != other_table:
            for k in range(path_offsets[other_table], path_offsets[other_table + 1]):
                shared += path_marks[path_words[k]]
            if shared > 0:
                shared /= numbers[one, PATH_TOTAL] + numbers[other, PATH_TOTAL] - shared
        near[p] = shared


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
def named_after_tables(chosen: Array, columns: NamedColumns) -> Array:
    """How similar the name of each of these columns is to the name of its table, from 0 to 1."""
    shares = np.zeros(len(chosen))
    for i in range(len(chosen)):
        column = chosen[i]
        common = 0.0
        for k in range(columns.places[column, HOME_BOTH], columns.places[column, HOME_OWN]):
            common += columns.weights[columns.home_words[k]]
        if common > 0:
            mine, whole = columns.numbers[column, NAME_TOTAL], columns.numbers[column, TABLE_TOTAL]
            shares[i] = (common / mine) * (common / whole)
    return shares


@compiled
def similar_words(offsets: Array, letters: Array) -> tuple[Array, Array, Array]:
    """Pairs of sorted words that begin alike, in both directions, and how similar they are; each word with itself."""
    number = len(offsets) - 1
    room = 4 * number + 16
    ones, others, shares = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    filled = 0
    for one in range(number):
        start, size = offsets[one], offsets[one + 1] - offsets[one]
        other = int64(one)
        while other < number:
            start_other, size_other = offsets[other], offsets[other + 1] - offsets[other]
            least, most = min(size, size_other), max(size, size_other)
            common = 0
            while common < least and letters[start + common] == letters[start_other + common]:
                common += 1
            if other > one and common < SHORTEST_FORM:
                break  # the words are sorted: no later one has more in common
            share = 1.0
            if other > one:
                share = common / most
                if common == least:
                    share = _BEGINNING + (1 - _BEGINNING) * share
                elif share < _COMMON:
                    share = 0.0
            if share > 0:
                if filled + 2 > room:
                    room *= 2
                    more_ones, more_others, more_shares = (
                        np.empty(room, np.int64),
                        np.empty(room, np.int64),
                        np.empty(room),
                    )
                    more_ones[:filled], more_others[:filled] = ones[:filled], others[:filled]
                    more_shares[:filled] = shares[:filled]
                    ones, others, shares = more_ones, more_others, more_shares
                ones[filled], others[filled], shares[filled] = one, other, share
                filled += 1
                if other > one:
                    ones[filled], others[filled], shares[filled] = other, one, share
                    filled += 1
            other += 1
    return ones[:filled], others[:filled], shares[:filled]
