"""Whether a column refers to a key: what speaks for and against it, for the columns of a whole lake.

The features follow Rostin, Albrecht, Bauckmann, Naumann, Leser: A Machine Learning Approach to Foreign Key Discovery,
WebDB 2009, and Motl, Kordík: Foreign Key Constraint Identification in Relational Databases, ITAT 2017. Some are of the
dependent column alone (`HERE`), some of the referenced one (`THERE`), the rest of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence.features import BOOLEAN, DATE, INTEGER, REAL, Side, chance
from dovetail.evidence.names import number_words, weighed_by_rarity
from dovetail.evidence.reference_kernels import PAIR_FEATURES, ReferenceColumns, reference_pairs
from dovetail.evidence.vocabulary import Vocabulary, WordLists

HERE_FEATURES = (
    "one_value", "two_values", "size_here", "repeats", "integer_here", "real_here", "date_here", "boolean_here",
    "row_number_here", "key_here", "own_key_here", "first_here", "generic_here", "key_word_here", "rows_here",
    "filled_here", "rare_name_here",
)  # fmt: skip
THERE_FEATURES = (
    "size_there", "chance", "numbered_there", "length_there", "leading_there", "first_there", "generic_there",
    "own_name_there", "key_word_there", "primary_there", "filled_there", "keys_there", "rare_name_there", "real_there",
    "date_there", "name_elsewhere",
)  # fmt: skip
FEATURES = (*HERE_FEATURES, *THERE_FEATURES, *PAIR_FEATURES)

_FEW_LETTERS = 64.0  # mean length at which a text is no key any more; arbitrary, only scales a feature


class ColumnNames(NamedTuple):
    """The names of columns: distinct names and tables, and the position of each column's among them."""

    distinct: Sequence[str]
    name_of: Array
    tables: Sequence[str]
    table_of: Array
    counts: Array  # whether a column counts, as those of removed tables do not


class References:
    """Measures pairs of columns of which one may refer to the other."""

    def __init__(self, side: Side, names: ColumnNames, could_be_key: Array) -> None:
        """`side` has an entry for each column; `could_be_key` says which repeat no value."""
        stems = [name.rpartition("/")[2].rpartition(".")[0] or name for name in names.tables]
        chosen = names.counts
        vocabulary = Vocabulary(names.distinct, names.name_of[chosen], stems, names.table_of[chosen])
        weights = vocabulary.weights
        self._here, self._there, numbers, places = _measure(side, names, could_be_key, vocabulary)
        alive = np.zeros(len(names.tables), bool)
        alive[names.table_of[chosen]] = True
        paths = weighed_by_rarity(
            number_words((pa.array(list(names.tables), pa.string()),), lambda _: 1.0)[0], alive
        )
        numbers[:, 10] = paths.totals[names.table_of]
        similar = vocabulary.similar
        self._columns = ReferenceColumns(
            numbers, places, vocabulary.names.offsets, vocabulary.names.numbers, vocabulary.tables.offsets,
            vocabulary.tables.numbers, weights, *similar, paths.offsets, paths.numbers, paths.weights,
        )  # fmt: skip

    def features(self, ones: Array, others: Array, overlaps: Array) -> Array:
        """One row for each pair, one column for each of `FEATURES`."""
        rows = np.empty((len(ones), len(PAIR_FEATURES)))
        nothing = np.zeros(len(self._here))
        reference_pairs(ones, others, overlaps, self._columns, np.zeros(len(PAIR_FEATURES)), nothing, nothing, rows)
        return np.concatenate([self._here[ones], self._there[others], rows], axis=1)


