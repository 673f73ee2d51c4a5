"""How far a column is named after another one, or after its table.

Names are compared by their words: `ArtistId`, `artist_id` and the table `artists.csv` share one. The beginning of a
word counts separately, so that `emp_no` is similar to `employees`. Words of any key (id, key, number) and single
letters count little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence.name_kernels import (
    AT_HOME,
    NamedColumns,
    compare_names,
    home_words,
    named_after_tables,
    total_weights,
)
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import stem_of

_WORD = re.compile(r"ID(?![^\W\d_A-Z]?[A-Z])|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
KEY_WORDS = frozenset(
    {
        "id",
        "key",
        "no",
        "nr",
        "num",
        "number",
        "code",
        "ref",
        "pk",
        "fk",
        "uuid",
        "guid",
        "rowid",
        "identifier",
        "name",
        "the",
        "of",
    }
)
ID_WORDS = KEY_WORDS - {"name", "ref", "the", "of"}
"""Words that say that a column identifies the rows of a table."""
ROW_WORDS = frozenset({"row", "rowname", "index", "unnamed"})
"""Words that programs give to a column of row numbers when they write a table: nobody refers to it."""

# Set by hand, when only eight of the present databases were there.
_KEY_WORD_WEIGHT = 0.15
_BEGINNING = 3  # letters
_BEGINNING_SHARE = 0.4  # of the weight of a word


class Names:
    """The names of some columns and of their tables."""

    def __init__(self, distinct_names: pa.Array, name_of: Array, tables: Sequence[str], table_of: Array) -> None:
        """`name_of` and `table_of` are positions, one for each column."""
        stems = pa.array(map(stem_of, tables), pa.string())
        names, of_tables = number_words((distinct_names, stems))
        paths = weighed_by_rarity(number_words((pa.array(list(tables), pa.string()),), lambda _: 1.0)[0])
        numbers = (names.totals[name_of], of_tables.totals[table_of], paths.totals[table_of], np.zeros(len(name_of)))
        places = np.zeros((len(name_of), 6), np.int32)
        places[:, :2] = np.stack([table_of, name_of], axis=1)
        home = home_words(places, names.offsets, names.numbers, of_tables.offsets, of_tables.numbers)
        self._columns = NamedColumns(
            np.stack(numbers, axis=1), places, home, names.numbers, names.offsets, names.weights, paths.numbers,
            paths.offsets, paths.weights,
        )  # fmt: skip
        told = np.array([max(map(word_weight, words(name)), default=0.0) for name in distinct_names.to_pylist()])
        self.is_generic: Array = (told < 1.0)[name_of] if len(told) else np.zeros(0, bool)
        """Whether a name says nothing but "id", "name" or "code"."""

    def set_keys(self, columns: Array) -> None:
        """Columns that are named after their own table, and are its key, refer to nothing."""
        self._columns.numbers[columns, AT_HOME] = self.named_after_their_table(columns)

    def compare(self, ones: Array, others: Array) -> tuple[Array, Array]:
        """How far each of `ones` is named after each of `others`, and how similar the paths of their tables are."""
        called, near = np.empty(len(ones)), np.empty(len(ones))
        compare_names(ones, others, self._columns, called, near)
        return called, near

    def named_after_their_table(self, columns: Array) -> Array:
        """How similar the name of each of these columns is to the name of its table, from 0 to 1."""
        return named_after_tables(columns, self._columns)


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


def number_paths(paths: Iterable[str]) -> NameWords:
    """The words of the paths of tables, folders too."""
    numbering: dict[str, int] = {}
    found = [sorted({numbering.setdefault(word, len(numbering)) for word in words(path)}) for path in paths]
    sizes = np.array([len(one) for one in found], np.int64)
    return NameWords(
        running_sum(sizes), np.array([number for one in found for number in one], np.int64), np.ones(len(numbering))
    )


def weighed_by_rarity(paths: NameWords, counts: Array | None = None) -> NameWords:
    """Words weighed by inverse document frequency over the paths that count; those in every path are dropped."""
    chosen = np.ones(len(paths.offsets) - 1, bool) if counts is None else counts
    number = max(2, int(np.count_nonzero(chosen)))
    held = np.bincount(paths.numbers[np.repeat(chosen, np.diff(paths.offsets))], minlength=len(paths.weights))
    weights = paths.weights * np.log(number / np.maximum(held, 1)) / np.log(number)
    telling = weights[paths.numbers] > 0
    return NameWords(running_sum(telling)[paths.offsets], paths.numbers[telling], weights)
