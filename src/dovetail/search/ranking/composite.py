"""Joins on several columns together, where no column is named.

A pair of columns that repeats rows may be part of a key: other pairs of columns of the same table are added to it if
together they identify the rows of one of the tables, and have the same names: among other columns, too many sets
identify rows by chance. What the tuples match is counted row by row, and judged by the same model as a single pair; the
likelier of the two is the table's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dovetail._model import Model
from dovetail._types import Array
from dovetail.evidence.columns import ROWS_PER_NULL
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.search.engine import KeyMatch
from dovetail.search.hit import Hit
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import Numbers, QueryKey, query_key
from dovetail.search.ranking.features import FEATURES, Pairs
from dovetail.tables.input_table import InputTable

_MOST_COLUMNS = 3
_TABLES = 12  # arbitrary, for time: those that are shown, and a few that may rise
_OTHERS = 6  # pairs of columns that may be added to one, the likeliest first; arbitrary, for time
_CONTAINED = 0.5  # of my values, at least, in each column of a key; arbitrary
_MOST_ROWS = 1_000_000  # that are read in one search, of all tables; arbitrary, for time: about a fifth of a second
_BLOCK, _LEAST_OF_BLOCK = 2_000, 0.9  # rows that are read first, and how many tuples differ; arbitrary, for time
_IDENTIFIED = 0.99  # of the rows, by a key; arbitrary: in real data, a few rows are there twice

_ALL = ("from_one", "integer", "real", "date", "generic_there", "rivals", "shared_names")
"""Features of a composite key that are the least of its pairs: what speaks against each of them, or counts others."""
_ANY = ("rare_values", "rare_name", "ends_alike", "leading_there", "first_there")
"""Those that are the greatest. All others that are not counted anew are the mean."""


class Composite(NamedTuple):
    """Several pairs of columns of one table that join together."""

    hit: Hit
    features: Array
    log_odds: float


class CompositeKeys:
    """Looks for joins on several columns among counted pairs of columns."""

    def __init__(
        self,
        lake: LakeColumns,
        table: InputTable,
        model: Model,
        pairs: Pairs,
        features: Array,
        rejects: Callable[[Hit], bool],
    ) -> None:
        """`rejects` says whether a person decided that these columns never join."""
        self._lake, self._table, self._model, self._rejects = lake, table, model, rejects
        self._pairs, self._features = pairs, features
        self._odds: Array = model.log_odds(features)
        self._rows_left = _MOST_ROWS
        self._key = lru_cache(maxsize=None)(self._query_key)

    def better(self, chosen: Sequence[int]) -> dict[int, Composite]:
        """The joins on several columns that are better than the best pair of their table, whose place is given."""
        found = {}
        for place in chosen[:_TABLES]:
            for size in range(2, _MOST_COLUMNS + 1):
                judged = [self._judged(places) for places in self._candidates(place, size)]
                best = max((each for each in judged if each is not None), key=lambda each: each.log_odds, default=None)
                if best is not None and best.log_odds > self._odds[place]:
                    found[place] = best
                    break
        return found

    def _candidates(self, place: int, size: int) -> list[tuple[int, ...]]:
        """Sets of pairs of columns of the table that identify its rows or mine, with the likeliest that is no key."""
        pairs, lake = self._pairs, self._lake
        same = np.flatnonzero(lake.table_of[pairs.theirs] == lake.table_of[pairs.theirs[place]])
        part = same[self._features[same, FEATURES.index("contained")] >= _CONTAINED]
        part = part[~lake.keys[pairs.theirs[part]] & (self._features[part, FEATURES.index("same_name")] == 1)]
        part = part[np.argsort(-self._odds[part], kind="stable")]
        if not len(part):
            return []
        rest = self._free(part[1:], part[:1])[:_OTHERS].tolist()
        sets = [(int(part[0]), *others) for others in itertools.combinations(rest, size - 1)]
        return [each for each in sets if self._is_key(np.array(each))]

    def _free(self, places: Array, taken: Array) -> Array:
        """The pairs whose columns are not taken."""
        mine, theirs = self._pairs.mine, self._pairs.theirs
        free = ~np.isin(mine[places], mine[taken]) & ~np.isin(theirs[places], theirs[taken])
        found: Array = places[free]
        return found

    def _is_key(self, places: Array) -> bool:
        """Whether these columns together identify the rows of their table or of mine; each column once."""
        mine, theirs = self._pairs.mine[places], self._pairs.theirs[places]
        if len(set(mine.tolist())) < len(places) or len(set(theirs.tolist())) < len(places):
            return False
        return self._identifies_theirs(theirs) or self._identifies_mine(mine)

    def _identifies_theirs(self, columns: Array) -> bool:
        lake = self._lake
        rows, filled = int(lake.rows[columns[0]]), float(lake.filled[columns].min())
        enough = float(np.prod(lake.distinct[columns])) >= filled
        if not enough or (rows - filled) * ROWS_PER_NULL > rows:
            return False
        if rows > _BLOCK and self._distinct_share(columns, _BLOCK) < _LEAST_OF_BLOCK:
            return False
        return self._may_read(rows) and self._distinct_share(columns, rows) >= _IDENTIFIED

    def _distinct_share(self, columns: Array, rows: int) -> float:
        """Distinct tuples among the first rows of a table, for each that has one."""
        places = [self._lake.place_of(int(column)) for column in columns]
        codes = [segment.rows.codes(column, 0, rows) for segment, column in places]
        whole = np.logical_and.reduce([each >= 0 for each in codes])
        return len(Numbers([each[whole] for each in codes]).known) / max(1, int(whole.sum()))

    def _identifies_mine(self, columns: Array) -> bool:
        sizes = [float(self._table.columns[column].size) for column in columns.tolist()]
        if float(np.prod(sizes)) < self._table.rows:
            return False
        key = self._key(tuple(self._table.names[column] for column in columns.tolist()))
        return key is not None and key.size >= _IDENTIFIED * key.rows

    def _judged(self, places: tuple[int, ...]) -> Composite | None:
        """The join on several pairs of columns; None if no row matches, or too many would have to be read."""
        columns = [self._lake.place_of(int(self._pairs.theirs[place])) for place in places]
        segment, numbers = columns[0][0], tuple(column for _, column in columns)
        key = self._key(tuple(self._table.names[self._pairs.mine[place]] for place in places))
        if key is None or not self._may_read(int(self._lake.rows[self._pairs.theirs[places[0]]])):
            return None
        hit = key_hit(key, KeyMatch(segment, int(segment.table_of[numbers[0]]), numbers, 0), 0)
        if not hit.overlap or self._rejects(hit):
            return None
        filled = float(self._lake.filled[self._pairs.theirs[list(places)]].min())
        features = _features(self._features[list(places)], hit, float(key.counts.sum()), filled)
        return Composite(hit, features, float(self._model.log_odds(features[None])[0]))

    def _query_key(self, names: tuple[str, ...]) -> QueryKey | None:
        codes = [self._table.column(name).codes() >= 0 for name in names]
        if not self._may_read(self._table.rows) or not np.logical_and.reduce(codes).any():
            return None
        return query_key(self._table, names)

    def _may_read(self, rows: int) -> bool:
        """Whether so many rows are left to read; then they count as read."""
        enough = rows <= self._rows_left
        self._rows_left -= rows * enough
        return enough


def _features(pairs: Array, hit: Hit, filled_here: float, filled_there: float) -> Array:
    """Those of the join on several pairs of columns: counted for their tuples, or combined from those of each pair."""
    values = dict(zip(FEATURES, pairs.mean(axis=0).tolist(), strict=True))
    of_each = dict(zip(FEATURES, pairs.T, strict=True))
    values.update({name: float(of_each[name].min()) for name in _ALL})
    values.update({name: float(of_each[name].max()) for name in _ANY})
    keys, is_key = hit.overlap, hit.column_size >= _IDENTIFIED * hit.table_rows
    contained, near, called = keys / hit.query_size, values["near"], values["called"]
    values |= {
        "contained": contained,
        "matched": hit.matched_rows / max(filled_here, 1),
        "missing": np.log2(1 + hit.query_size - keys) / 10,
        "covered": keys / hit.column_size,
        "partners_there": np.log2(max(hit.joined_rows, 1) / max(hit.matched_rows, 1)) / 5,
        "partners_here": np.log2(max(hit.joined_rows, 1) / max(hit.matched_table_rows, 1)) / 5,
        "unique_there": hit.column_size / max(filled_there, 1),
        "unique_here": hit.query_size / max(filled_here, 1),
        "bits": np.log2(1 + keys * -np.log2(of_each["chance"]).sum()) / 16,
        "chance": float(of_each["chance"].prod()),
        "keys": np.log2(1 + keys) / 16,
        "size_there": np.log2(1 + hit.column_size) / 16,
        "flag": min(hit.query_size, hit.column_size) <= 2,
        "filled_there": filled_there / max(hit.table_rows, 1),
        "columns": min(len(pairs) - 1, 4) / 4,
        "rare_bits": np.log2(1 + keys * of_each["rare_values"].sum()) / 16,
        "lookup": hit.joined_rows <= hit.matched_rows and bool(hit.brings),
        "near_called": near * called,
        "near_key": near * is_key,
        "called_key": called * is_key,
        "contained_key": contained * is_key,
        "ends_alike_key": values["ends_alike"] * is_key,
    }
    return np.array([float(values[name]) for name in FEATURES])
