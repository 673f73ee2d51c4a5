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
from dovetail.evidence.features import BOOLEAN, DATE, INTEGER, REAL, TEXT, Side, chance
from dovetail.evidence.names import number_paths, weighed_by_rarity
from dovetail.evidence.reference_kernels import PAIR_FEATURES, ReferenceColumns, measure_pairs, score_pairs
from dovetail.evidence.vocabulary import ColumnNames, ColumnWords
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import folders_of

HERE_FEATURES = (
    "one_value", "two_values", "size_here", "repeats", "real_here", "date_here", "boolean_here", "row_number_here",
    "key_here", "own_key_here", "generic_here", "id_word_here", "text_here", "id_of_number_here",
)  # fmt: skip
THERE_FEATURES = (
    "size_there", "chance", "numbered_there", "own_name_there", "id_word_there", "known_there",
    "real_there", "date_there", "id_of_number_there",
)  # fmt: skip
REFERENCE_FEATURES = (*HERE_FEATURES, *THERE_FEATURES, *PAIR_FEATURES)

_OWN_NAME = 0.5  # share of a name's words that are its table's, from which on it is named after it
_NAMESAKES = 2  # columns of other tables with the name of a key, by which it is known
_DENSE = 0.99  # of the numbers from 0 or 1 on are there: a row number with some rows removed


class _TableKeys(NamedTuple):
    """Which columns are the keys of their tables, as far as their names and positions say."""

    numbered: Array  # the numbers from 0 or 1 on, with hardly a gap
    row_number: Array  # … and named so
    primary: Array  # the column that a table is known by
    own: Array  # … named after its table, or just "id"
    known: Array  # … or the only key of its name, which columns of other tables have
    owned: Array  # 1 / number of keys of its name; 0 for other columns


class References:
    """Measures pairs of columns of which one may refer to the other."""

    def __init__(
        self, side: Side, names: ColumnNames, could_be_key: Array, declared: tuple[Array, Array] | None = None
    ) -> None:
        """`side` has an entry for each column; `could_be_key` says which of them repeat no value.

        `declared` says of which tables the database declares a primary key, and which columns alone are one.
        """
        words = ColumnWords(names)
        keys = _table_keys(side, names, words, could_be_key, declared)
        by_chance = chance(side, np.full(len(side.distinct), np.nan))
        self.named_after_table, self.is_own_key, self.is_known_key = words.named_after_table, keys.own, keys.known
        self._here = _here_features(side, words, keys)
        self._there = _there_features(side, words, keys, by_chance)
        self._columns = _reference_columns(side, names, words, keys, -np.log2(by_chance))

    def features(self, ones: Array, others: Array, overlaps: Array) -> Array:
        """One row for each pair, one column for each of `REFERENCE_FEATURES`."""
        rows = np.empty((len(ones), len(PAIR_FEATURES)))
        measure_pairs(ones, others, overlaps, self._columns, rows)
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
        return score_pairs(ones, others, overlaps, self.columns, self.weights, self.here, self.there)


def _table_keys(
    side: Side, names: ColumnNames, words: ColumnWords, could_be_key: Array, declared: tuple[Array, Array] | None
) -> _TableKeys:
    """By names and positions; where a database declares a primary key, nothing has to be guessed."""
    numbered = (side.low >= 0) & (side.low <= 1) & (side.distinct >= _DENSE * (side.high - side.low + 1))
    row_number = numbered & words.is_row
    own_name = (words.is_generic & words.is_id) | (words.named_after_table > _OWN_NAME)
    primary = _first_of_tables(names.table_of, could_be_key & ~row_number, ~(own_name & words.is_id))
    held, keys_of_name = (
        np.bincount(names.name_of[chosen], minlength=len(names.distinct))[names.name_of]
        for chosen in (names.counts, could_be_key & names.counts)
    )
    owned = could_be_key / np.maximum(keys_of_name, 1)
    known = primary | (~words.is_generic & (owned == 1) & (held > _NAMESAKES))
    own = primary & own_name
    if declared is not None:
        has_key, is_key = declared[0], declared[1] & could_be_key
        primary, own, known = (np.where(has_key, is_key, guessed) for guessed in (primary, own, known))
    return _TableKeys(numbered, row_number, primary, own, known, owned)


