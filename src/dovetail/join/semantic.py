"""Which values of two columns mean the same, by their vectors. An embedder makes them, as for search.

With `min_similarity`, each value joins its most similar one of the right column, if it is similar enough, as in
search. Without it, values join that are each other's nearest by a margin, if that is more likely right than wrong in
view of their similarity and of the other pairs; sparse vectors are then weighted by how rare their dimensions are in
the two tables, because "league" does not distinguish leagues. Equal values always join.

The similarity of two values is a probability for any two columns, of which most have little in common. Whether these
two name the same things is seen from their other pairs: where each "Hebei" meets a "Hebei Province", "Hunan" is "Hunan
Province". The share of right pairs is estimated together with their probabilities, as in: Marco Saerens, Patrice
Latinne, Christine Decaestecker: Adjusting the Outputs of a Classifier to New a Priori Probabilities, Neural Computation
14(1), 2002, doi:10.1162/089976602753284446. Two departures: a pair does not confirm itself, and pairs confirm only
pairs whose words relate in the same way: equal names do not prove that a first name stands for a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.indexes.pexeso.core import Space, TextVectors, VectorParameters, texts_among
from dovetail.indexes.pexeso.in_memory import RangeSearcher, similarities_of, weigh_by_idf
from dovetail.join.keys import JoinKeys, mapped_keys
from dovetail.normalise.keyed import HASHED
from dovetail.similar.columns import one_to_one
from dovetail.tables.column_names import Pair
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

# Chosen on the semantic and fuzzy development pairs (benchmarks/semantic/quality.py).
_SEEN = {True: 0.4, False: 0.6}  # the cosine down to which neighbours are looked for; sparse vectors are farther apart
_MARGIN = 0.95  # of the square of the distance to the second nearest: the nearest must be nearer than that
_NEAR = 0.3  # the similarity of values that may pair columns; other values were not measured
_SAMPLE = 2_000  # values of a column that are compared to pair the columns
_TRIED = (5_000, 50_000)  # values of the smaller and of the larger column, to choose between pairs of columns
_LEAST_TEXTS = 0.5  # of a column's values, to be tried

ValuePair = tuple[int, int, float]
"""Positions among the tokens of both columns, and how similar they are."""
_PSEUDO_PAIRS = 3.0  # with which the prior counts; 2 to 5 differed by .003 in F1 on the development pairs
_ROUNDS = 100
_CLOSE = 1e-6


def semantic_keys(
    left: InputTable, right: InputTable, on: Pair | None, space: Space | None, min_similarity: float | None
) -> tuple[Pair, JoinKeys] | None:
    """The columns, found if none are named, and the keys; None if no text columns correspond."""
    space = space or VectorParameters.chosen().space()
    pair = on or _likely_columns(left, right, space)
    if pair is None:
        return None
    columns = left.column(pair[0]), right.column(pair[1])
    mine, theirs = (column.tokens for column in columns)
    if HASHED in (column.type for column in columns):
        found = _equal(mine, theirs)
    elif min_similarity is None:
        found = _mutual(mine, theirs, space)
    else:
        found = _most_similar(mine, theirs, space, space.matching(min_similarity))
    one, other = mine.to_pylist(), theirs.to_pylist()
    return pair, mapped_keys(left, right, pair, {one[a]: (other[b], similarity) for a, b, similarity in found})


def _equal(mine: pa.Array, theirs: pa.Array) -> list[ValuePair]:
    places = {token: place for place, token in enumerate(theirs.to_pylist())}
    return [(value, places[token], 1.0) for value, token in enumerate(mine.to_pylist()) if token in places]


def _most_similar(mine: pa.Array, theirs: pa.Array, space: Space, matching: Matching) -> list[ValuePair]:
    """Each value of mine with its most similar one; of equally similar ones the first by name, as in search."""
    pairs = _equal(mine, theirs)
    equal = {value for value, *_ in pairs}
    texts = [np.flatnonzero(texts_among(side)) for side in (mine, theirs)]
    by_name = texts[1][np.argsort(np.array(theirs.take(pa.array(texts[1])).to_pylist(), object), kind="stable")]
    queries, others, similarities = RangeSearcher(space.embedded(theirs.take(pa.array(by_name))), space).within(
        space.embedded(mine.take(pa.array(texts[0]))), matching
    )
    order = np.lexsort((others, -similarities, queries))
    found, first = np.unique(queries[order], return_index=True)
    for query, best in zip(found.tolist(), order[first].tolist(), strict=True):
        if int(texts[0][query]) not in equal:
            pairs.append((int(texts[0][query]), int(by_name[others[best]]), float(similarities[best])))
    return pairs


def _mutual(mine: pa.Array, theirs: pa.Array, space: Space) -> list[ValuePair]:
    """Equal values, then those that are each other's nearest by a margin, and more likely right than wrong."""
    pairs = _equal(mine, theirs)
    equal = {value for value, *_ in pairs}
    texts = [np.flatnonzero(texts_among(side)) for side in (mine, theirs)]
    one, other = (space.embedded(side.take(pa.array(at))) for side, at in zip((mine, theirs), texts, strict=True))
    matching = space.matching()
    a, b = _each_others_nearest(one, other, space)
    open_ = np.array([int(value) not in equal for value in texts[0][a]], bool)
    a, b = a[open_], b[open_]
    similarities = similarities_of(one, other, a, b, matching)
    prior = matching.calibration.prior
    relations = one.words.relations(a, other.words, b)
    likely = similarities if prior is None else confirmed(similarities, relations, prior)
    kept = likely >= matching.min_similarity
    places = texts[0][a[kept]].tolist(), texts[1][b[kept]].tolist()
    return [*pairs, *zip(*places, similarities[kept].tolist(), strict=True)]


