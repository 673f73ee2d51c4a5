"""How likely a dependency is a foreign key: a weighted mean of plain features, between 0 and 1.

The features are in the spirit of Rostin, Albrecht, Bauckmann, Naumann, Leser: A Machine Learning Approach to Foreign
Key Discovery, WebDB 2009. A lake has no labels to learn from, so the weights are fixed, few and told:
docs/algorithms/many.md. A feature is 1 where it speaks for a foreign key, and 0 where it speaks against one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion import Pairs
from dovetail.graph.names import Words, number_words
from dovetail.graph.score_kernels import AT_HOME, Facts, home_words, named_after_tables, score_pairs
from dovetail.indexes.tokens.format import running_sum

WEIGHTS = {
    "names": 0.35,  # the dependent column is called like the referenced one, or like its table
    "surprise": 0.10,  # the values would not be found there by chance
    "coverage": 0.15,  # much of the referenced column is in use
    "key": 0.20,  # the referenced column is the first key of its table
    "repeats": 0.10,  # the dependent column repeats values: many rows refer to one
    "near": 0.10,  # the tables lie in one folder or are called alike
}
FEATURES = tuple(WEIGHTS)
OF_PARTIAL = 8  # the power of containment that a score is multiplied by
_WEIGHTS = np.array(list(WEIGHTS.values()))


class Scorer:
    """Features and scores of pairs of columns."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._columns = columns
        tables = columns.table_names.to_pylist()
        stems = pa.array([name.rpartition("/")[2].rpartition(".")[0] or name for name in tables], pa.string())
        names, of_tables = number_words((columns.distinct_names, stems))
        paths = _told_apart(number_words((pa.array(tables, pa.string()),), lambda _: 1.0)[0])
        name_of, table_of = columns.name_of, columns.table_of
        numbers = (
            sizes, *_spans(columns), columns.number_share, np.zeros(len(columns)), names.totals[name_of],
            of_tables.totals[table_of], paths.totals[table_of],
        )  # fmt: skip
        places = np.zeros((len(columns), 8), np.int32)
        places[:, :4] = np.stack([table_of, name_of, columns.leading, columns.unique], axis=1)
        home = home_words(places, names.offsets, names.numbers, of_tables.offsets, of_tables.numbers)
        self._facts = Facts(
            np.stack(numbers, axis=1), places, home, names.numbers, names.offsets, names.weights, paths.numbers,
            paths.offsets, paths.weights,
        )  # fmt: skip
        keys = np.flatnonzero(columns.leading)  # one that is called after its own table refers to nothing
        self._facts.numbers[keys, AT_HOME] = self.named_after_their_table(keys)

    def features(self, pairs: Pairs) -> Array:
        """One row a pair, one column for each of `FEATURES`."""
        rows = np.empty((len(pairs), len(FEATURES)))
        self._score(pairs, rows)
        return rows

    def scores(self, pairs: Pairs) -> Array:
        return self._score(pairs, np.empty((1, len(FEATURES))))

    def _score(self, pairs: Pairs, features: Array) -> Array:
        return score_pairs(
            pairs.dependent, pairs.referenced, pairs.overlap, self._facts, _WEIGHTS, OF_PARTIAL, features
        )

    def named_after_their_table(self, columns: Array) -> Array:
        """How much each of these columns is called like the table that it stands in."""
        return named_after_tables(columns, self._facts)


def weigh(features: Array) -> Array:
    """The scores of whole dependencies with these features."""
    scores: Array = features @ _WEIGHTS
    return scores


def _spans(columns: LakeColumns) -> tuple[Array, Array]:
    """Least and greatest value of each column of whole numbers; not a number elsewhere."""
    whole = columns.kinds == "integer"
    ends = []
    for texts in (columns.minimum, columns.maximum):
        numbers = np.full(len(whole), np.nan)
        read = whole & pc.match_substring_regex(texts, r"^-?\d+$").to_numpy(zero_copy_only=False)
        numbers[read] = texts.filter(pa.array(read)).cast(pa.float64()).to_numpy()
        ends.append(numbers)  # a number of hundreds of digits is cut short in the catalog, and stays unknown
    return ends[0], ends[1]


def _told_apart(paths: Words) -> Words:
    """Without the words that all tables have in their paths: they tell nothing of two of them."""
    tables = max(2, len(paths.offsets) - 1)
    held = np.maximum(np.bincount(paths.numbers, minlength=len(paths.weights)), 1)
    weights = paths.weights * np.log(tables / held) / np.log(tables)
    telling = weights[paths.numbers] > 0
    return Words(running_sum(telling)[paths.offsets], paths.numbers[telling], weights)
