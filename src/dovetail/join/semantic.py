"""Which rows of two tables mean the same: each value goes to the nearest of the other side, if it is the nearest back.

The columns are found where nobody names them: the pair of text columns whose values match best. An embedder makes the
vectors, as for search; values that are equal match whatever they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.indexes.pexeso.core import Parameters, Space, texts_among
from dovetail.indexes.pexeso.memory import Texts

Array = npt.NDArray[Any]
Columns = Mapping[str, Sequence[str | None]]

JOIN_TAU = 0.075  # of mutually nearest values: what is nearest both ways may be farther apart than what search counts
_SURE = 0.02  # so near that it need not be the nearest back
_TRIED = 2_000  # values of a column that are compared to choose the columns
_LEAST_TEXTS = 0.5  # of a column's values, to be tried


@dataclass(frozen=True)
class SemanticPairs:
    """The columns that were compared and the pairs of rows that match, from the left to the right."""

    left_column: str
    right_column: str
    rows: list[tuple[int, int]]


def semantic_pairs(
    left: Columns, right: Columns, on: tuple[str, str] | None = None, space: Space | None = None
) -> SemanticPairs | None:
    """Null where no column of either side holds texts."""
    space = space or Parameters.chosen().space()
    chosen = on or _likely(left, right, space)
    if chosen is None:
        return None
    mine, theirs = _Side.of(left[chosen[0]]), _Side.of(right[chosen[1]])
    values = _matches(mine.tokens, theirs.tokens, space)
    rows = [(a, b) for value, other in values for a in mine.rows[value] for b in theirs.rows[other]]
    return SemanticPairs(*chosen, sorted(rows))


@dataclass(frozen=True)
class _Side:
    """The distinct values of a column, folded, and the rows that hold each."""

    tokens: pa.LargeStringArray
    rows: list[list[int]]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> _Side:
        rows: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            if value is not None and (token := " ".join(value.casefold().split())):
                rows.setdefault(token, []).append(row)
        return cls(pa.array(list(rows), pa.large_string()), list(rows.values()))


def _matches(mine: pa.Array, theirs: pa.Array, space: Space) -> list[tuple[int, int]]:
    """Pairs of places: equal values, then mutually nearest ones, and those too near to doubt."""
    places = {token: place for place, token in enumerate(theirs.to_pylist())}
    pairs = [(value, places[token]) for value, token in enumerate(mine.to_pylist()) if token in places]
    equal = {value for value, _ in pairs}
    texts = [np.flatnonzero(texts_among(side)) for side in (mine, theirs)]
    queries, others, distances = Texts(theirs.take(texts[1]), space).near(mine.take(texts[0]), JOIN_TAU)
    queries, others = texts[0][queries], texts[1][others]
    forth, back = _nearest(queries, others, distances), _nearest(others, queries, distances)
    for value, (other, distance) in forth.items():
        if value not in equal and (distance <= _SURE or back[other][0] == value):
            pairs.append((value, other))
    return pairs


def _nearest(queries: Array, others: Array, distances: Array) -> dict[int, tuple[int, float]]:
    """For each query the nearest of the others; of equally near ones the first."""
    order = np.lexsort((others, distances, queries))
    found, first = np.unique(queries[order], return_index=True)
    nearest = zip(others[order][first].tolist(), distances[order][first].tolist(), strict=True)
    return dict(zip(found.tolist(), nearest, strict=True))


def _likely(left: Columns, right: Columns, space: Space) -> tuple[str, str] | None:
    """The pair of columns with most rows matched, by a sample; mostly texts on both sides."""
    sides = [_texts(side) for side in (left, right)]
    best: tuple[float, str, str] | None = None
    for theirs, right_tokens in sides[1].items():
        texts = Texts(right_tokens, space)
        for mine, left_tokens in sides[0].items():
            queries, others, _ = texts.near(left_tokens, JOIN_TAU)
            # The share of both: a column of three values meets every other column.
            score = len(np.unique(queries)) * len(np.unique(others)) / (len(left_tokens) * len(right_tokens))
            score *= np.log1p(min(len(left_tokens), len(right_tokens)))
            if score > 0 and (best is None or score > best[0]):
                best = (score, mine, theirs)
    return None if best is None else (best[1], best[2])


def _texts(side: Columns) -> dict[str, pa.LargeStringArray]:
    """The columns that are mostly texts, with a sample of their distinct values."""
    found = {}
    for name, values in side.items():
        tokens = _Side.of(values).tokens
        marks = texts_among(tokens)
        if len(tokens) and marks.mean() >= _LEAST_TEXTS:
            step = -(-len(tokens) // _TRIED)
            found[name] = tokens.take(np.flatnonzero(marks)[::step])
    return found
