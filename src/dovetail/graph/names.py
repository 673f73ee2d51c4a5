"""Names as words: what `ArtistId`, `artist_id` and the table `artists.csv` have in common.

A word counts with its beginning apart, so that `emp_no` is not far from `employees`. Words that any key is called by
(id, key, number) count little, and so do single letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.graph.score_kernels import total_weights
from dovetail.indexes.tokens.format import running_sum

_WORD = re.compile(r"ID(?![^\W\d_A-Z]?[A-Z])|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
ANY_KEY = frozenset({"id", "key", "no", "nr", "num", "number", "code", "ref", "pk", "fk", "uuid", "name", "the", "of"})
_LITTLE = 0.15
_BEGINNING = 3
_OF_BEGINNING = 0.4  # of a word's weight


def words(name: str) -> list[str]:
    """The words of a name, small and in the singular."""
    return [_singular(word.lower()) for word in _WORD.findall(name)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def word_weight(word: str) -> float:
    return _LITTLE if word in ANY_KEY or len(word) == 1 or word.isdigit() else 1.0


@dataclass(frozen=True)
class Words:
    """For each name the numbers of its words and beginnings, ascending, of one numbering; and the weights."""

    offsets: Array
    numbers: Array
    weights: Array

    @cached_property
    def totals(self) -> Array:
        """The weight of all words of each name."""
        return total_weights(self.offsets, self.numbers, self.weights)


def number_words(lists: Iterable[pa.Array], weigh: Callable[[str], float] = word_weight) -> list[Words]:
    """Words of several arrays of names, numbered alike."""
    numbering: dict[str, int] = {}
    weights: list[float] = []
    parts = []
    for names in lists:
        sizes, numbers = [], []
        for name in names.to_pylist():
            mine = set()
            for word in words(name):
                weight = weigh(word)
                for part, share in ((word, 1 - _OF_BEGINNING), (word[:_BEGINNING] + "…", _OF_BEGINNING)):
                    if part not in numbering:
                        numbering[part] = len(weights)
                        weights.append(share * weight)
                    mine.add(numbering[part])
            sizes.append(len(mine))
            numbers += sorted(mine)
        parts.append((running_sum(np.array(sizes, np.int64)), np.array(numbers, np.int64)))
    by_word = np.array(weights, np.float64)
    return [Words(offsets, numbers, by_word) for offsets, numbers in parts]
