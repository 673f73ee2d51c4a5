"""Whether a column refers to a key: what speaks for and against it, for the columns of a whole lake.

The features follow Rostin, Albrecht, Bauckmann, Naumann, Leser: A Machine Learning Approach to Foreign Key Discovery,
WebDB 2009, and Motl, Kordík: Foreign Key Constraint Identification in Relational Databases, ITAT 2017. Some are of the
dependent column alone, some of the referenced one, the rest of the pair (`reference_kernels`). What other references
say is in `rivals`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._model import Model, weighted_sum
from dovetail._types import Array
from dovetail.evidence.features import BOOLEAN, DATE, REAL, Side, chance
from dovetail.evidence.names import number_paths, weighed_by_rarity
from dovetail.evidence.reference_kernels import PAIR_FEATURES, ReferenceColumns, reference_pairs
from dovetail.evidence.vocabulary import Vocabulary, WordLists
from dovetail.indexes.tokens.format import running_sum

HERE_FEATURES = (
    "one_value", "two_values", "size_here", "repeats", "real_here", "date_here", "boolean_here", "row_number_here",
    "key_here", "own_key_here", "generic_here", "id_word_here",
)  # fmt: skip
THERE_FEATURES = (
    "size_there", "chance", "numbered_there", "own_name_there", "id_word_there", "known_there",
    "real_there", "date_there",
)  # fmt: skip
REFERENCE_FEATURES = (*HERE_FEATURES, *THERE_FEATURES, *PAIR_FEATURES)

_OWN_NAME = 0.5  # share of a name's words that are its table's, from which on it is named after it
_NAMESAKES = 2  # columns of other tables with the name of a key, by which it is known
_DENSE = 0.99  # of the numbers from 0 or 1 on are there: a row number with some rows removed


class ColumnNames(NamedTuple):
    """The names of columns: distinct names and tables, and the position of each column's among them."""

    distinct: Sequence[str]
    name_of: Array
    tables: Sequence[str]
    table_of: Array
    counts: Array  # whether a column counts: those of removed tables do not


