"""Kernels that measure whether one column refers to another, pair by pair.

The words of the dependent name, and the forms of them, are marked in an array of all words, so that another name costs
one lookup for each of its words. Pairs of one dependent column are mostly consecutive. What depends on one column alone
is added up beforehand: a pair costs what only a pair has. Names, paths and values are measured one after another, some
pairs at a time: handing the arrays to a function for each pair would cost more than the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, inlined, int64
from dovetail._types import Array

(
    SIZE, LOW, HIGH, LENGTH, KIND, CHANCE_BITS, IS_KEY, NAME_TOTAL, TABLE_TOTAL, PATH_TOTAL, NAME_OWNED, PREVIOUS, ROLE,
    PEOPLE,
) = range(14)  # fmt: skip
"""Columns of `ReferenceColumns.numbers`: distinct values; least and greatest whole number or day, or NaN; mean length
of values; kind; bits that a value found by chance would be worth; whether it is the key of its own table;
weights of all words of name, table and path; 1 / number of keys of its name; whether its name has a word such as
"parent", or a role of people; how far its table is about people."""

TABLE, NAME, NAME_HEAD, TABLE_HEAD, NAME_BITS, TABLE_BITS = range(6)
"""Columns of `ReferenceColumns.places`. Heads are the words that say what it is: the last ones that are no key word.
Bits are those of the words' beginnings: names without a common bit have no word in common."""

PAIR_FEATURES = (
    "contained", "missing", "bits", "spread", "from_one", "same_kind", "length_differs", "digits_differ", "near",
    "other_folder", "theirs_found", "tables_similar", "head", "called", "called_by_chance", "called_here_key",
    "covered_of_key", "covered_from_one", "copy", "called_same_table", "owner_of_name", "previous", "role",
)  # fmt: skip
(
    _CONTAINED, _MISSING, _BITS, _SPREAD, _FROM_ONE, _SAME_KIND, _LENGTH_DIFFERS, _DIGITS_DIFFER, _NEAR,
    _OTHER_FOLDER, _THEIRS_FOUND, _TABLES_SIMILAR, _HEAD, _CALLED, _CALLED_BY_CHANCE, _CALLED_HERE_KEY,
    _COVERED_OF_KEY, _COVERED_FROM_ONE, _COPY, _CALLED_SAME_TABLE, _OWNER_OF_NAME, _PREVIOUS, _ROLE,
) = range(len(PAIR_FEATURES))  # fmt: skip

_BLOCK = 1 << 10  # pairs measured at a time: their features stay in the level-2 cache
_WORDS_OF_A_NAME = 24  # that are compared; longer names are sentences
_SAME_TABLE_IS_NEAR = 0.5  # rows refer to other rows of their table, but not often; set by hand
_FULL_BITS = 4.0  # of chance: values that would match less often than 1 in 16 are no chance


class ReferenceColumns(NamedTuple):
    """What is known of columns, one row each; and the words of all names."""

    numbers: Array
    places: Array
    name_offsets: Array
    name_words: Array
    table_offsets: Array
    table_words: Array
    weights: Array  # of words
    similar_offsets: Array  # by word: the forms of it
    similar: Array
    similarity: Array
    path_offsets: Array
    path_words: Array
    path_weights: Array
    folder_offsets: Array  # by table: the numbers of its folder and of those that hold it, the outermost first
    folders: Array


class Marks(NamedTuple):
    """Arrays by word, all 0 but for the words of the dependent column at hand."""

    name: Array  # how similar a word is to the most similar word of its name
    owner: Array  # which of its words that is
    table: Array  # … of its table's name
    path: Array  # the weight of a word of its table's path


@compiled
def score_pairs(
    ones: Array, others: Array, overlaps: Array, columns: ReferenceColumns, weights: Array, here: Array, there: Array
) -> Array:
    """Log-odds of each pair: those of both columns alone, `here` and `there`, and the weighted features of the pair."""
    odds = np.empty(len(ones))
    rows = np.empty((min(_BLOCK, len(ones)), len(weights)))
    marks = _no_marks(columns)
    for start in range(0, len(ones), _BLOCK):
        stop = min(start + _BLOCK, len(ones))
        _measure_names(ones[start:stop], others[start:stop], columns, marks, rows)
        _measure_paths(ones[start:stop], others[start:stop], columns, marks, rows)
        _measure_values(ones[start:stop], others[start:stop], overlaps[start:stop], columns, weights[_BITS] != 0, rows)
        for p in range(start, stop):
            total = here[ones[p]] + there[others[p]]
            for k in range(len(weights)):
                total += weights[k] * rows[p - start, k]
            odds[p] = total
    return odds


@compiled
def measure_pairs(ones: Array, others: Array, overlaps: Array, columns: ReferenceColumns, rows: Array) -> None:
    """Fill `rows`, one for each pair, with its PAIR_FEATURES."""
    marks = _no_marks(columns)
    _measure_names(ones, others, columns, marks, rows)
    _measure_paths(ones, others, columns, marks, rows)
    _measure_values(ones, others, overlaps, columns, True, rows)


