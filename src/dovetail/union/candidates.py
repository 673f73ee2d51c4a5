"""Tables of the lake that could be appended to mine: those that share values or names of columns.

The cost follows the tables that share something: posting lists give those with common values (JOSIE).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.search import engine
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.ranking.surroundings import Surroundings
from dovetail.tables.input_table import InputTable

_OVERLAPPING = (
    100  # columns of the lake for each of mine, by common values; arbitrary, ten times the usual number of hits
)


class Candidates:
    """What the lake knows of one table of mine."""

    def __init__(self, lake: LakeColumns, table: InputTable, allowed: Array) -> None:
        """`allowed` says which columns belong to tables that may be hits."""
        self._lake, self._table, self._allowed = lake, table, allowed
        self.around = Surroundings(lake, table)

    @cached_property
    def rarity(self) -> Array:
        """How rare the values of each of my columns are in the lake."""
        columns = self._table.columns
        weights = [Evidence(self._lake.segments, column).weights if column.size else np.zeros(1) for column in columns]
        found: Array = np.array([float(each.mean()) for each in weights])
        return found

    def with_my_names(self) -> Array:
        """The tables with at least half of the names of my columns, the rarest names first."""
        lake, around = self._lake, self.around
        named = np.flatnonzero((around.same_name >= 0) & self._allowed)
        pairs = np.unique(np.stack([lake.table_of[named], around.same_name[named]], axis=1), axis=0)
        counts = np.bincount(pairs[:, 0], minlength=lake.tables)
        tables = np.flatnonzero(2 * counts >= max(len(self._table.names), 1))
        found: Array = tables[np.argsort(-around.shared_names[tables], kind="stable")]
        return found

    def best(self, number: int) -> Array:
        """The most promising tables, best first.

        Each column of mine promises the share of its values that a table has, times their rarity, and the rarity of its
        name, if a table has it.
        """
        lake, around = self._lake, self.around
        promise = np.zeros(lake.tables)
        for place, column in enumerate(self._table.columns):
            named = lake.table_of[np.flatnonzero((around.same_name == place) & self._allowed)]
            promise[np.unique(named)] += around.name_rarity[place]
            if column.size:
                columns, overlaps = engine.overlaps(lake.segments, column.tokens, _OVERLAPPING, 1, self._allowed)
                shares = np.zeros(lake.tables)
                np.maximum.at(shares, lake.table_of[columns], overlaps / column.size)
                promise += shares * self.rarity[place]
        promise += (promise > 0) * around.called_alike
        order = np.argsort(-promise, kind="stable")[:number]
        found: Array = order[promise[order] > 0]
        return found
