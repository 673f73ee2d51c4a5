"""Kernels that measure whether one column refers to another, pair by pair.

The words of the dependent name, and the forms of them, are marked in an array of all words, so that another name costs
one lookup for each of its words. Pairs of one dependent column are mostly consecutive. What depends on one column alone
is added up beforehand: a pair costs what only a pair has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

SIZE, LOW, HIGH, LENGTH, KIND, CHANCE_BITS, IS_KEY, NAME_TOTAL, TABLE_TOTAL, PATH_TOTAL, NAME_OWNED = range(11)
"""Columns of `ReferenceColumns.numbers`: distinct values; least and greatest whole number or day, or NaN; mean length
of values; kind; bits that a value found by chance would be worth; whether it is the key of its own table;
weights of all words of name, table and path; 1 / number of keys of its name."""

TABLE, NAME, NAME_HEAD, TABLE_HEAD, NAME_BITS, TABLE_BITS = range(6)
"""Columns of `ReferenceColumns.places`. Heads are the words that say what it is: the last ones that are no key word.
Bits are those of the words' beginnings: names without a common bit have no word in common."""

PAIR_FEATURES = (
    "contained", "missing", "bits", "spread", "from_one", "same_kind", "length_differs", "digits_differ", "near",
    "other_folder", "theirs_found", "tables_similar", "head", "called", "called_by_chance", "called_here_key",
    "covered_of_key", "copy", "called_same_table", "owner_of_name",
)  # fmt: skip
(
    _CONTAINED, _MISSING, _BITS, _SPREAD, _FROM_ONE, _SAME_KIND, _LENGTH_DIFFERS, _DIGITS_DIFFER, _NEAR,
    _OTHER_FOLDER, _THEIRS_FOUND, _TABLES_SIMILAR, _HEAD, _CALLED, _CALLED_BY_CHANCE, _CALLED_HERE_KEY,
    _COVERED_OF_KEY, _COPY, _CALLED_SAME_TABLE, _OWNER_OF_NAME,
) = range(len(PAIR_FEATURES))  # fmt: skip

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