class References:
    """Measures pairs of columns of which one may refer to the other."""

    def __init__(self, side: Side, names: ColumnNames, could_be_key: Array) -> None:
        """`side` has an entry for each column; `could_be_key` says which of them repeat no value."""
        stems = [name.rpartition("/")[2].rpartition(".")[0] or name for name in names.tables]
        chosen = names.counts
        vocabulary = Vocabulary(names.distinct, names.name_of[chosen], stems, names.table_of[chosen])
        weights = vocabulary.weights
        self.named_after_table = _named_after_table(vocabulary, names)
        """How far each column is named after its own table, from 0 to 1."""
        heads = _heads(vocabulary.names, vocabulary)
        generic = (heads < 0)[names.name_of]
        by_chance = chance(side, side, np.full(len(side.distinct), np.nan))
        numbered = (side.low >= 0) & (side.low <= 1) & (side.distinct >= _DENSE * (side.high - side.low + 1))
        row_number = numbered & _any_of(vocabulary.names, vocabulary.is_row_word)[names.name_of]
        id_word = _any_of(vocabulary.names, vocabulary.is_id_word)[names.name_of]
        own_name = (generic & id_word) | (self.named_after_table > _OWN_NAME)
        primary = _first_of_tables(names.table_of, could_be_key & ~row_number, ~(own_name & id_word))
        self.is_own_key: Array = primary & own_name
        """Whether a column is the key that its table is known by, by its name."""
        held = np.bincount(names.name_of[chosen], minlength=len(names.distinct))[names.name_of]
        keys_of_name = np.bincount(names.name_of[could_be_key & chosen], minlength=len(names.distinct))[names.name_of]
        owned = could_be_key / np.maximum(keys_of_name, 1)
        self.is_known_key: Array = primary | (~generic & (owned == 1) & (held > _NAMESAKES))
        """… or the only key of its name, which columns of other tables have."""
        distinct, filled = np.maximum(side.distinct, 1), np.maximum(side.filled, 1)
        here = {
            "one_value": distinct == 1,
            "two_values": distinct == 2,
            "size_here": np.log2(1 + distinct) / 16,
            "repeats": 1 - distinct / filled,
            "real_here": side.kind == REAL,
            "date_here": side.kind == DATE,
            "boolean_here": side.kind == BOOLEAN,
            "row_number_here": numbered & (distinct >= filled),
            "key_here": side.is_leading.astype(bool) | primary,
            "own_key_here": self.is_own_key,
            "generic_here": generic,
            "id_word_here": id_word,
        }
        there = {
            "size_there": np.log2(1 + distinct) / 16,
            "chance": by_chance,
            "numbered_there": numbered,
            "own_name_there": self.named_after_table,
            "id_word_there": id_word,
            "known_there": self.is_known_key.astype(np.float64) - row_number,  # which is known not to be a key
            "real_there": side.kind == REAL,
            "date_there": side.kind == DATE,
        }
        assert (tuple(here), tuple(there)) == (HERE_FEATURES, THERE_FEATURES)
        self._here, self._there = _stacked(here.values()), _stacked(there.values())
        alive = np.zeros(len(names.tables), bool)
        alive[names.table_of[chosen]] = True
        paths = weighed_by_rarity(number_paths(names.tables), alive)
        numbers = (
            side.distinct, side.low, side.high, side.length, side.kind, -np.log2(by_chance), self.is_own_key,
            _totals(vocabulary.names, weights)[names.name_of], _totals(vocabulary.tables, weights)[names.table_of],
            paths.totals[names.table_of], owned,
        )  # fmt: skip
        table_heads = _heads(vocabulary.tables, vocabulary)
        name_bits, table_bits = vocabulary.bits
        places = (
            names.table_of, names.name_of, heads[names.name_of], table_heads[names.table_of], name_bits[names.name_of],
            table_bits[names.table_of],
        )  # fmt: skip
        self._columns = ReferenceColumns(
            _stacked(numbers), np.stack(places, axis=1).astype(np.int64), vocabulary.names.offsets,
            vocabulary.names.numbers, vocabulary.tables.offsets, vocabulary.tables.numbers, weights,
            *vocabulary.similar, paths.offsets, paths.numbers, paths.weights, *_folders(names.tables),
        )  # fmt: skip

    def features(self, ones: Array, others: Array, overlaps: Array) -> Array:
        """One row for each pair, one column for each of `REFERENCE_FEATURES`."""
        rows = np.zeros((len(ones), len(PAIR_FEATURES)))
        nothing = np.zeros(len(self._here))
        if len(ones):  # one row would be one of a pair, and none is the row that is reused
            reference_pairs(ones, others, overlaps, self._columns, np.zeros(len(PAIR_FEATURES)), nothing, nothing, rows)
        return np.concatenate([self._here[ones], self._there[others], rows], axis=1)

    def log_odds(self, model: Model) -> LogOdds:
        """A function that gives the log-odds of pairs by this model, without keeping their features."""
        here, there = len(HERE_FEATURES), len(HERE_FEATURES) + len(THERE_FEATURES)
        return LogOdds(
            self._columns,
            model.intercept + weighted_sum(self._here, model.weights[:here]),
            weighted_sum(self._there, model.weights[here:there]),
            model.weights[there:],
        )

    def feature(self, name: str) -> LogOdds:
        """A function that gives one feature of pairs."""
        weights = np.array([float(feature == name) for feature in PAIR_FEATURES])
        nothing = np.zeros(len(self._here))
        return LogOdds(self._columns, nothing, nothing, weights)