def _each_others_nearest(one: TextVectors, other: TextVectors, space: Space) -> tuple[Array, Array]:
    """Places of texts that are each other's nearest, nearer than all others by a margin."""
    mine, theirs = weigh_by_idf(one, other, space.embedder.dimension)
    seen = _SEEN[space.is_sparse]
    queries, others, squared = RangeSearcher(theirs, space).near(mine.vectors, seen)
    forth, back = _nearest(queries, others, squared, 2 - 2 * seen), _nearest(others, queries, squared, 2 - 2 * seen)
    found = [
        (query, near.place)
        for query, near in forth.items()
        if back[near.place].place == query and near.squared <= _MARGIN * min(near.second, back[near.place].second)
    ]
    places = np.array(found, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


class _Nearest(NamedTuple):
    place: int
    squared: float  # the square of the distance
    second: float  # that of the second nearest, as far as was looked


def _nearest(queries: Array, others: Array, squared: Array, farthest: float) -> dict[int, _Nearest]:
    """For each query the nearest of the others; of equally near ones the first."""
    order = np.lexsort((others, squared, queries))
    queries, others, squared = queries[order], others[order], np.append(squared[order], farthest)
    found, first = np.unique(queries, return_index=True)
    more = np.append(np.diff(np.append(first, len(queries))) > 1, False)[: len(first)]
    second = np.where(more, squared[np.minimum(first + 1, len(queries))], farthest)
    nearest = zip(others[first].tolist(), squared[first].tolist(), second.tolist(), strict=True)
    return {query: _Nearest(*near) for query, near in zip(found.tolist(), nearest, strict=True)}


def _likely_columns(left: InputTable, right: InputTable, space: Space) -> Pair | None:
    """Of the columns that are near, the pair that joins most values, each with one only."""
    pairs = one_to_one(_near_columns(left, right, space))
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    return max(pairs, key=lambda pair: len(_mutual(*_samples(left.column(pair[0]), right.column(pair[1])), space)))


def _samples(mine: InputColumn, theirs: InputColumn) -> tuple[pa.Array, pa.Array]:
    """Some values of the smaller column, which look for theirs in more of the larger one."""
    sizes = _TRIED if mine.size <= theirs.size else _TRIED[::-1]
    return _sample(mine, sizes[0]), _sample(theirs, sizes[1])


def _sample(column: InputColumn, most: int) -> pa.Array:
    return column.tokens.take(pa.array(np.arange(column.size)[:: -(-column.size // most) or 1]))


def _near_columns(left: InputTable, right: InputTable, space: Space) -> list[Pair]:
    """Pairs of columns that are mostly texts; those first whose values have most near ones on both sides."""
    mine, theirs = (_texts(table.columns) for table in (left, right))
    matching = space.matching(_NEAR)
    scored = []
    for name, texts in theirs.items():
        near = RangeSearcher(space.embedded(texts.sample), space)
        for my_name, my_texts in mine.items():
            queries, others, _ = near.within(space.embedded(my_texts.sample), matching)
            scored.append((my_texts.share(queries) * texts.share(others), my_name, name))
    return [(mine, theirs) for score, mine, theirs in sorted(scored, key=lambda one: -one[0]) if score > 0]


@dataclass(frozen=True)
class _Texts:
    """A sample of the distinct texts of a column, and how many there are for each row."""

    sample: pa.LargeStringArray
    filled: float

    def share(self, matched: Array) -> float:
        """Of the rows that a column of so many distinct values distinguishes, those with a match."""
        return self.filled * len(np.unique(matched)) / len(self.sample)


def _texts(columns: Sequence[InputColumn]) -> dict[str, _Texts]:
    """The columns that are mostly texts."""
    found = {}
    for column in columns:
        marks = column.texts
        if column.is_text and column.size and marks.mean() >= _LEAST_TEXTS:
            texts = np.flatnonzero(marks)
            step = -(-len(texts) // _SAMPLE)
            found[column.name] = _Texts(column.tokens.take(pa.array(texts[::step])), len(texts) / column.rows)
    return found


def confirmed(similarities: Array, relations: Array, prior: float) -> Array:
    """The probabilities of pairs that compete with none, given each other."""
    found = similarities.astype(np.float64)
    for relation in np.unique(relations):
        rows = np.flatnonzero(relations == relation)
        found[rows] = _given_the_others(found[rows], prior)
    return found


def _given_the_others(likely: Array, prior: float) -> Array:
    likely = np.clip(likely, _CLOSE, 1.0 - _CLOSE)
    odds = likely / (1.0 - likely) / (prior / (1.0 - prior))
    for _ in range(_ROUNDS):
        others = likely.sum() - likely
        share = np.clip((others + _PSEUDO_PAIRS * prior) / (len(likely) - 1 + _PSEUDO_PAIRS), _CLOSE, 1.0 - _CLOSE)
        now = odds * share / (1.0 - share)
        before, likely = likely, now / (1.0 + now)
        if np.abs(likely - before).max() < _CLOSE:
            break
    return likely
