"""All ways to join two tables that are worth a comparison: equal columns, one or several; transformed; similar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.evidence.agreement import Partners, sampled_rows
from dovetail.evidence.features import Common, features
from dovetail.evidence.two_tables import OF_REFERENCES, Columns, TwoTables
from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.groups import Pair as CodedPair
from dovetail.join.best_predicate.groups import TwoCoded
from dovetail.join.best_predicate.scores import PREFERENCES, Joined
from dovetail.join.best_predicate.search import Search
from dovetail.join.judge import NamedColumns
from dovetail.join.keys import (
    SIMILAR,
    JoinKeys,
    TextRows,
    equal_keys,
    sampled_similar_keys,
    similar_keys,
    transformed_keys,
    with_similar,
)
from dovetail.join.measure_keys import key_features
from dovetail.similar.columns import together, ways_to_compare
from dovetail.tables.input_table import InputTable
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.transformation import Transformation

_CALLED = OF_REFERENCES.index("called")
_COMPOSITE = (("key", 6), ("strength", 3), ("balance", 3))
"""Preferences, and how many of the best of each are compared: they disagree on what several columns should be."""
_FOR_COMPOSITE = 0.3  # of the time, at most
_FOR_LEARNING = 0.9  # of the time that is left: the rest is for what was learned last; arbitrary
_STEPS = 10.0  # of a transformation: as many count as 1
_MOST_AGREEMENTS = 200  # candidates whose rows are looked at; arbitrary, a tenth of a second
_WAYS = 3  # of comparing texts, each on other columns; arbitrary
_MOST_TRIED = 2_000, 20_000
"""Distinct values and keys that are compared to judge a similarity join; all are compared only if it is chosen.
Arbitrary: about a second."""


@dataclass(frozen=True)
class Candidate:
    """One way to join."""

    by: str
    columns: NamedColumns  # of the left and of the right table
    source: int  # whose rows look for a key in the other: 0 the left table, 1 the right one
    features: Array
    joined: int  # rows
    matched: tuple[int, int]  # rows of the left and of the right table
    keys: Callable[[], JoinKeys]
    way: Transformation | None = None
    counts: Joined | None = None  # of equal columns
    estimated: bool = False  # the numbers of rows, from a sample


class Candidates:
    """The candidates of two tables."""

    def __init__(self, left: InputTable, right: InputTable, deadline: Deadline) -> None:
        self._left, self._right, self._deadline = left, right, deadline
        self._facts = TwoTables(left, right)

    def equal(self) -> list[Candidate]:
        """Every pair of columns with a value in common, and the best sets of several; each in both directions."""
        two, pairs_of = self._coded
        single = two.root.children(two.pairs())
        found: dict[tuple[CodedPair, ...], Joined] = {(pair,): joined for pair, joined in single.items()}
        for pairs in self._composite(two):
            joined = two.joined(pairs)
            if joined is not None:
                found.setdefault(pairs, joined)
        if not found:
            return []
        agreement = self._agreement(two, found)
        return self._measured([pairs_of(pairs) for pairs in found], list(found.values()), agreement)

    def _agreement(self, two: TwoCoded, found: dict[tuple[CodedPair, ...], Joined]) -> Array:
        """Of the rows that equal columns join, in other columns; of those with few common keys nobody looks."""
        measured = np.zeros((len(found), 1))
        partners = cache(partial(_partners, two))
        ranked = sorted(enumerate(found), key=lambda entry: -found[entry[1]].groups)
        for place, pairs in ranked[:_MOST_AGREEMENTS]:
            if len(pairs) == 1:
                ((_, a, _, b),) = pairs
                rows = sampled_rows(partners(0, a), partners(1, b))
            else:
                groups = two.groups(pairs)
                rows = sampled_rows(Partners(groups.left), Partners(groups.right))
            own = {(two.left.columns[a], two.right.columns[b]) for _, a, _, b in pairs}
            measured[place] = self._facts.agreement.of(rows, own)
        return measured

    @cached_property
    def _coded(self) -> tuple[TwoCoded, Callable[[Sequence[CodedPair]], tuple[Columns, Columns]]]:
        """Both tables coded, and the columns that coded pairs mean."""
        coded = code_tables((self._left, self._right))
        mine, theirs = (table.columns for table in coded.tables)
        first = len(self._left.names)

        def pairs_of(pairs: Sequence[CodedPair]) -> tuple[Columns, Columns]:
            return tuple(mine[a] for _, a, _, _ in pairs), tuple(first + theirs[b] for _, _, _, b in pairs)

        return TwoCoded(coded), pairs_of

    def _composite(self, two: TwoCoded) -> Iterator[tuple[CodedPair, ...]]:
        seconds = self._deadline.left * _FOR_COMPOSITE / len(_COMPOSITE)
        for name, number in _COMPOSITE:
            for predicate in Search(two, PREFERENCES[name], number, seconds).run().predicates:
                if len(predicate.pairs) > 1:
                    yield predicate.pairs
                    yield self._fewest(two, predicate.pairs)

    def _fewest(self, two: TwoCoded, pairs: tuple[CodedPair, ...]) -> tuple[CodedPair, ...]:
        """As few of the pairs as join the same rows; those whose names have least in common go first."""
        wanted = two.joined(pairs)
        ones, others = map(np.array, self._coded[1](pairs))
        called = np.maximum(self._called(ones, others), self._called(others, ones))
        kept = list(pairs)
        for place in np.argsort(called, kind="stable").tolist():
            fewer = [pair for pair in kept if pair != pairs[place]]
            joined = two.joined(fewer) if fewer else None
            if joined and wanted and (joined.rows, joined.matched) == (wanted.rows, wanted.matched):
                kept = fewer
        return tuple(kept)

    def _called(self, ones: Array, others: Array) -> Array:
        """How far each of `ones` is named after each of `others` or its table, from 0 to 1."""
        found: Array = self._facts.references(ones, others)[:, _CALLED]
        return found

    def _measured(
        self, chosen: list[tuple[Columns, Columns]], joined: list[Joined], agreement: Array
    ) -> list[Candidate]:
        measured = [np.hstack([self._equal_features(chosen, joined, here), agreement]) for here in (0, 1)]
        found = []
        for place, (mine, theirs) in enumerate(chosen):
            columns = self._facts.names(mine), self._facts.names(theirs)
            keys = partial(equal_keys, self._left, self._right, list(zip(*columns, strict=True)))
            counts = joined[place]
            for source, each in enumerate(measured):
                matched = _two(counts.matched)
                found.append(
                    Candidate("equal", columns, source, each[place], counts.rows, matched, keys, counts=counts)
                )
        return found

    def _equal_features(self, chosen: list[tuple[Columns, Columns]], joined: list[Joined], here: int) -> Array:
        """With the rows of one table looking for keys in the other."""
        mine, theirs = [pair[here] for pair in chosen], [pair[1 - here] for pair in chosen]
        there = self._facts.side(theirs)
        sizes = np.array([len(columns) for columns in mine], np.float64)
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
        ones, others = (np.array([column for columns in side for column in columns]) for side in (mine, theirs))
        same = np.add.reduceat(self._facts.same_name(ones, others), starts) / sizes
        nothing = np.zeros(len(chosen))
        common = Common(
            keys=np.array([each.groups for each in joined], np.float64),
            rows_here=np.array([each.matched[here] for each in joined], np.float64),
            rows_there=np.array([each.matched[1 - here] for each in joined], np.float64),
            joined=np.array([each.rows for each in joined], np.float64),
            called=nothing, same_name=same, columns=sizes, chance=self._facts.fullness(theirs, there),
            transformed=nothing, similar=nothing, uncertain=nothing, cost=nothing, near=nothing, same_table=nothing,
        )  # fmt: skip
        named = np.add.reduceat(self._facts.references(ones, others), starts) / sizes[:, None]
        found: Array = np.hstack([features(self._facts.side(mine), there, common), named])
        return found

    def similar(self) -> Iterator[Candidate]:
        """Texts of the columns that correspond, but no codes, each with its nearest on the other side."""
        left, right = (
            {
                name: table.values(name)
                for name in table.names
                if table.column(name).is_text and not table.column(name).has_codes
            }
            for table in (self._left, self._right)
        )
        for compared in ways_to_compare(left, right, self._deadline)[:_WAYS]:
            if self._deadline.is_over:
                return
            source, target = (right, left) if compared.reversed else (left, right)
            values = TextRows.of_rows(together(source, compared.source))
            keys = TextRows.of_rows(together(target, compared.target))
            columns = (compared.target, compared.source) if compared.reversed else (compared.source, compared.target)
            if len(values.texts) <= _MOST_TRIED[0] and len(keys.texts) <= _MOST_TRIED[1]:
                found = similar_keys(values, keys, int(compared.reversed), deadline=self._deadline)
                yield self._of_keys("similar", columns, found, values.codes)
            else:
                make = cache(partial(similar_keys, values, keys, int(compared.reversed)))
                tried, share = sampled_similar_keys(values, keys, int(compared.reversed), _MOST_TRIED, self._deadline)
                yield self._of_keys("similar", columns, tried, values.codes, sampled=share, make=make)

    def transformed(self) -> Iterator[Candidate]:
        """What programs make of one table's values, alone and with similarity for the rows that they leave."""
        left, right = ({name: table.values(name) for name in table.names} for table in (self._left, self._right))
        deadline = Deadline(self._deadline.left * _FOR_LEARNING)
        found = discover(left, right, deadline=deadline) or discover_composite(left, right, deadline)
        if found is None:
            return
        way = Transformation(found.programs, found.reversed, found.target, found.key)
        keys = transformed_keys(self._left, self._right, way)
        source, target = (right, left) if way.reversed else (left, right)
        made = way.programs[0].apply({name: source[name] for name in way.programs[0].columns})
        asked = [value or text for value, text in zip(made, source[way.columns[0]], strict=True)]
        columns = ((way.target,), way.columns) if way.reversed else (way.columns, (way.target,))
        asking = TextRows.of_rows(asked).codes
        yield self._of_keys("transform", columns, keys, asking, way)
        if (self._left if way.reversed else self._right).column(way.target).has_codes:
            return
        wanted = target[way.target]
        wanted = wanted if way.key is None else way.key.apply({way.target: wanted})
        more = with_similar(keys, asked, wanted, self._deadline)
        assert more.origin is not None
        if (more.origin[more.of_source >= 0] == SIMILAR).any():
            yield self._of_keys("transform", columns, more, asking, way)

    def _of_keys(
        self,
        by: str,
        columns: NamedColumns,
        keys: JoinKeys,
        asking: Array,
        way: Transformation | None = None,
        sampled: float = 1.0,
        make: Callable[[], JoinKeys] | None = None,
    ) -> Candidate:
        cost = 0.0 if way is None else sum(len(program.steps) for program in way.programs) / _STEPS
        measured = key_features(self._facts, self._facts.positions(columns), keys, asking, cost, sampled)
        joined, matched = measured.joined, measured.matched
        return Candidate(
            by, columns, keys.source, measured.features, joined, matched, make or (lambda: keys), way,
            estimated=sampled < 1,
        )  # fmt: skip


def _partners(two: TwoCoded, side: int, column: int) -> Partners:
    table = (two.left, two.right)[side]
    return Partners(table.codes[column], two.by_code[side][column])


def _two(counts: Sequence[int]) -> tuple[int, int]:
    left, right = counts
    return left, right
