"""Cells that hold several values: `drama; comedy`, `drama|comedy`, `drama, comedy`, or a JSON list.

What separates the parts of a list also separates the parts of a name, an address or a sentence. In a list, the order
means little: a part is first in one cell, second in another, or a cell of its own. In `Springfield, Illinois` it is
not: towns are first and states are second. So a column's cells hold several values if, of the parts of cells with a
separator, at least a certain share (`_LEAST_MOVED`) also occur at another position of other cells, counted from the
start and counted from the end.

JSON lists say of themselves what they are.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.normalise.column_type import ColumnType, decide, gather
from dovetail.normalise.folding import fold
from dovetail.normalise.hashing import hash_tokens
from dovetail.normalise.tokenise import tokens as tokens_of

LIST = "[]"
"""In the place of a separator: each cell is a JSON list."""
# Chosen on the tables of WikiTableQuestions in a lake of 15,128 tables, and scored on its others
# (benchmarks/parts): semicolons and bars seldom separate anything but values, commas often do.
_LEAST_MOVED = {";": 0.2, "|": 0.2, ",": 0.5}
LEAST_CELLS = 3
"""With a separator. Arbitrary: two may agree by chance."""
SAMPLE = 400
"""Cells that are looked at: those with the least hashes, whatever the order of the rows."""
_LONGEST = 60  # characters of a part, on average: longer ones are sentences
_LIKE_VALUES = 0.9  # of the cells with a separator; arbitrary, forgives a few odd ones
_ALONE = -1  # the position of a part that is a cell
_NUMBER, _WORD, _OTHER = range(3)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


class Parts(NamedTuple):
    """The distinct parts of some cells as tokens, and which of them each cell has."""

    type: ColumnType
    tokens: pa.LargeStringArray
    starts: Array  # of len + 1 cells
    codes: Array  # positions among the tokens, each once in a cell


def find_separator(cells: pa.Array) -> str | None:
    """What separates the values in a column's cells, given as distinct tokens; None if each cell is one value."""
    if len(cells) < LEAST_CELLS:
        return None
    if len(cells) > SAMPLE:
        cells = cells.take(pa.array(np.sort(np.argsort(hash_tokens(cells), kind="stable")[:SAMPLE])))
    if _are_lists(cells):
        return LIST
    return next((each for each in _LEAST_MOVED if _separates(each, cells)), None)


def described(separator: str) -> str:
    """How the values of a cell are written."""
    return "as JSON lists" if separator == LIST else f"separated by {separator!r}"


def has_mark(cells: pa.Array) -> pa.Array:
    """Which cells have something that may separate values: a quick look, before `find_separator`."""
    return pc.match_substring_regex(cells, r"[;|,]|^\[.*\]$")


def split_cells(cells: pa.Array, separator: str) -> Parts:
    """The parts of each cell, normalised by the type that all of them have together. A part counts once in a cell."""
    if separator == LIST:
        read = [(cell, _listed(cell)) for cell in cells.to_pylist()]
        whole_or_parts = [[cell] if parts is None else parts for cell, parts in read]
        lists = pa.array(whole_or_parts, pa.list_(pa.large_string()))
    else:
        lists = pc.split_pattern(cells, separator)
    counted = lists.flatten().cast(pa.large_string()).dictionary_encode()
    folded = fold(counted.dictionary)
    raw = counted.indices.to_numpy()
    column_type = decide(gather(folded, np.bincount(raw, minlength=len(folded))))
    distinct = tokens_of(folded, column_type).cast(pa.large_string()).dictionary_encode()
    codes = distinct.indices.fill_null(-1).to_numpy()[raw].astype(np.int64)
    cell_of = np.repeat(np.arange(len(cells)), pc.list_value_length(lists).to_numpy())
    kept = np.unique(np.stack([cell_of[codes >= 0], codes[codes >= 0]]), axis=1)
    starts = np.searchsorted(kept[0], np.arange(len(cells) + 1))
    return Parts(column_type, distinct.dictionary, starts, kept[1])


def _are_lists(cells: pa.Array) -> bool:
    """Whether all cells are JSON lists of plain values, and some have more than one."""
    if not len(cells) or not pc.all(pc.and_(pc.starts_with(cells, "["), pc.ends_with(cells, "]"))).as_py():
        return False
    lists = [_listed(cell) for cell in cells.to_pylist()]
    return None not in lists and sum(len(each or ()) > 1 for each in lists) > 1


def _listed(cell: str) -> list[str] | None:
    """The values of a JSON list as text; None where it is no list, or one of more than plain values."""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or any(isinstance(each, list | dict) for each in found):
        return None
    return [each if isinstance(each, str) else json.dumps(each) for each in found if each is not None]


def _separates(separator: str, cells: pa.Array) -> bool:
    """Whether parts of cells with this separator occur at several positions, and look like values."""
    if (pc.sum(pc.match_substring(cells, separator)).as_py() or 0) < LEAST_CELLS:
        return False
    split = [[part.strip() for part in cell.split(separator)] for cell in cells.to_pylist()]
    several = [parts for parts in split if len(parts) > 1]
    places: dict[str, tuple[set[int], set[int]]] = {}
    for parts in split:
        for place, part in enumerate(parts):
            from_start, from_end = places.setdefault(part, (set(), set()))
            from_start.add(place if len(parts) > 1 else _ALONE)
            from_end.add(len(parts) - 1 - place if len(parts) > 1 else _ALONE)
    found = [part for parts in several for part in parts if part]
    moved = sum(min(map(len, places[part])) > 1 for part in found)
    if not found or moved < _LEAST_MOVED[separator] * len(found) or sum(map(len, found)) > _LONGEST * len(found):
        return False
    return sum(map(_are_values, several)) >= _LIKE_VALUES * len(several)


def _are_values(parts: list[str]) -> bool:
    """Whether the parts of a cell are all whole numbers or all have letters, and none has a bracket without its other.

    `1,2-dichloroethane` and `f(a, b)` are one value, and so are the scores of a match.
    """
    kinds = {
        _NUMBER if part.isdecimal() else _WORD if any(map(str.isalpha, part)) else _OTHER for part in parts if part
    }
    return (
        len(kinds) == 1
        and kinds != {_OTHER}
        and all(part.count(a) == part.count(b) for part in parts for a, b in _PAIRS)
    )