def _measure(side: Side, names: ColumnNames, keys: Array, vocabulary: Vocabulary) -> tuple[Array, Array, Array, Array]:
    """Features of dependent and of referenced columns, and what the kernel asks of a column."""
    name_of, table_of = names.name_of, names.table_of
    key_word = _any_of(vocabulary.names, vocabulary.is_key_word)[name_of]
    name_heads, table_heads = _heads(vocabulary.names, vocabulary), _heads(vocabulary.tables, vocabulary)
    generic = (name_heads < 0)[name_of]
    totals = _totals(vocabulary.names, vocabulary.weights)[name_of]
    table_totals = _totals(vocabulary.tables, vocabulary.weights)[table_of]
    owned = _named_after_table(vocabulary, name_of, table_of)
    leading = side.is_leading.astype(bool)
    distinct, filled = np.maximum(side.distinct, 1), np.maximum(side.filled, 1)
    span = side.high - side.low + 1
    numbered = (side.low >= 0) & (side.low <= 1) & (side.distinct >= 0.99 * span)
    unique = distinct >= filled
    primary = _primary(table_of, keys, np.asarray(side.place), (generic | (owned > 0.5)) & key_word, leading)
    held = np.bincount(name_of[names.counts], minlength=len(names.distinct))[name_of]
    rarity = 1 - np.log(np.maximum(held, 1)) / np.log(max(2, np.count_nonzero(names.counts)))
    key_names = np.bincount(name_of[keys & names.counts], minlength=len(names.distinct))[name_of]
    owns_name = keys / np.maximum(key_names, 1)
    known = primary | (~generic & (owns_name == 1) & (held > 2))
    keys_of_table = np.bincount(table_of[keys], minlength=len(names.tables))[table_of]
    by_chance = chance(side, side, np.full(len(distinct), np.nan))
    own_key = primary & (generic | (owned > 0.5))
    here = {
        "one_value": distinct == 1,
        "two_values": distinct == 2,
        "size_here": np.log2(1 + distinct) / 16,
        "repeats": 1 - distinct / filled,
        "integer_here": side.kind == INTEGER,
        "real_here": side.kind == REAL,
        "date_here": side.kind == DATE,
        "boolean_here": side.kind == BOOLEAN,
        "row_number_here": numbered & unique,
        "key_here": leading | primary,
        "own_key_here": own_key,
        "first_here": side.place == 0,
        "generic_here": generic,
        "key_word_here": key_word,
        "rows_here": np.log2(1 + side.rows) / 16,
        "filled_here": side.filled / np.maximum(side.rows, 1),
        "rare_name_here": rarity,
    }
    there = {
        "size_there": np.log2(1 + distinct) / 16,
        "chance": by_chance,
        "numbered_there": numbered,
        "length_there": np.minimum(1.0, side.length / _FEW_LETTERS),
        "leading_there": leading,
        "first_there": side.place == 0,
        "generic_there": generic,
        "own_name_there": owned,
        "key_word_there": key_word,
        "primary_there": known,
        "filled_there": side.filled / np.maximum(side.rows, 1),
        "keys_there": np.log2(1 + keys_of_table) / 4,
        "rare_name_there": rarity,
        "real_there": side.kind == REAL,
        "date_there": side.kind == DATE,
        "name_elsewhere": ~generic * owns_name * np.log2(np.maximum(held, 1)) / 4,
    }
    assert tuple(here) == HERE_FEATURES and tuple(there) == THERE_FEATURES
    numbers = (
        side.distinct, side.low, side.high, side.length, side.kind, -np.log2(by_chance), own_key, generic, totals,
        table_totals, np.zeros(len(distinct)), rarity, owns_name,
    )  # fmt: skip
    places = np.stack([table_of, name_of, name_heads[name_of], table_heads[table_of]], axis=1).astype(np.int32)
    return _stacked(here.values()), _stacked(there.values()), _stacked(numbers), places


def _stacked(columns) -> Array:
    return np.ascontiguousarray(np.stack([np.asarray(values, np.float64) for values in columns], axis=1))


def _any_of(lists: WordLists, holds: Array) -> Array:
    counts = np.concatenate([[0], np.cumsum(holds[lists.numbers])])
    return counts[lists.offsets[1:]] > counts[lists.offsets[:-1]]


def _totals(lists: WordLists, weights: Array) -> Array:
    sums = np.concatenate([[0.0], np.cumsum(weights[lists.numbers])])
    return sums[lists.offsets[1:]] - sums[lists.offsets[:-1]]


def _heads(lists: WordLists, vocabulary: Vocabulary) -> Array:
    """The last word of each name that is no key word, or -1."""
    heads = np.full(len(lists.offsets) - 1, -1, np.int64)
    owners = np.repeat(np.arange(len(heads)), np.diff(lists.offsets))
    telling = ~vocabulary.is_key_word[lists.numbers]
    heads[owners[telling]] = lists.numbers[telling]  # of several the last stays
    return heads


def _named_after_table(vocabulary: Vocabulary, name_of: Array, table_of: Array) -> Array:
    """How similar the name of each column is to the name of its table, from 0 to 1."""
    weights = np.where(vocabulary.is_key_word, 0.0, vocabulary.weights)
    names, tables = vocabulary.names, vocabulary.tables
    found = np.zeros(len(name_of))
    heads, totals = _heads(tables, vocabulary), _totals(names, weights)
    pairs, places = np.unique(np.stack([name_of, table_of], axis=1), axis=0, return_inverse=True)
    shares = np.zeros(len(pairs))
    for place, (name, table) in enumerate(pairs.tolist()):
        mine = names.numbers[names.offsets[name] : names.offsets[name + 1]]
        theirs = set(tables.numbers[tables.offsets[table] : tables.offsets[table + 1]].tolist())
        if totals[name] > 0 and heads[table] in mine:
            shares[place] = sum(weights[word] for word in mine.tolist() if word in theirs) / totals[name]
    found = shares[places.ravel()]
    return found


def _primary(table_of: Array, keys: Array, place: Array, named: Array, leading: Array) -> Array:
    """The key that each table is known by: the first that is named so, or else the first at all."""
    chosen = np.flatnonzero(keys)
    order = np.lexsort((place[chosen], ~named[chosen], table_of[chosen]))
    _, first = np.unique(table_of[chosen][order], return_index=True)
    found = np.zeros(len(table_of), bool)
    found[chosen[order[first]]] = True
    return found