class LogOdds(NamedTuple):
    """A model applied to the columns of a lake: what is left is to add what each pair has."""

    columns: ReferenceColumns
    here: Array
    there: Array
    weights: Array

    def __call__(self, ones: Array, others: Array, overlaps: Array) -> Array:
        room = np.zeros((1, len(self.weights)))
        return reference_pairs(ones, others, overlaps, self.columns, self.weights, self.here, self.there, room)


def _folders(tables: Sequence[str]) -> tuple[Array, Array]:
    """For each table, bounded by offsets, the numbers of the folders that hold it, the outermost first."""
    numbering: dict[str, int] = {}
    found = []
    for table in tables:
        parts = table.split("/")[:-1]
        paths = ("/".join(parts[: depth + 1]) for depth in range(len(parts)))
        found.append([numbering.setdefault(path, len(numbering)) for path in paths])
    sizes = np.array([len(one) for one in found], np.int64)
    return running_sum(sizes), np.array([number for one in found for number in one], np.int64)


def _stacked(columns: Iterable[Array]) -> Array:
    return np.stack([np.asarray(values, np.float64) for values in columns], axis=1)


def _any_of(lists: WordLists, holds: Array) -> Array:
    """Whether any word of each name is one of these."""
    found: Array = _totals(lists, holds.astype(np.float64)) > 0
    return found


def _totals(lists: WordLists, weights: Array) -> Array:
    """The weight of all words of each name."""
    sums = np.concatenate([[0.0], np.cumsum(weights[lists.numbers])])
    totals: Array = sums[lists.offsets[1:]] - sums[lists.offsets[:-1]]
    return totals


def _heads(lists: WordLists, vocabulary: Vocabulary) -> Array:
    """What each name says it is: its last word that is no key word, or -1."""
    heads = np.full(len(lists.offsets) - 1, -1, np.int64)
    owners = np.repeat(np.arange(len(heads)), np.diff(lists.offsets))
    telling = ~vocabulary.is_key_word[lists.numbers]
    heads[owners[telling]] = lists.numbers[telling]  # of several the last stays
    return heads


def _named_after_table(vocabulary: Vocabulary, names: ColumnNames) -> Array:
    """The share of each column's words that are forms of its table's, if what the table is about is among them."""
    weights = np.where(vocabulary.is_key_word, 0.0, vocabulary.weights)
    heads, number = _heads(vocabulary.tables, vocabulary), max(1, len(vocabulary))
    words = vocabulary.members(names.name_of)
    columns = np.repeat(np.arange(len(names.name_of)), np.diff(vocabulary.names.offsets)[names.name_of])
    offsets, similar, similarity = vocabulary.similar
    sizes = np.diff(offsets)[words]
    entry = np.repeat(np.arange(len(words)), sizes)  # which word of which column each form is of
    place = np.arange(len(entry)) - np.repeat(running_sum(sizes)[:-1] - offsets[words], sizes)
    form, table = similar[place], names.table_of[columns[entry]]
    owners = np.repeat(np.arange(len(vocabulary.tables.offsets) - 1), np.diff(vocabulary.tables.offsets))
    of_table = np.isin(table * number + form, owners * number + vocabulary.tables.numbers)
    found = np.zeros(len(words))
    np.maximum.at(found, entry[of_table], similarity[place][of_table])
    is_head = of_table & (form == heads[table])
    has_head = np.bincount(columns[entry[is_head]], minlength=len(names.name_of)) > 0
    common = np.bincount(columns, weights=weights[words] * found, minlength=len(names.name_of))
    total = _totals(vocabulary.names, weights)[names.name_of]
    return np.where(has_head & (total > 0), common / np.where(total > 0, total, 1.0), 0.0)


def _first_of_tables(table_of: Array, chosen: Array, later: Array) -> Array:
    """The first of the chosen columns of each table; those that come `later` only where there are no others."""
    places = np.flatnonzero(chosen)
    order = places[np.lexsort((places, later[places], table_of[places]))]
    _, first = np.unique(table_of[order], return_index=True)
    found = np.zeros(len(table_of), bool)
    found[order[first]] = True
    return found
