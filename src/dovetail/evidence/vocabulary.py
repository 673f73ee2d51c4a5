"""The words of the names of a lake: what they say of columns, how much each says, and which are forms of one another.

Names are compared by their words: `ArtistId`, `artist_id` and the table `artists.csv` share one. Three things are
learned from the lake itself, whatever its language:

- A word that many tables have says little: the prefix of all tables of an application, `created`, `status`.
- Words that are written together are split where both parts occur elsewhere: `circuittermination`, `orderdate`.
- A word and its beginning are forms of one: `soc` and `societe`, `emp` and `employee`, `nation` and `nationality`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.evidence.name_kernels import SHORTEST_FORM, similar_words
from dovetail.evidence.names import ID_WORDS, KEY_WORDS, ROW_WORDS, words
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import stem_of

_SHORTEST_PART = 3  # letters of a word that is part of a compound: shorter ones are found in any word
_MOST_PARTS = 3
_ENDINGS = ("id", "key", "no", "nr")  # key words that are written together with what they are the key of
_BITS = 63  # of a number that has a sign
_LONGEST_WORD = 40  # letters: longer ones are texts, not names

# What names mean where no word is shared with the other table. Common words of English schemas, written down by hand.
PREVIOUS_WORDS = frozenset({"parent", "previous", "prev", "next", "predecessor", "successor", "ancestor"})
"""Words of columns that refer to another row of their own table."""
ROLE_WORDS = frozenset(
    (
        "agent", "approver", "assignee", "author", "boss", "by", "creator", "editor", "leader", "manager", "member",
        "modifier", "operator", "owner", "recipient", "rep", "reporter", "representative", "reviewer", "sender",
        "supervisor", "updater", "uploader",
    )
)  # fmt: skip
"""Words of columns that refer to people by what they do, such as `creator` and `changed_by`."""
USER_WORDS = frozenset({"user", "account", "employee", "staff", "personnel", "worker"})
"""What tables of such people are called."""
PEOPLE_WORDS = frozenset({"person", "people", "member", "contact"})
"""What tables of people in general are called."""
_IN_GENERAL = 0.5  # how far a table of people in general has those that roles are named after; set by hand


@dataclass(frozen=True)
class WordLists:
    """The numbers of the words of some names, in their order."""

    offsets: Array
    numbers: Array


class Vocabulary:
    """The words of some columns' names and of their tables' names."""

    def __init__(self, names: Sequence[str], name_of: Array, stems: Sequence[str], table_of: Array) -> None:
        """`names` are distinct; `name_of` and `table_of` are positions, one for each column that counts."""
        plain = [words(name) for name in (*names, *stems)]
        self._known = {word for found in plain for word in found}
        self._numbering: dict[str, int] = {}
        lists = [self._number(found) for found in plain]
        self.names = _as_lists(lists[: len(names)])
        self.tables = _as_lists(lists[len(names) :])
        self.is_key_word = np.array([_is_key_word(word) for word in self._numbering], bool)
        self.is_row_word, self.is_id_word = self._holds(ROW_WORDS), self._holds(ID_WORDS)
        self.is_previous_word, self.is_role_word = self._holds(PREVIOUS_WORDS), self._holds(ROLE_WORDS)
        self.is_user_word, self.is_people_word = self._holds(USER_WORDS), self._holds(PEOPLE_WORDS)
        self._columns = name_of, table_of

    def __len__(self) -> int:
        return len(self._numbering)

    def _holds(self, chosen: frozenset[str]) -> Array:
        return np.array([word in chosen for word in self._numbering], bool)

    def _number(self, found: list[str]) -> list[int]:
        parts = [part for word in found for part in self._split(word)]
        return list(dict.fromkeys(self._numbering.setdefault(part, len(self._numbering)) for part in parts))

    def _split(self, word: str) -> list[str]:
        """The fewest words that this one consists of, if it is written together."""
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) >= _SHORTEST_PART + 2 and word[: -len(ending)] in self._known:
                return [*self._split(word[: -len(ending)]), ending]
        if len(word) >= 2 * _SHORTEST_PART and len(word) <= _LONGEST_WORD and word not in KEY_WORDS | ROW_WORDS:
            for number in range(2, _MOST_PARTS + 1):
                parts = self._parts(word, number)
                if parts:
                    return parts
        return [word]

    def _parts(self, word: str, number: int) -> list[str]:
        if number == 1:
            return [word] if word in self._known else []
        for end in range(len(word) - _SHORTEST_PART * (number - 1), _SHORTEST_PART - 1, -1):
            if word[:end] in self._known:
                rest = self._parts(word[end:], number - 1)
                if rest:
                    return [word[:end], *rest]
        return []

    def members(self, names: Array) -> Array:
        """The words of the names of columns at these places, one name after another."""
        return _members(self.names, names)

    @cached_property
    def weights(self) -> Array:
        """Inverse document frequency over the tables, from 0 to 1; words of any key say nothing."""
        name_of, table_of = self._columns
        named = np.unique(np.stack([table_of, name_of], axis=1), axis=0)
        tables = np.unique(table_of)
        words = np.concatenate([self.members(named[:, 1]), _members(self.tables, tables)])
        sizes = np.diff(self.names.offsets)[named[:, 1]], np.diff(self.tables.offsets)[tables]
        holders = np.concatenate([np.repeat(named[:, 0], sizes[0]), np.repeat(tables, sizes[1])])
        pairs = np.unique(holders * max(1, len(self)) + words)  # each table counts once
        held = np.bincount(pairs % max(1, len(self)), minlength=len(self))
        number = max(2, len(tables))
        found: Array = np.log1p(number / np.maximum(held, 1)) / np.log1p(number)
        return np.where(self.is_key_word, 0.0, found)

    @cached_property
    def bits(self) -> tuple[Array, Array]:
        """For each name of a column, and of a table, bits of how its words begin; forms of one word have the same."""
        beginnings = [word[:SHORTEST_FORM].encode() for word in self._numbering]
        of_words = np.array([1 << zlib.crc32(beginning) % _BITS for beginning in beginnings], np.int64)
        of_words[self.is_key_word] = 0
        return _merged_bits(self.names, of_words), _merged_bits(self.tables, of_words)

    @cached_property
    def similar(self) -> tuple[Array, Array, Array]:
        """For each word, bounded by offsets, the words that are forms of it, itself too, and how similar they are."""
        order = sorted(word for word in self._numbering if not _is_key_word(word))
        offsets = running_sum(np.array([len(word) for word in order], np.int64))
        letters = np.frombuffer("".join(order).encode("utf-32-le"), np.uint32)
        ones, others, shares = similar_words(offsets, letters)
        numbers = np.array([self._numbering[word] for word in order], np.int64)
        ones, others = numbers[ones], numbers[others]
        by_one = np.lexsort((others, ones))
        return running_sum(np.bincount(ones, minlength=len(self))), others[by_one], shares[by_one]


def _is_key_word(word: str) -> bool:
    return word in KEY_WORDS or len(word) == 1 or word.isdigit()


def _members(lists: WordLists, places: Array) -> Array:
    """The words of the names at these places, one name after another."""
    sizes = np.diff(lists.offsets)[places]
    starts = np.repeat(lists.offsets[places] - running_sum(sizes)[:-1], sizes)
    members: Array = lists.numbers[starts + np.arange(len(starts))]
    return members


def _merged_bits(lists: WordLists, bits: Array) -> Array:
    found = np.zeros(len(lists.offsets) - 1, np.int64)
    np.bitwise_or.at(found, np.repeat(np.arange(len(found)), np.diff(lists.offsets)), bits[lists.numbers])
    return found


def _as_lists(lists: Iterable[list[int]]) -> WordLists:
    kept = list(lists)
    numbers = np.array([number for one in kept for number in one], np.int64)
    return WordLists(running_sum(np.array([len(one) for one in kept], np.int64)), numbers)


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
