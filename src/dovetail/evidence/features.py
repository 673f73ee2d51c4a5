"""What speaks for and against a join, as numbers: one row for each candidate, whatever method made it.

A candidate has two sides: rows `here` look for a key `there`. Everything is said by counts of keys and of rows, so that
one column, several together, and the values that a transformation makes are measured alike; and from the catalog alone
as well as from the rows themselves, so that two tables and a whole lake are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail._types import Array

KINDS = ("text", "integer", "real", "date", "boolean")
"""Kinds of keys; their positions are `Side.kind`."""
TEXT, INTEGER, REAL, DATE, BOOLEAN = range(len(KINDS))

_LETTERS = 26.0
_LEAST_CHANCE = 2.0**-16  # of a text of some length: beyond that it makes no difference
_CHANCE_OF_FRACTION = 0.25  # that a measurement is found in another column of them; arbitrary, measurements cluster
FEATURES = (
    "contained", "matched", "missing", "covered", "partners_there", "partners_here", "unique_there", "unique_here",
    "bits", "chance", "keys", "size_there", "spread", "from_one", "integer", "real", "date", "flag", "same_kind",
    "length", "length_differs", "called", "same_name", "generic_here", "generic_there", "leading_here",
    "leading_there", "first_here", "first_there", "filled_here", "filled_there", "columns", "transformed", "similar",
    "uncertain", "cost", "near", "same_table", "called_of_numbers", "rows_ratio",
)  # fmt: skip


class Side(NamedTuple):
    """The keys of one table, an array each: one entry for each candidate."""

    rows: Array  # of the table
    filled: Array  # rows with a key
    distinct: Array  # keys
    kind: Array  # a position in KINDS
    low: Array  # the least and greatest whole number, or day; NaN for other kinds
    high: Array
    length: Array  # mean characters of a key
    place: Array  # position of the first column in its table
    is_leading: Array  # whether it is the first column of its table that could be a key
    is_generic: Array  # whether its name says nothing but "id", "name", "code"


class Common(NamedTuple):
    """What the two sides of each candidate have in common."""

    keys: Array  # distinct keys of both
    rows_here: Array  # that have a match
    rows_there: Array
    joined: Array  # rows of the join
    called: Array  # how far the columns here are named after those there, or after their table, from 0 to 1
    same_name: Array  # share of the pairs of columns with the same name
    columns: Array  # pairs of columns
    chance: Array  # that a key there is found by chance, where it was counted; NaN: by the range of the keys
    transformed: Array  # share of the matched rows here that match by a transformation
    similar: Array  # … by similarity
    uncertain: Array  # how likely a matched row here has the wrong match, as far as the method knows; the mean of all
    cost: Array  # of the transformation: what it takes to describe it
    near: Array  # how similar the paths of the tables are in the lake, from 0 to 1; 0 outside of one
    same_table: Array  # whether rows refer to other rows of their table


def features(here: Side, there: Side, common: Common) -> Array:
    """A row for each candidate, a column for each of FEATURES; about 0 to 1 each."""
    mine, theirs = np.maximum(here.distinct, 1), np.maximum(there.distinct, 1)
    numeric = np.isin(there.kind, (INTEGER, DATE)) & np.isin(here.kind, (INTEGER, DATE))
    by_chance = chance(there, common.chance)
    span = there.high - there.low + 1
    inside = np.minimum(here.high, there.high) - np.maximum(here.low, there.low) + 1
    spread = np.where(numeric & (span > 0), np.clip(inside / np.where(span > 0, span, 1), 0, 1), 1.0)
    from_one = numeric & (there.low <= 1) & (there.low >= 0) & (here.low <= 1) & (here.low >= 0)
    longest = np.maximum(np.maximum(here.length, there.length), 1)
    columns = {
        "contained": common.keys / mine,
        "matched": common.rows_here / np.maximum(here.filled, 1),
        "missing": np.log2(1 + np.maximum(here.distinct - common.keys, 0)) / 10,
        "covered": common.keys / theirs,
        "partners_there": np.log2(np.maximum(common.joined, 1) / np.maximum(common.rows_here, 1)) / 5,
        "partners_here": np.log2(np.maximum(common.joined, 1) / np.maximum(common.rows_there, 1)) / 5,
        "unique_there": theirs / np.maximum(there.filled, 1),
        "unique_here": mine / np.maximum(here.filled, 1),
        "bits": np.log2(1 + common.keys * -np.log2(np.clip(by_chance, _LEAST_CHANCE, 1))) / 16,
        "chance": by_chance,
        "keys": np.log2(1 + common.keys) / 16,
        "size_there": np.log2(1 + theirs) / 16,
        "spread": spread,
        "from_one": from_one,
        "integer": there.kind == INTEGER,
        "real": there.kind == REAL,
        "date": there.kind == DATE,
        "flag": (mine <= 2) | (theirs <= 2),
        "same_kind": here.kind == there.kind,
        "length": np.log2(1 + there.length) / 6,
        "length_differs": np.abs(here.length - there.length) / longest,
        "called": common.called,
        "same_name": common.same_name,
        "generic_here": here.is_generic,
        "generic_there": there.is_generic,
        "leading_here": here.is_leading,
        "leading_there": there.is_leading,
        "first_here": here.place == 0,
        "first_there": there.place == 0,
        "filled_here": here.filled / np.maximum(here.rows, 1),
        "filled_there": there.filled / np.maximum(there.rows, 1),
        "columns": np.minimum(common.columns - 1, 4) / 4,
        "transformed": common.transformed,
        "similar": common.similar,
        "uncertain": common.uncertain,
        "cost": common.cost,
        "near": common.near,
        "same_table": common.same_table,
        "called_of_numbers": common.called * (there.kind == INTEGER),
        "rows_ratio": np.log2((here.rows + 1) / (there.rows + 1)) / 16,
    }
    assert tuple(columns) == FEATURES
    found: Array = np.stack([np.asarray(values, np.float64) for values in columns.values()], axis=1)
    return found


def chance(there: Side, counted: Array) -> Array:
    """How likely a key that means something else is found there all the same: how full its range is.

    A column of the row numbers 1 to 9,000 has every year; 300 codes of two letters are half of all that there are.
    """
    span = np.where(there.high >= there.low, there.high - there.low + 1, np.inf)
    of_numbers = np.minimum(1.0, there.distinct / span)
    of_codes = there.distinct / _LETTERS ** np.clip(there.length, 0.5, 20)
    found = np.where(np.isnan(there.low), np.clip(of_codes, _LEAST_CHANCE, 1), of_numbers)
    found = np.where(there.kind == REAL, np.maximum(found, _CHANCE_OF_FRACTION), found)
    merged: Array = np.where(np.isnan(counted), found, counted)
    return np.clip(merged, _LEAST_CHANCE, 1.0)


def rarity(frequency: Any, number: int) -> Any:
    """How informative a value is that `frequency` of `number` columns have: 1 if only one does."""
    return np.log1p(number / frequency) / np.log1p(number)
