"""What the words of names say about the columns of a lake: which are ids, which are named after their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.evidence.vocabulary import Vocabulary, WordLists
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import stem_of

_IN_GENERAL = 0.5  # how far a table of people in general has those that roles are named after; set by hand


class ColumnNames(NamedTuple):
    """The names of columns: distinct names and tables, and the position of each column's among them."""

    distinct: Sequence[str]
    name_of: Array
    tables: Sequence[str]
    table_of: Array
    counts: Array  # whether a column counts: those of removed tables do not


class ColumnWords:
    """What the words of its name, and of its table's name, say about each column: an array for each question."""

    def __init__(self, names: ColumnNames) -> None:
        stems = list(map(stem_of, names.tables))
        chosen, name_of, table_of = names.counts, names.name_of, names.table_of
        vocabulary = Vocabulary(names.distinct, name_of[chosen], stems, table_of[chosen])
        heads, table_heads = _heads(vocabulary.names, vocabulary), _heads(vocabulary.tables, vocabulary)
        self.vocabulary = vocabulary
        self.head, self.table_head = heads[name_of], table_heads[table_of]
        self.bits, self.table_bits = vocabulary.bits[0][name_of], vocabulary.bits[1][table_of]
        self.total = _totals(vocabulary.names, vocabulary.weights)[name_of]
        self.table_total = _totals(vocabulary.tables, vocabulary.weights)[table_of]
        self.named_after_table = _named_after_table(vocabulary, names)
        """How far each column is named after its own table, from 0 to 1."""
        self.is_generic: Array = self.head < 0
        self.is_id, self.is_row, self.is_previous, self.is_role = (
            _any_of(vocabulary.names, holds)[name_of]
            for holds in (
                vocabulary.is_id_word, vocabulary.is_row_word, vocabulary.is_previous_word, vocabulary.is_role_word,
            )
        )  # fmt: skip
        people = np.where(vocabulary.is_user_word, 1.0, _IN_GENERAL * vocabulary.is_people_word)
        self.about_people: Array = np.append(people, 0.0)[self.table_head]  # without a head: the last, 0
        """How far the table of each column is about the people that roles are named after, from 0 to 1."""


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