@compiled
def _no_marks(columns: ReferenceColumns) -> Marks:
    number = len(columns.weights)
    return Marks(np.zeros(number), np.zeros(number, np.int64), np.zeros(number), np.zeros(len(columns.path_weights)))


@compiled
def _measure_names(ones: Array, others: Array, columns: ReferenceColumns, marks: Marks, rows: Array) -> None:
    """What the names of each pair of columns and of their tables have in common."""
    numbers, places = columns.numbers, columns.places
    found = np.zeros(_WORDS_OF_A_NAME)
    name, table = -1, -1
    for p in range(len(ones)):
        one, other = int64(ones[p]), int64(others[p])
        if places[one, TABLE] != table:
            _move_marks(marks.table, marks.owner, columns.table_offsets, columns.table_words, columns.similar_offsets,
                        columns.similar, columns.similarity, table, places[one, TABLE], False)  # fmt: skip
            table = places[one, TABLE]
        if places[one, NAME] != name:
            _move_marks(marks.name, marks.owner, columns.name_offsets, columns.name_words, columns.similar_offsets,
                        columns.similar, columns.similarity, name, places[one, NAME], True)  # fmt: skip
            name = places[one, NAME]
        row = rows[p]
        row[_THEIRS_FOUND], row[_TABLES_SIMILAR], row[_HEAD], row[_CALLED] = 0.0, 0.0, 0.0, 0.0
        # Most names have no word in common, and their bits say so.
        if (places[one, NAME_BITS] | places[one, TABLE_BITS]) & (places[other, NAME_BITS] | places[other, TABLE_BITS]):
            _compare_words(one, other, columns, marks, found, row)
        called, within = row[_CALLED], table == places[other, TABLE]
        row[_CALLED_BY_CHANCE] = called * max(0.0, 1.0 - numbers[other, CHANCE_BITS] / _FULL_BITS)
        row[_CALLED_HERE_KEY] = called * numbers[one, IS_KEY]
        row[_CALLED_SAME_TABLE] = called if within else 0.0
        row[_OWNER_OF_NAME] = numbers[other, NAME_OWNED] if name == places[other, NAME] else 0.0
        row[_PREVIOUS] = numbers[one, PREVIOUS] if within else 0.0
        row[_ROLE] = numbers[one, ROLE] * numbers[other, PEOPLE]
    _move_marks(marks.table, marks.owner, columns.table_offsets, columns.table_words, columns.similar_offsets,
                columns.similar, columns.similarity, table, -1, False)  # fmt: skip
    _move_marks(marks.name, marks.owner, columns.name_offsets, columns.name_words, columns.similar_offsets,
                columns.similar, columns.similarity, name, -1, True)  # fmt: skip


@inlined
def _compare_words(
    one: int, other: int, columns: ReferenceColumns, marks: Marks, found: Array, row: Array
) -> None:  # fmt: skip
    """Compare the words of the marked column with those of their table, then with those of their column."""
    numbers, places, weights = columns.numbers, columns.places, columns.weights
    other_table, other_name, first = places[other, TABLE], places[other, NAME], columns.name_offsets[places[one, NAME]]
    mine = min(columns.name_offsets[places[one, NAME] + 1] - first, _WORDS_OF_A_NAME)
    of_table, of_both, known, of_name = 0.0, 0.0, 0.0, 0.0
    found[:mine] = 0.0  # how similar the most similar word of theirs is, for each of mine
    for k in range(columns.table_offsets[other_table], columns.table_offsets[other_table + 1]):
        word = columns.table_words[k]
        share, home = marks.name[word], marks.table[word]
        if share > 0:
            of_table += weights[word] * share
            found[marks.owner[word]] = max(found[marks.owner[word]], share)
        if home > share:
            known += weights[word] * (home - share)
        of_both += weights[word] * max(share, home)
    for k in range(columns.name_offsets[other_name], columns.name_offsets[other_name + 1]):
        word = columns.name_words[k]
        share = marks.name[word]
        if share > 0:
            of_name += weights[word] * share
            found[marks.owner[word]] = max(found[marks.owner[word]], share)
    whole = numbers[other, TABLE_TOTAL]
    if places[one, TABLE] != other_table and whole > 0:
        row[_TABLES_SIMILAR] = of_both / whole
    if of_table + of_name > 0:
        had, rest = 0.0, 0.0
        for k in range(mine):
            word = columns.name_words[first + k]
            had += weights[word] * found[k]
            rest += weights[word] * max(found[k], 1.0 - marks.table[word])
        if of_table > 0:
            row[_THEIRS_FOUND] = of_table / (whole - known)
        together = max(numbers[one, NAME_TOTAL] + numbers[other, NAME_TOTAL] - of_name, of_name)
        by_table = had / rest * row[_THEIRS_FOUND] if rest > 0 else 0.0
        row[_CALLED] = max(by_table, of_name / together * min(1.0, 2 * of_name))
        head = places[one, NAME_HEAD]
        if head >= 0:
            for word in (places[other, TABLE_HEAD], places[other, NAME_HEAD]):
                share = marks.name[word] if word >= 0 else 0.0
                if share > row[_HEAD] and columns.name_words[first + marks.owner[word]] == head:
                    row[_HEAD] = share


