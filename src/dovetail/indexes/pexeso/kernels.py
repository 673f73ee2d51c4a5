"""Which values are texts, and from matching values to columns."""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled
from dovetail._types import Array

_LETTERS = 3
_OTHER_SCRIPT = 2  # letters that one of another script counts for: two are a word
_CHARACTERS = 4  # of a text in Latin letters: three are a code


@compiled
def mark_texts(content: Array, offsets: Array) -> Array:
    """Which of the texts have letters enough to be spelt or understood in another way."""
    found = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(offsets) - 1):
        characters, letters, others = 0, 0, 0
        for at in range(offsets[text], offsets[text + 1]):
            byte = content[at]
            if byte & 0xC0 == 0x80:  # not the first byte of a character
                continue
            characters += 1
            if 0x61 <= byte <= 0x7A or 0x41 <= byte <= 0x5A:
                letters += 1
            elif byte >= 0xC3:  # before it are Latin-1's signs
                others += 1
            if letters + _OTHER_SCRIPT * others >= _LETTERS and (characters >= _CHARACTERS or others > 0):
                found[text] = True
                break
    return found


@compiled
def count_columns(
    queries: Array, groups: Array, counts: Array, posting_offsets: Array, posting_columns: Array,
    rows: Array, values: Array, last: Array,
) -> None:  # fmt: skip
    """Add to each column the rows and values of the queries that match one of its values, each query once.

    The pairs of a query and a matching group follow each other; `last` holds for each column the last query it met.
    """
    for pair in range(len(queries)):
        query, group = queries[pair], groups[pair]
        for at in range(posting_offsets[group], posting_offsets[group + 1]):
            column = posting_columns[at]
            if last[column] != query:
                last[column] = query
                rows[column] += counts[query]
                values[column] += 1


@compiled
def groups_of_columns(columns: Array, set_group_offsets: Array, set_groups: Array, groups: int) -> Array:
    """Which groups of tokens any of the columns holds."""
    found = np.zeros(groups, np.bool_)
    for column in range(len(columns)):
        if columns[column]:
            for at in range(set_group_offsets[column], set_group_offsets[column + 1]):
                found[set_groups[at]] = True
    return found
