"""How likely a dependency is a foreign key: a weighted mean of plain features, between 0 and 1.

The features are in the spirit of Rostin, Albrecht, Bauckmann, Naumann, Leser: A Machine Learning Approach to Foreign
Key Discovery, WebDB 2009. A lake has no labels to learn from, so the weights are fixed, few and told:
docs/algorithms/many.md. A feature is 1 where it speaks for a foreign key, and 0 where it speaks against one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion import Pairs
from dovetail.graph.names import Words, number_words
from dovetail.graph.score_kernels import alike, named_after

Array = npt.NDArray[Any]

WEIGHTS = {
    "names": 0.35,  # the dependent column is called like the referenced one, or like its table
    "surprise": 0.10,  # the values would not be found there by chance
    "coverage": 0.15,  # much of the referenced column is in use
    "key": 0.20,  # the referenced column is the first key of its table
    "repeats": 0.10,  # the dependent column repeats values: many rows refer to one
    "near": 0.10,  # the tables lie in one folder or are called alike
}
FEATURES = tuple(WEIGHTS)
_OF_PARTIAL = 4  # the power of containment that a score is multiplied by
_SAME_TABLE = 0.5  # rows do refer to other rows of their table, but not often
_SURE = 5.0  # values that are half of full evidence


class Scorer:
    """Features and scores of pairs of columns."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._columns = columns
        self._sizes = sizes
        tables = columns.table_names.to_pylist()
        stems = pa.array([name.rpartition("/")[2].rpartition(".")[0] or name for name in tables], pa.string())
        distinct = columns.names.dictionary_encode()
        self._name_of = distinct.indices.to_numpy().astype(np.int64)
        self._columns_words, self._tables_words = number_words(
            (pa.concat_arrays([distinct.dictionary, pa.array([""])]), stems)
        )
        self._paths = _told_apart(number_words((pa.array(tables, pa.string()),), lambda _: 1.0)[0])

    @cached_property
    def _spans(self) -> tuple[Array, Array]:
        """Least and greatest value of each column of whole numbers; not a number elsewhere."""
        whole = self._columns.kinds == "integer"
        ends = []
        for texts in (self._columns.minimum, self._columns.maximum):
            numbers = np.full(len(whole), np.nan)
            read = whole & pc.match_substring_regex(texts, r"^-?\d+$").to_numpy(zero_copy_only=False)
            numbers[read] = texts.filter(pa.array(read)).cast(pa.float64()).to_numpy()
            ends.append(numbers)  # a number of hundreds of digits is cut short in the catalog, and stays unknown
        return ends[0], ends[1]

    def features(self, pairs: Pairs) -> Array:
        """One row a pair, one column for each of `FEATURES`."""
        one, other = pairs.dependent.astype(np.int64), pairs.referenced.astype(np.int64)
        columns = self._columns
        coverage = pairs.overlap / np.maximum(self._sizes[other], 1)
        return np.stack(
            [
                self._names(one, other),
                self._surprise(one, other, pairs.overlap),
                coverage,
                np.where(columns.leading[other], 1.0, 0.0),
                np.where(columns.leading[one], 0.0, np.where(columns.unique[one], 0.5, 1.0)),
                self._near(one, other),
            ],
            axis=1,
        )

    def scores(self, pairs: Pairs) -> Array:
        return self.weigh(self.features(pairs), self.containment(pairs))

    def weigh(self, features: Array, containment: Array) -> Array:
        scores: Array = features @ np.array(list(WEIGHTS.values())) * containment**_OF_PARTIAL
        return scores

    def containment(self, pairs: Pairs) -> Array:
        """The share of the dependent column's values; a column without any is included as a whole."""
        sizes = self._sizes[pairs.dependent.astype(np.int64)]
        return np.where(sizes == 0, 1.0, pairs.overlap / np.maximum(sizes, 1))

    def coverage(self, pairs: Pairs) -> Array:
        return pairs.overlap / np.maximum(self._sizes[pairs.referenced.astype(np.int64)], 1)

    def _names(self, one: Array, other: Array) -> Array:
        told = self._after(self._name_of[one], self._name_of[other], self._columns.table_of[other])
        found: Array = np.maximum(0.0, told - self._at_home[one])
        return found

    @cached_property
    def _at_home(self) -> Array:
        """How much a column that is its table's first key is called after it: such a one refers to nothing."""
        keys = np.flatnonzero(self._columns.leading)
        found = np.zeros(len(self._columns))
        found[keys] = self.named_after_their_table(keys)
        return found

    def named_after_their_table(self, columns: Array) -> Array:
        """How much each of these columns is called like the table that it stands in."""
        nameless = np.full(len(columns), len(self._columns_words.offsets) - 2)
        return self._after(self._name_of[columns], nameless, self._columns.table_of[columns])

    def _after(self, names: Array, others: Array, tables: Array) -> Array:
        words, paths = self._columns_words, self._tables_words
        return named_after(
            words.offsets, words.numbers, paths.offsets, paths.numbers, words.weights, words.totals, paths.totals,
            names, others, tables,
        )  # fmt: skip

    def _near(self, one: Array, other: Array) -> Array:
        paths, tables = self._paths, self._columns.table_of
        found = alike(paths.offsets, paths.numbers, paths.weights, paths.totals, tables[one], tables[other])
        found[tables[one] == tables[other]] = _SAME_TABLE
        return found

    def _surprise(self, one: Array, other: Array, overlap: Array) -> Array:
        """Few values say little; whole numbers say nothing where the other column is full of them.

        Of columns in which only some values are numbers nothing more is known: these are taken to be full.
        """
        low, high = self._spans
        room = high[other] - low[other] + 1
        mixed = np.minimum(self._columns.number_share[one], self._columns.number_share[other])
        full = np.where(np.isnan(room) | np.isnan(low[one]), mixed, np.minimum(1.0, self._sizes[other] / room))
        evidence = overlap / (overlap + _SURE)
        surprise: Array = evidence * (1 - full)
        return surprise


def _told_apart(paths: Words) -> Words:
    """A word that all tables have in their paths tells nothing of two of them."""
    tables = max(2, len(paths.offsets) - 1)
    held = np.maximum(np.bincount(paths.numbers, minlength=len(paths.weights)), 1)
    return Words(paths.offsets, paths.numbers, paths.weights * np.log(tables / held) / np.log(tables))