@compiled
def reference_pairs(  # noqa: PLR0915
    ones: Array, others: Array, overlaps: Array, columns: ReferenceColumns, weights: Array, here: Array, there: Array,
    features: Array,
) -> Array:  # fmt: skip
    """Log-odds of each pair: those of both columns alone, `here` and `there`, and the weighted features of the pair.

    `features` keeps these, if it has a row for each pair; else its first row is reused. The loops are not in functions
    of their own: passing so many arrays would cost more than the work.
    """
    (
        numbers, places, name_offsets, name_words, table_offsets, table_words, word_weights, similar_offsets, similar,
        similarity, path_offsets, path_words, path_weights, folder_offsets, folders,
    ) = columns  # fmt: skip
    odds = np.empty(len(ones))
    keep = len(features) == len(ones)
    marks, table_marks = np.zeros(len(word_weights)), np.zeros(len(word_weights))
    owner = np.zeros(len(word_weights), np.int64)  # which of my words is most similar
    path_marks = np.zeros(len(path_weights))
    found = np.zeros(_WORDS_OF_A_NAME)  # how similar the most similar word of theirs is, for each of mine
    name, table = -1, -1
    for p in range(len(ones)):
        one, other, overlap = int64(ones[p]), int64(others[p]), int64(overlaps[p])
        if places[one, TABLE] != table:
            _move_marks(table_marks, owner, table_offsets, table_words, similar_offsets, similar, similarity, table,
                        places[one, TABLE], False)  # fmt: skip
            if table >= 0:
                for k in range(path_offsets[table], path_offsets[table + 1]):
                    path_marks[path_words[k]] = 0.0
            table = places[one, TABLE]
            for k in range(path_offsets[table], path_offsets[table + 1]):
                path_marks[path_words[k]] = path_weights[path_words[k]]
        if places[one, NAME] != name:
            _move_marks(marks, owner, name_offsets, name_words, similar_offsets, similar, similarity, name,
                        places[one, NAME], True)  # fmt: skip
            name = places[one, NAME]
        other_table, other_name = places[other, TABLE], places[other, NAME]
        first = name_offsets[name]
        mine = min(name_offsets[name + 1] - first, _WORDS_OF_A_NAME)

        # Names: their table's words, then their column's. Most have none in common, and their bits tell.
        apart = table != other_table
        mine_found, theirs_found, tables_similar, columns_similar, head, called = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if (places[one, NAME_BITS] | places[one, TABLE_BITS]) & (places[other, NAME_BITS] | places[other, TABLE_BITS]):
            of_table, of_both, known, of_name = 0.0, 0.0, 0.0, 0.0
            found[:mine] = 0.0
            for k in range(table_offsets[other_table], table_offsets[other_table + 1]):
                word = table_words[k]
                share, home = marks[word], table_marks[word]
                if share > 0:
                    of_table += word_weights[word] * share
                    found[owner[word]] = max(found[owner[word]], share)
                if home > share:
                    known += word_weights[word] * (home - share)
                of_both += word_weights[word] * max(share, home)
            for k in range(name_offsets[other_name], name_offsets[other_name + 1]):
                word = name_words[k]
                share = marks[word]
                if share > 0:
                    of_name += word_weights[word] * share
                    found[owner[word]] = max(found[owner[word]], share)
            whole = numbers[other, TABLE_TOTAL]
            if apart and whole > 0:
                tables_similar = of_both / whole
            if of_table + of_name > 0:
                had, rest = 0.0, 0.0
                for k in range(mine):
                    word = name_words[first + k]
                    had += word_weights[word] * found[k]
                    rest += word_weights[word] * max(found[k], 1.0 - table_marks[word])
                mine_found = had / rest if rest > 0 else 0.0
                if of_table > 0:
                    theirs_found = of_table / (whole - known)
                together = numbers[one, NAME_TOTAL] + numbers[other, NAME_TOTAL] - of_name
                columns_similar = of_name / max(together, of_name)
                called = max(mine_found * theirs_found, columns_similar * min(1.0, 2 * of_name))
                mine_head = places[one, NAME_HEAD]
                if mine_head >= 0:
                    for word in (places[other, TABLE_HEAD], places[other, NAME_HEAD]):
                        if word >= 0 and marks[word] > head and name_words[first + owner[word]] == mine_head:
                            head = marks[word]
        near = _SAME_TABLE_IS_NEAR
        if apart:
            near = 0.0
            for k in range(path_offsets[other_table], path_offsets[other_table + 1]):
                near += path_marks[path_words[k]]
            if near > 0:
                near /= numbers[one, PATH_TOTAL] + numbers[other, PATH_TOTAL] - near

        depth, other_depth = folder_offsets[table + 1], folder_offsets[other_table + 1]
        deepest = max(depth - folder_offsets[table], other_depth - folder_offsets[other_table])
        one_level, other_level = folder_offsets[table], folder_offsets[other_table]
        while one_level < depth and other_level < other_depth and folders[one_level] == folders[other_level]:
            one_level += 1
            other_level += 1
        common = one_level - folder_offsets[table]

        # Values.
        size, own = numbers[other, SIZE], max(1.0, numbers[one, SIZE])
        covered = overlap / max(1.0, size)
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
        row = features[p if keep else 0]
        row[_CONTAINED] = overlap / own
        row[_MISSING] = np.log2(1 + own - overlap) / 10 if own > overlap else 0.0
        row[_BITS] = 0.0
        if keep or weights[_BITS] != 0:  # a logarithm takes time
            row[_BITS] = np.log2(1 + overlap * numbers[other, CHANCE_BITS]) / 16
        row[_SPREAD] = spread
        row[_FROM_ONE] = from_one
        row[_SAME_KIND] = 1.0 if numbers[one, KIND] == numbers[other, KIND] else 0.0
        row[_LENGTH_DIFFERS] = length_differs
        row[_DIGITS_DIFFER] = digits_differ
        row[_NEAR] = near
        row[_OTHER_FOLDER] = 1.0 - common / deepest if deepest > 0 else 0.0
        row[_THEIRS_FOUND] = theirs_found
        row[_TABLES_SIMILAR] = tables_similar
        row[_HEAD] = head
        row[_CALLED] = called
        row[_CALLED_BY_CHANCE] = called * max(0.0, 1.0 - numbers[other, CHANCE_BITS] / _FULL_BITS)
        row[_CALLED_HERE_KEY] = called * numbers[one, IS_KEY]
        row[_COVERED_OF_KEY] = covered * numbers[one, IS_KEY]
        row[_COPY] = covered * covered if not apart else 0.0
        row[_CALLED_SAME_TABLE] = called if not apart else 0.0
        row[_OWNER_OF_NAME] = numbers[other, NAME_OWNED] if name == other_name else 0.0
        total = here[one] + there[other]
        for k in range(len(weights)):
            total += weights[k] * row[k]
        odds[p] = total
    return odds


@compiled
def _move_marks(
    marks: Array, owner: Array, offsets: Array, words: Array, similar_offsets: Array, similar: Array,
    similarity: Array, last: int, name: int, owned: bool,
) -> None:  # fmt: skip
    """Mark the words of this name and their forms, instead of those of the last one."""
    if last >= 0:
        for k in range(offsets[last], offsets[last + 1]):
            for j in range(similar_offsets[words[k]], similar_offsets[words[k] + 1]):
                marks[similar[j]] = 0.0
    for k in range(offsets[name], min(offsets[name + 1], offsets[name] + _WORDS_OF_A_NAME)):
        for j in range(similar_offsets[words[k]], similar_offsets[words[k] + 1]):
            if similarity[j] > marks[similar[j]]:
                marks[similar[j]] = similarity[j]
                if owned:
                    owner[similar[j]] = k - offsets[name]
