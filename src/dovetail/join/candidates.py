"""All ways to join two tables that are worth a comparison: equal columns, one or several, transformed, similar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.evidence.columns import side_of_tables
from dovetail.evidence.features import Common, Side, features
from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.groups import TwoCoded
from dovetail.join.best_predicate.groups import Pair as CodedPair
from dovetail.join.best_predicate.scores import PREFERENCES, Joined
from dovetail.join.best_predicate.search import Search
from dovetail.join.keys import (
    SIMILAR,
    TRANSFORMED,
    JoinKeys,
    TextRows,
    equal_keys,
    similar_keys,
    transformed_keys,
    with_similar,
)
from dovetail.similar.columns import ComparedColumns, choose_columns, together
from dovetail.tables.input_table import InputTable
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.transformation import Transformation

_COMPOSITE = (("key", 6), ("strength", 3), ("balance", 3))  # preferences, and how many of the best of each are compared
_FOR_COMPOSITE = 0.3  # of the time
_STEPS = 10.0  # of a transformation: as many count as 1


@dataclass(frozen=True)
class Candidate:
    """One way to join. `columns` are those of the left and of the right table."""

    by: str
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    reversed: bool  # the rows of the right table look for a key in the left one
    features: Array
    joined: int  # rows
    matched: tuple[int, int]  # rows of the left and of the right table
    keys: Callable[[], JoinKeys]
    way: Transformation | None = None


class Candidates:
    """The candidates of two tables."""

    def __init__(self, left: InputTable, right: InputTable, deadline: Deadline) -> None:
        self.left, self.right, self.deadline = left, right, deadline
        self._tables = left, right
        self._side, self._names = side_of_tables((left, right))

    @cached_property
    def _coded(self) -> tuple[TwoCoded, list[list[int]]]:
        coded = code_tables(self._tables)
        return TwoCoded(coded), [list(table.columns) for table in coded.tables]

    def equal(self) -> list[Candidate]:
        two, places = self._coded
        single = two.root.children(two.pairs())
        found: dict[tuple[CodedPair, ...], Joined] = {(pair,): joined for pair, joined in single.items()}
        for pairs in self._composite(two):
            joined = two.joined(pairs)
            if joined is not None:
                found.setdefault(pairs, joined)
        offset = len(self.left.names)
        named = [
            [(places[0][a], places[1][b] + offset) for _, a, _, b in pairs] for pairs in found
        ]
        return self._measured(named, list(found.values()))

    def _composite(self, two: TwoCoded) -> Iterator[tuple[CodedPair, ...]]:
        seconds = self.deadline.left * _FOR_COMPOSITE / len(_COMPOSITE)
        for name, number in _COMPOSITE:
            for predicate in Search(two, PREFERENCES[name], number, seconds).run().predicates:
                if len(predicate.pairs) > 1:
                    yield predicate.pairs
                    yield self._fewest(two, predicate.pairs)

    def _fewest(self, two: TwoCoded, pairs: tuple[CodedPair, ...]) -> tuple[CodedPair, ...]:
        """As few of the pairs as join the same rows, those with the best names."""
        wanted = two.joined(pairs)
        _, places = self._coded
        offset = len(self.left.names)
        mine = np.array([places[0][a] for _, a, _, _ in pairs])
        theirs = np.array([places[1][b] + offset for _, _, _, b in pairs])
        called = np.maximum(self._names.compare(mine, theirs)[0], self._names.compare(theirs, mine)[0])
        kept = list(pairs)
        for place in np.argsort(called, kind="stable").tolist():
            fewer = [pair for pair in kept if pair != pairs[place]]
            if fewer and len(kept) > 1:
                joined = two.joined(fewer)
                if joined is not None and (joined.rows, joined.matched) == (wanted.rows, wanted.matched):
                    kept = fewer
        return tuple(kept)

    def _measured(self, named: list[list[tuple[int, int]]], joined: Sequence[Joined]) -> list[Candidate]:
        """Both directions of each."""
        if not named:
            return []
        sides = [self._combined([[pair[side] for pair in pairs] for pairs in named]) for side in (0, 1)]
        matched = [np.array([each.matched[side] for each in joined], np.float64) for side in (0, 1)]
        keys = np.array([each.groups for each in joined], np.float64)
        rows = np.array([each.rows for each in joined], np.float64)
        size = np.array([len(pairs) for pairs in named], np.float64)
        nothing = np.zeros(len(named))
        measured = []
        for here, there in ((0, 1), (1, 0)):
            called, same = self._called(named, here)
            common = Common(
                keys, matched[here], matched[there], rows, called, same, size, self._grid(named, there, sides[there]),
                nothing, nothing, nothing, nothing, nothing, nothing,
            )  # fmt: skip
            measured.append(features(sides[here], sides[there], common))
        found = []
        offset = len(self.left.names)
        for number, pairs in enumerate(named):
            columns = (
                tuple(self.left.names[a] for a, _ in pairs),
                tuple(self.right.names[b - offset] for _, b in pairs),
            )
            on = list(zip(*columns, strict=True))
            for reversed in (False, True):
                found.append(
                    Candidate(
                        "equal", columns, reversed, measured[reversed][number], int(rows[number]),
                        joined[number].matched, lambda on=on: equal_keys(self.left, self.right, on),
                    )
                )  # fmt: skip
        return found

    def _called(self, named: list[list[tuple[int, int]]], here: int) -> tuple[Array, Array]:
        """The means over the pairs of columns."""
        sizes = [len(pairs) for pairs in named]
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
        ones = np.array([pair[here] for pairs in named for pair in pairs], np.int64)
        others = np.array([pair[1 - here] for pairs in named for pair in pairs], np.int64)
        called = self._names.compare(ones, others)[0]
        all_names = [name.casefold() for name in (*self.left.names, *self.right.names)]
        same = np.array([float(all_names[a] == all_names[b]) for a, b in zip(ones, others, strict=True)])
        return np.add.reduceat(called, starts) / sizes, np.add.reduceat(same, starts) / sizes

    def _combined(self, chosen: list[list[int]]) -> Side:
        """The facts of combinations of columns."""
        first = np.array([columns[0] for columns in chosen], np.int64)
        side = Side(*(np.array(values[first], np.float64) for values in self._side))
        for number, columns in enumerate(chosen):
            if len(columns) > 1:
                filled, distinct = self._combinations(tuple(columns))
                side.filled[number], side.distinct[number] = filled, distinct
                side.kind[number] = max(0, *self._side.kind[columns])
                side.low[number] = side.high[number] = np.nan
                side.length[number] = self._side.length[columns].sum()
                side.place[number] = self._side.place[columns].min()
                side.is_leading[number] = distinct == filled and filled == side.rows[number]
                side.is_generic[number] = self._side.is_generic[columns].all()
        return side

    def _combinations(self, columns: tuple[int, ...]) -> tuple[int, int]:
        """Rows without a null, and distinct combinations."""
        offset = len(self.left.names)
        table = self.left if columns[0] < offset else self.right
        names = [table.names[column if column < offset else column - offset] for column in columns]
        numbers, size = np.zeros(table.rows, np.int64), 1
        for name in names:
            column = table.column(name)
            codes = column.codes().astype(np.int64)
            both = np.where((numbers < 0) | (codes < 0), -1, numbers * max(column.size, 1) + codes)
            distinct, numbers = np.unique(both, return_inverse=True)
            numbers = numbers - (1 if len(distinct) and distinct[0] < 0 else 0)
        return int((numbers >= 0).sum()), int(numbers.max(initial=-1)) + 1

    def _grid(self, named: list[list[tuple[int, int]]], there: int, side: Side) -> Array:
        """For several columns, how full the grid of all combinations is; NaN for one."""
        return np.array(
            [
                np.nan if len(pairs) < 2
                else min(1.0, side.distinct[n] / np.prod(self._side.distinct[[p[there] for p in pairs]]))
                for n, pairs in enumerate(named)
            ]
        )  # fmt: skip

    def transformed(self) -> Iterator[Candidate]:
        texts = [{name: table.values(name) for name in table.names} for table in self._tables]
        found = discover(*texts, deadline=self.deadline) or discover_composite(*texts, self.deadline)
        if found is None:
            return
        way = Transformation(found.programs, found.reversed, found.target, found.key)
        keys = transformed_keys(self.left, self.right, way)
        source, target = self._tables[::-1] if way.reversed else self._tables
        made = way.programs[0].apply({name: source.values(name) for name in way.programs[0].columns})
        raw = source.values(way.columns[0])
        asked = [value or text for value, text in zip(made, raw, strict=True)]
        wanted = target.values(way.target)
        more = with_similar(keys, asked, wanted if way.key is None else way.key.apply({way.target: wanted}))
        columns = ((way.target,), way.columns) if way.reversed else (way.columns, (way.target,))
        cost = sum(len(program.steps) for program in way.programs) / _STEPS
        asking = TextRows.of_rows(asked).codes
        yield self._of_keys("transform", columns, keys, asking, cost, way)
        if (more.of_source >= 0).sum() > (keys.of_source >= 0).sum() or (more.origin == SIMILAR).any():
            yield self._of_keys("transform", columns, more, asking, cost, way)

    def similar(self) -> Iterator[Candidate]:
        texts = [
            {name: table.values(name) for name in table.names if table.column(name).is_text} for table in self._tables
        ]
        compared = choose_columns(*texts)
        if compared is not None:
            yield self._similar(texts, compared)

    def _similar(self, texts: list[dict[str, list[str | None]]], compared: ComparedColumns) -> Candidate:
        source, target = texts[::-1] if compared.reversed else texts
        values = TextRows.of_rows(together(source, compared.source))
        keys = TextRows.of_rows(together(target, compared.target))
        found = similar_keys(values, keys, int(compared.reversed))
        columns = (compared.target, compared.source) if compared.reversed else (compared.source, compared.target)
        return self._of_keys("similar", columns, found, values.codes, 0.0)

    def _of_keys(
        self, by: str, columns: tuple[tuple[str, ...], tuple[str, ...]], keys: JoinKeys, asking: Array, cost: float,
        way: Transformation | None = None,
    ) -> Candidate:  # fmt: skip
        """Measured by its rows; `asking` are the codes of the source's values, matched or not."""
        source, target = keys.of_source, keys.of_target
        counts = [np.bincount(codes[codes >= 0], minlength=keys.size) for codes in (source, target)]
        common = (counts[0] > 0) & (counts[1] > 0)
        has = np.append(counts[1] > 0, False)[source]
        offset = len(self.left.names)
        numbers = [
            [self.left.names.index(name) for name in columns[0]],
            [self.right.names.index(name) + offset for name in columns[1]],
        ]
        ones, others = numbers[::-1] if keys.source else numbers
        there = self._combined([others])
        here = self._combined([ones])
        n = 1.0
        here = here._replace(
            filled=np.array([max(n, (asking >= 0).sum())]), distinct=np.array([max(n, len(np.unique(asking[asking >= 0])))]),
            kind=there.kind, low=there.low, high=there.high, length=there.length,
        )  # fmt: skip
        if keys.size:
            there = there._replace(
                filled=np.array([max(n, (target >= 0).sum())]), distinct=np.array([max(n, (counts[1] > 0).sum())])
            )
        pairs = [(a, b) for a in ones for b in others]
        called = self._names.compare(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]))[0].max()
        all_names = [name.casefold() for name in (*self.left.names, *self.right.names)]
        same = float(any(all_names[a] == all_names[b] for a, b in pairs))
        rows = max(1, int(has.sum()))
        origin = np.zeros(len(source), np.int8) if keys.origin is None else keys.origin
        by_similarity = has & (origin == SIMILAR)
        distance = 0.0
        if keys.similarity is not None and by_similarity.any():
            distance = float(1 - keys.similarity[by_similarity].mean())
        joined = int(counts[0] @ counts[1])
        matched = int(has.sum()), int(counts[1][common].sum())

        def one(value: float) -> Array:
            return np.array([float(value)])

        measured = features(
            here, there,
            Common(
                one(common.sum()), one(matched[0]), one(matched[1]), one(joined), one(called), one(same),
                one(max(len(ones), len(others))), one(np.nan), one((has & (origin == TRANSFORMED)).sum() / rows),
                one(by_similarity.sum() / rows), one(distance), one(cost), one(0), one(0),
            ),
        )[0]  # fmt: skip
        if keys.source:
            matched = matched[::-1]
        return Candidate(by, columns, bool(keys.source), measured, joined, matched, lambda: keys, way)
