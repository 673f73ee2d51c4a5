"""Which rows of two tables mean the same: each value goes to the nearest of the other side, if it is the nearest back.

Sparse vectors are weighed by how rare their dimensions are in the two tables: "league" tells no leagues apart.

The columns are found where nobody names them: of text columns whose values are near, the pair that joins most values,
each with one only, as likeness has it. An embedder makes the vectors, as for search; values that are equal match
whatever they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.indexes.pexeso.core import Space, VectorParameters, texts_among
from dovetail.indexes.pexeso.query import RangeSearcher, weigh_by_idf
from dovetail.similar.columns import one_to_one, tried

Columns = Mapping[str, Sequence[str | None]]

_FARTHEST = 0.076  # of values that are each other's nearest: may be more than what search counts
_SEEN = 0.08  # how far neighbours are looked for
_MARGIN = 0.95  # of the square of the distance to the second nearest: the nearest must be nearer than that
_SAMPLE = 2_000  # values of a column that are compared to pair the columns
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
    space = space or VectorParameters.chosen().space()
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
    """Pairs of places: equal values, then those that are each other's nearest by a margin."""
    places = {token: place for place, token in enumerate(theirs.to_pylist())}
    pairs = [(value, places[token]) for value, token in enumerate(mine.to_pylist()) if token in places]
    equal = {value for value, _ in pairs}
    texts = [np.flatnonzero(texts_among(side)) for side in (mine, theirs)]
    one, other = (space.vectors(side.take(pa.array(at))) for side, at in zip((mine, theirs), texts, strict=True))
    one, other = weigh_by_idf(one, other, space.embedder.dimension)
    queries, others, distances = RangeSearcher(other, space).within(one, _SEEN)
    queries, others = texts[0][queries], texts[1][others]
    forth, back = _nearest(queries, others, distances), _nearest(others, queries, distances)
    for value, near in forth.items():
        if value not in equal and near.distance <= _FARTHEST and back[near.place].place == value:
            second = min(near.second, back[near.place].second)
            if near.distance**2 <= _MARGIN * second**2:
                pairs.append((value, near.place))
    return pairs


class _Nearest(NamedTuple):
    place: int
    distance: float
    second: float  # the distance to the second nearest, as far as was looked


def _nearest(queries: Array, others: Array, distances: Array) -> dict[int, _Nearest]:
    """For each query the nearest of the others; of equally near ones the first."""
    order = np.lexsort((others, distances, queries))
    queries, others, distances = queries[order], others[order], np.append(distances[order], _SEEN)
    found, first = np.unique(queries, return_index=True)
    more = np.append(np.diff(np.append(first, len(queries))) > 1, False)[: len(first)]
    second = np.where(more, distances[np.minimum(first + 1, len(queries))], _SEEN)
    nearest = zip(others[first].tolist(), distances[first].tolist(), second.tolist(), strict=True)
    return {query: _Nearest(*near) for query, near in zip(found.tolist(), nearest, strict=True)}


def _likely(left: Columns, right: Columns, space: Space) -> tuple[str, str] | None:
    """Of the columns that are near, the pair that joins most values, each with one only: it tells most rows apart."""
    pairs = one_to_one(_near_columns(left, right, space))
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    some, others = tried(left, right)
    return max(pairs, key=lambda pair: len(_matches(*_tokens(some[pair[0]], others[pair[1]]), space)))


def _tokens(mine: Sequence[str | None], theirs: Sequence[str | None]) -> tuple[pa.Array, pa.Array]:
    return _Side.of(mine).tokens, _Side.of(theirs).tokens


def _near_columns(left: Columns, right: Columns, space: Space) -> list[tuple[str, str]]:
    """Pairs of columns that are mostly texts; those first whose values have most near ones on both sides."""
    sides = [_texts(side) for side in (left, right)]
    scored = []
    for theirs, right_tokens in sides[1].items():
        texts = RangeSearcher(space.vectors(right_tokens.sample), space)
        for mine, left_tokens in sides[0].items():
            queries, others, _ = texts.within(space.vectors(left_tokens.sample), _FARTHEST)
            scored.append((left_tokens.share(queries) * right_tokens.share(others), mine, theirs))
    return [(mine, theirs) for score, mine, theirs in sorted(scored, key=lambda one: -one[0]) if score > 0]


@dataclass(frozen=True)
class _Texts:
    """A sample of the distinct texts of a column, and how many there are for each row."""

    sample: pa.LargeStringArray
    filled: float

    def share(self, met: Array) -> float:
        """Of the rows that a column of so many distinct values tells apart, those with a match."""
        return self.filled * len(np.unique(met)) / len(self.sample)


def _texts(side: Columns) -> dict[str, _Texts]:
    """The columns that are mostly texts."""
    found = {}
    for name, values in side.items():
        tokens = _Side.of(values).tokens
        marks = texts_among(tokens)
        if len(tokens) and marks.mean() >= _LEAST_TEXTS:
            texts = np.flatnonzero(marks)
            step = -(-len(texts) // _SAMPLE)
            found[name] = _Texts(tokens.take(pa.array(texts[::step])), len(texts) / len(values))
    return found