def _here_features(side: Side, words: ColumnWords, keys: _TableKeys) -> Array:
    distinct, filled = np.maximum(side.distinct, 1), np.maximum(side.filled, 1)
    found = {
        "one_value": distinct == 1,
        "two_values": distinct == 2,
        "size_here": np.log2(1 + distinct) / 16,
        "repeats": 1 - distinct / filled,
        "real_here": side.kind == REAL,
        "date_here": side.kind == DATE,
        "boolean_here": side.kind == BOOLEAN,
        "row_number_here": keys.numbered & (distinct >= filled),
        "key_here": side.is_leading.astype(bool) | keys.primary,
        "own_key_here": keys.own,
        "generic_here": words.is_generic,
        "id_word_here": words.is_id,
        "text_here": side.kind == TEXT,
        "id_of_number_here": words.is_id & (side.kind == INTEGER),
    }
    assert tuple(found) == HERE_FEATURES
    return _stacked(found.values())


def _there_features(side: Side, words: ColumnWords, keys: _TableKeys, by_chance: Array) -> Array:
    found = {
        "size_there": np.log2(1 + np.maximum(side.distinct, 1)) / 16,
        "chance": by_chance,
        "numbered_there": keys.numbered,
        "own_name_there": words.named_after_table,
        "id_word_there": words.is_id,
        "known_there": keys.known.astype(np.float64) - keys.row_number,  # which is known not to be a key
        "real_there": side.kind == REAL,
        "date_there": side.kind == DATE,
        "id_of_number_there": words.is_id & (side.kind == INTEGER),
    }
    assert tuple(found) == THERE_FEATURES
    return _stacked(found.values())


def _reference_columns(
    side: Side, names: ColumnNames, words: ColumnWords, keys: _TableKeys, chance_bits: Array
) -> ReferenceColumns:
    alive = np.zeros(len(names.tables), bool)
    alive[names.table_of[names.counts]] = True
    paths = weighed_by_rarity(number_paths(names.tables), alive)
    numbers = (
        side.distinct, side.low, side.high, side.length, side.kind, chance_bits, keys.own, words.total,
        words.table_total, paths.totals[names.table_of], keys.owned, words.is_previous, words.is_role,
        words.about_people,
    )  # fmt: skip
    places = (names.table_of, names.name_of, words.head, words.table_head, words.bits, words.table_bits)
    vocabulary = words.vocabulary
    return ReferenceColumns(
        _stacked(numbers), np.stack(places, axis=1).astype(np.int64), vocabulary.names.offsets,
        vocabulary.names.numbers, vocabulary.tables.offsets, vocabulary.tables.numbers, vocabulary.weights,
        *vocabulary.similar, paths.offsets, paths.numbers, paths.weights, *_folders(names.tables),
    )  # fmt: skip


def _folders(tables: Sequence[str]) -> tuple[Array, Array]:
    """For each table, bounded by offsets, the numbers of the folders that hold it, the outermost first."""
    numbering: dict[str, int] = {}
    found = []
    for table in tables:
        parts = folders_of(table)
        paths = ("/".join(parts[: depth + 1]) for depth in range(len(parts)))
        found.append([numbering.setdefault(path, len(numbering)) for path in paths])
    sizes = np.array([len(one) for one in found], np.int64)
    return running_sum(sizes), np.array([number for one in found for number in one], np.int64)


def _stacked(columns: Iterable[Array]) -> Array:
    return np.stack([np.asarray(values, np.float64) for values in columns], axis=1)


def _first_of_tables(table_of: Array, chosen: Array, later: Array) -> Array:
    """The first of the chosen columns of each table; those that come `later` only where there are no others."""
    places = np.flatnonzero(chosen)
    order = places[np.lexsort((places, later[places], table_of[places]))]
    _, first = np.unique(table_of[order], return_index=True)
    found = np.zeros(len(table_of), bool)
    found[order[first]] = True
    return found
