"""Shared by building and querying: how a value is cut into pieces.

Erkang Zhu: Data Discovery and Join Search in Data Lakes (thesis), section 5.3.1: a column is found by the tokens of its
syntactic pattern, because transformations seldom break them: `ada.lovelace@lab.org` has `ada`, `lovelace`, `lab` and
`org`. A piece is a run of letters or a run of digits, without accents and case, and is known by 32 bits of its hash:
what is found by chance does not survive the learning of a program.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.indexes.pieces.kernels import expand, pair_pieces
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.normalise import characters
from dovetail.normalise.hashing import as_buffers


def pairs_of(tokens: TokenArrays, hidden: Array, low: int, high: int) -> Array:
    """The pieces of all tokens with hashes from `low` to below `high`, each with the groups that hold it.

    Ascending numbers: the hash in the upper half, the group in the lower. Values in `hidden` groups have no pieces.
    """
    found = [
        _distinct(pair_pieces(content, offsets, first, tokens.group_tokens, low, high, *characters()))
        for first, content, offsets in tokens.portions()
    ]
    pairs = _distinct(np.concatenate([np.empty(0, np.uint64), *found]))
    return pairs[~hidden[pairs.astype(np.uint32)]]


def _distinct(numbers: Array) -> Array:
    """The distinct numbers, ascending. Sorting takes a third of the time of np.unique, which hashes them first."""
    numbers.sort()
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def keys_of(values: pa.Array) -> tuple[Array, Array]:
    """For each value the hashes that a value made of it may have, and where those of each value begin.

    Its pieces; two of them run together, in either order; an initial of one before or after the other; a piece without
    its first or its last character. So `Ada Lovelace` and `Lovelace, Ada` ask for `alovelace`, and that for `lovelace`.
    """
    return expand(*as_buffers(values.cast(pa.large_string())), *characters())