@compiled
def _measure_paths(ones: Array, others: Array, columns: ReferenceColumns, marks: Marks, rows: Array) -> None:
    """How near the tables of each pair are, by the words of their paths and by their folders."""
    offsets, words, folders, ends = columns.path_offsets, columns.path_words, columns.folders, columns.folder_offsets
    numbers, places, marked = columns.numbers, columns.places, marks.path
    table = -1
    for p in range(len(ones)):
        one, other = int64(ones[p]), int64(others[p])
        if places[one, TABLE] != table:
            if table >= 0:
                marked[words[offsets[table] : offsets[table + 1]]] = 0.0
            table = places[one, TABLE]
            for k in range(offsets[table], offsets[table + 1]):
                marked[words[k]] = columns.path_weights[words[k]]
        other_table = places[other, TABLE]
        near = _SAME_TABLE_IS_NEAR
        if table != other_table:
            near = 0.0
            for k in range(offsets[other_table], offsets[other_table + 1]):
                near += marked[words[k]]
            if near > 0:
                near /= numbers[one, PATH_TOTAL] + numbers[other, PATH_TOTAL] - near
        rows[p, _NEAR] = near
        depth, other_depth = ends[table + 1] - ends[table], ends[other_table + 1] - ends[other_table]
        common = 0
        while common < min(depth, other_depth) and folders[ends[table] + common] == folders[ends[other_table] + common]:
            common += 1
        rows[p, _OTHER_FOLDER] = 1.0 - common / max(depth, other_depth) if max(depth, other_depth) > 0 else 0.0
    if table >= 0:
        marked[words[offsets[table] : offsets[table + 1]]] = 0.0


@compiled
def _measure_values(
    ones: Array, others: Array, overlaps: Array, columns: ReferenceColumns, with_bits: bool, rows: Array
) -> None:  # fmt: skip
    """What the values of each pair of columns have in common; `with_bits`, as a logarithm takes time."""
    numbers, places = columns.numbers, columns.places
    for p in range(len(ones)):
        one, other, overlap = int64(ones[p]), int64(others[p]), int64(overlaps[p])
        own, covered = max(1.0, numbers[one, SIZE]), overlap / max(1.0, numbers[other, SIZE])
        low, high = numbers[other, LOW], numbers[other, HIGH]
        my_low, my_high = numbers[one, LOW], numbers[one, HIGH]
        spread, from_one = 1.0, 0.0
        longest = max(1.0, max(numbers[one, LENGTH], numbers[other, LENGTH]))
        length_differs, digits_differ = abs(numbers[one, LENGTH] - numbers[other, LENGTH]) / longest, 0.0
        if high > low and my_high >= my_low:
            length_differs, digits_differ = 0.0, length_differs
            spread = min(1.0, max(0.0, (min(high, my_high) - max(low, my_low) + 1) / (high - low + 1)))
            if 0 <= low <= 1 and 0 <= my_low <= 1:
                from_one = 1.0
        row = rows[p]
        row[_CONTAINED] = overlap / own
        row[_MISSING] = np.log2(1 + own - overlap) / 10 if own > overlap else 0.0
        row[_BITS] = np.log2(1 + overlap * numbers[other, CHANCE_BITS]) / 16 if with_bits else 0.0
        row[_SPREAD] = spread
        row[_FROM_ONE] = from_one
        row[_SAME_KIND] = 1.0 if numbers[one, KIND] == numbers[other, KIND] else 0.0
        row[_LENGTH_DIFFERS] = length_differs
        row[_DIGITS_DIFFER] = digits_differ
        row[_COVERED_OF_KEY] = covered * numbers[one, IS_KEY]
        row[_COVERED_FROM_ONE] = covered * from_one
        row[_COPY] = covered * covered if places[one, TABLE] == places[other, TABLE] else 0.0


@compiled
def _move_marks(
    marks: Array, owner: Array, offsets: Array, words: Array, similar_offsets: Array, similar: Array,
    similarity: Array, last: int, name: int, owned: bool,
) -> None:  # fmt: skip
    """Mark the words of this name and their forms, instead of those of the last one; -1 stands for none."""
    if last >= 0:
        for k in range(offsets[last], offsets[last + 1]):
            for j in range(similar_offsets[words[k]], similar_offsets[words[k] + 1]):
                marks[similar[j]] = 0.0
    if name < 0:
        return
    for k in range(offsets[name], min(offsets[name + 1], offsets[name] + _WORDS_OF_A_NAME)):
        for j in range(similar_offsets[words[k]], similar_offsets[words[k] + 1]):
            if similarity[j] > marks[similar[j]]:
                marks[similar[j]] = similarity[j]
                if owned:
                    owner[similar[j]] = k - offsets[name]
