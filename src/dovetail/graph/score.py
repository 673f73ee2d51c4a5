"""How likely a dependency is a foreign key, by the evidence that the catalog has of both columns."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.evidence.columns import as_numbers, kinds_of
from dovetail.evidence.features import Common, Side, features
from dovetail.evidence.names import Names
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.lake_columns import LakeColumns

SCORES_VERSION = 2
"""Part of the name of kept answers: raise it with every change that alters a score, a candidate or their order."""


class Scorer:
    """Features and probabilities of pairs of columns."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._columns = columns
        self._names = Names(
            columns.distinct_names, columns.name_of, columns.table_names.to_pylist(), columns.table_of
        )
        self._names.set_keys(np.flatnonzero(columns.leading))
        kinds = kinds_of(columns.kinds.tolist())
        self._side = Side(
            columns.rows.astype(np.float64),
            (columns.rows - columns.nulls).astype(np.float64),
            sizes.astype(np.float64),
            kinds,
            as_numbers(columns.minimum, kinds),
            as_numbers(columns.maximum, kinds),
            columns.mean_length,
            columns.place,
            columns.leading,
            self._names.is_generic,
        )

    def features(self, pairs: ColumnPairs) -> Array:
        """One row for each pair, one column for each of `FEATURES`."""
        here, there = (Side(*(values[places] for values in self._side)) for places in (pairs.dependent, pairs.referenced))
        common = pairs.overlap.astype(np.float64)
        matched = here.filled * common / np.maximum(here.distinct, 1)
        matched_there = there.filled * common / np.maximum(there.distinct, 1)
        joined = matched * there.filled / np.maximum(there.distinct, 1)
        called, near = self._names.compare(pairs.dependent, pairs.referenced)
        same = self._columns.name_of[pairs.dependent] == self._columns.name_of[pairs.referenced]
        own = self._columns.table_of[pairs.dependent] == self._columns.table_of[pairs.referenced]
        nothing = np.zeros(len(pairs))
        return features(
            here,
            there,
            Common(
                common, matched, matched_there, joined, called, same, nothing + 1, nothing + np.nan, nothing, nothing,
                nothing, nothing, near, own,
            ),
        )  # fmt: skip

    def named_after_their_table(self, columns: Array) -> Array:
        """How similar the name of each of these columns is to the name of its table, from 0 to 1."""
        return self._names.named_after_their_table(columns)
