"""How likely a dependency is a foreign key: a weighted mean of simple features, between 0 and 1.

The features follow Rostin, Albrecht, Bauckmann, Naumann, Leser: A Machine Learning Approach to Foreign Key Discovery,
WebDB 2009. A lake has no labels to learn from, so the weights are fixed and few: docs/guides/whole-lake.md. A feature
is 1 where it speaks for a foreign key, and 0 where it speaks against one.

Names are compared by their words: `ArtistId`, `artist_id` and the table `artists.csv` share one. The beginning of a
word counts separately, so that `emp_no` is similar to `employees`. Words of any key (id, key, number) and single
letters count little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.lake_columns import LakeColumns
from dovetail.graph.score_kernels import (
    AT_HOME,
    ColumnFacts,
    home_words,
    named_after_tables,
    score_pairs,
    total_weights,
)
from dovetail.indexes.tokens.format import running_sum

SCORES_VERSION = 1
"""Part of the name of kept answers: raise it with every change that alters a score, a candidate or their order."""

# Weights and powers are set by hand; `benchmarks/inclusion/keys.py` measures what they find.
WEIGHTS = {
    "names": 0.35,  # the dependent column is named after the referenced one, or after its table
    "surprise": 0.10,  # the values would not be found there by chance
    "coverage": 0.15,  # much of the referenced column is in use
    "key": 0.20,  # the referenced column is the first key of its table
    "repeats": 0.10,  # the dependent column repeats values: many rows refer to one
    "near": 0.10,  # same folder or similar file names
}
FEATURES = tuple(WEIGHTS)
PARTIAL_POWER = 8  # a score is multiplied by this power of the containment
_WEIGHTS = np.array(list(WEIGHTS.values()))

_WORD = re.compile(r"ID(?![^\W\d_A-Z]?[A-Z])|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
KEY_WORDS = frozenset(
    {"id", "key", "no", "nr", "num", "number", "code", "ref", "pk", "fk", "uuid", "name", "the", "of"}
)
_KEY_WORD_WEIGHT = 0.15
_BEGINNING = 3  # letters
_BEGINNING_SHARE = 0.4  # of the weight of a word


class Scorer:
    """Features and scores of pairs of columns."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._columns = columns
        tables = columns.table_names.to_pylist()
        stems = pa.array([name.rpartition("/")[2].rpartition(".")[0] or name for name in tables], pa.string())
        names, of_tables = number_words((columns.distinct_names, stems))
        paths = _weighed_by_rarity(number_words((pa.array(tables, pa.string()),), lambda _: 1.0)[0])
        name_of, table_of = columns.name_of, columns.table_of
        numbers = (
            sizes, *_spans(columns), columns.number_share, np.zeros(len(columns)), names.totals[name_of],
            of_tables.totals[table_of], paths.totals[table_of],
        )  # fmt: skip
        places = np.zeros((len(columns), 8), np.int32)
        places[:, :4] = np.stack([table_of, name_of, columns.leading, columns.unique], axis=1)
        home = home_words(places, names.offsets, names.numbers, of_tables.offsets, of_tables.numbers)
        self._facts = ColumnFacts(
            np.stack(numbers, axis=1), places, home, names.numbers, names.offsets, names.weights, paths.numbers,
            paths.offsets, paths.weights,
        )  # fmt: skip
        keys = np.flatnonzero(columns.leading)  # a key that is named after its own table refers to nothing
        self._facts.numbers[keys, AT_HOME] = self.named_after_their_table(keys)

    def features(self, pairs: ColumnPairs) -> Array:
        """One row for each pair, one column for each of `FEATURES`."""
        rows = np.empty((len(pairs), len(FEATURES)))
        self._score(pairs, rows)
        return rows

    def scores(self, pairs: ColumnPairs) -> Array:
        return self._score(pairs, np.empty((1, len(FEATURES))))

    def _score(self, pairs: ColumnPairs, features: Array) -> Array:
        return score_pairs(
            pairs.dependent, pairs.referenced, pairs.overlap, self._facts, _WEIGHTS, PARTIAL_POWER, features
        )

    def named_after_their_table(self, columns: Array) -> Array:
        """How similar the name of each of these columns is to the name of its table, from 0 to 1."""
        return named_after_tables(columns, self._facts)


def weigh(features: Array) -> Array:
    """The scores of whole dependencies with these features, a row each."""
    # Not a matrix product: its rounding may depend on the number of rows.
    scores: Array = sum((features[:, i] * weight for i, weight in enumerate(_WEIGHTS)), np.zeros(len(features)))
    return scores


def words(name: str) -> list[str]:
    """The words of a name, in lower case and in the singular."""
    return [_singular(word.lower()) for word in _WORD.findall(name)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def word_weight(word: str) -> float:
    return _KEY_WORD_WEIGHT if word in KEY_WORDS or len(word) == 1 or word.isdigit() else 1.0


@dataclass(frozen=True)
class NameWords:
    """For each name, the numbers of its words and their beginnings, ascending; and the weight of each word."""

    offsets: Array
    numbers: Array
    weights: Array

    @cached_property
    def totals(self) -> Array:
        """The weight of all words of each name."""
        return total_weights(self.offsets, self.numbers, self.weights)


def number_words(lists: Iterable[pa.Array], weigh: Callable[[str], float] = word_weight) -> list[NameWords]:
    """The words of several arrays of names, with one numbering for all."""
    numbering: dict[str, int] = {}
    weights: list[float] = []
    parts = []
    for names in lists:
        sizes, numbers = [], []
        for name in names.to_pylist():
            mine = set()
            for word in words(name):
                weight = weigh(word)
                for part, share in ((word, 1 - _BEGINNING_SHARE), (word[:_BEGINNING] + "…", _BEGINNING_SHARE)):
                    if part not in numbering:
                        numbering[part] = len(weights)
                        weights.append(share * weight)
                    mine.add(numbering[part])
            sizes.append(len(mine))
            numbers += sorted(mine)
        parts.append((running_sum(np.array(sizes, np.int64)), np.array(numbers, np.int64)))
    by_word = np.array(weights, np.float64)
    return [NameWords(offsets, numbers, by_word) for offsets, numbers in parts]


def _weighed_by_rarity(paths: NameWords) -> NameWords:
    """Words weighed by inverse document frequency; those in the path of every table are dropped."""
    tables = max(2, len(paths.offsets) - 1)
    held = np.maximum(np.bincount(paths.numbers, minlength=len(paths.weights)), 1)
    weights = paths.weights * np.log(tables / held) / np.log(tables)
    telling = weights[paths.numbers] > 0
    return NameWords(running_sum(telling)[paths.offsets], paths.numbers[telling], weights)


def _spans(columns: LakeColumns) -> tuple[Array, Array]:
    """The least and greatest value of each column of whole numbers; NaN for others."""
    whole = columns.kinds == "integer"
    ends = []
    for texts in (columns.minimum, columns.maximum):
        numbers = np.full(len(whole), np.nan)
        read = whole & pc.match_substring_regex(texts, r"^-?\d+$").to_numpy(zero_copy_only=False)
        numbers[read] = texts.filter(pa.array(read)).cast(pa.float64()).to_numpy()
        ends.append(numbers)  # a number of hundreds of digits is truncated in the catalog and stays NaN
    return ends[0], ends[1]
