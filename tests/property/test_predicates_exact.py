"""The k best predicates equal brute force over all predicates, for every preference; bounds are bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail._deadline import Deadline
from dovetail.join.best_predicate.coding import Coded, CodedTable, code_tables
from dovetail.join.best_predicate.groups import TwoCoded
from dovetail.join.best_predicate.many import ManyCoded
from dovetail.join.best_predicate.scores import PREFERENCES, Preference, preference_of
from dovetail.join.best_predicate.search import Search, best_predicates
from dovetail.tables.input_table import open_table

Table = dict[str, list[str | None]]


@st.composite
def tables(draw, shapes, max_rows) -> list[Table]:
    values = [*"uvwxy"[: draw(st.integers(1, 5))], *([None] if draw(st.booleans()) else [])]
    found = []
    for width in draw(st.sampled_from(shapes)):
        rows = draw(st.integers(1, max_rows))
        column = st.lists(st.sampled_from(values), min_size=rows, max_size=rows)
        found.append({f"c{place}": draw(column) for place in range(width)})
    return found


def coded(given_tables: list[Table]) -> Coded:
    frames = [{name: pa.array(values, pa.string()) for name, values in t.items()} for t in given_tables]
    return code_tables([open_table(frame) for frame in frames])


def closed_predicates(given_tables: list[Table]) -> dict[tuple, list[tuple[int, ...]]]:
    """Every closed predicate that connects all tables, and the rows that it joins."""
    rows = [list(zip(*table.values(), strict=True)) for table in given_tables]
    places = [(t, c) for t, table in enumerate(given_tables) for c in range(len(table))]
    pairs = [(*one, *other) for one, other in itertools.product(places, places) if one[0] < other[0]]
    combinations = list(itertools.product(*(range(len(each)) for each in rows)))

    def holds(pair, joined) -> bool:
        x, a, y, b = pair
        value = rows[x][joined[x]][a]
        return value is not None and value == rows[y][joined[y]][b]

    found = {}
    for size in range(1, len(pairs) + 1):
        for predicate in itertools.combinations(sorted(pairs), size):
            joined = [each for each in combinations if all(holds(pair, each) for pair in predicate)]
            if joined:
                closed = tuple(pair for pair in sorted(pairs) if all(holds(pair, each) for each in joined))
                if connects(closed, len(rows)):
                    found[closed] = joined
    return found


def connects(predicate, number: int) -> bool:
    reached = {0}
    for _ in range(number):
        for x, _, y, _ in predicate:
            if reached & {x, y}:
                reached |= {x, y}
    return len(reached) == number


def score(name: str, given_tables: list[Table], predicate, joined) -> float:
    """By the definitions of the paper, from the joined rows."""
    rows = [list(zip(*table.values(), strict=True)) for table in given_tables]
    keys: dict[tuple, int] = {}
    for each in joined:
        key = tuple(rows[x][each[x]][a] for x, a, _, _ in predicate)
        keys[key] = keys.get(key, 0) + 1
    covered = sum(len({each[table] for each in joined}) for table in range(len(rows)))
    shares = [size / len(joined) for size in keys.values()]
    total = sum(len(each) for each in rows)
    strength = 2 * covered / (len(rows) * len(joined) + total)
    matched = [len({each[table] for each in joined}) for table in range(len(rows))]
    used = [
        min(matched[other] / len(rows[other]) for other in range(len(rows)) if other != table)
        for table in range(len(rows))
        if matched[table] == len(joined) >= 0.9 * len(rows[table])
    ]
    known = len(keys) / (len(keys) + 20)
    key = max([min(1, (3 * (share + (1 - share) * known)) ** 2) for share in used], default=0)
    return {
        "coverage": covered,
        "groups": len(keys),
        "compact": covered - len(joined),
        "balance": -sum(share * math.log2(share) for share in shares),
        "strength": strength,
        "key": strength + key,
    }[name]


def ranked(name: str, given_tables: list[Table]):
    found = []
    for predicate, joined in closed_predicates(given_tables).items():
        covered = sum(len({each[table] for each in joined}) for table in range(len(given_tables)))
        value = round(score(name, given_tables, predicate, joined), 6) + 0.0
        found.append((-value, -covered, len(joined), len(predicate), predicate))
    return sorted(found)


def answer(best, codes: Coded):
    return [
        (
            -(round(each.score, 6) + 0.0),
            -each.joined.covered,
            each.joined.rows,
            len(each.pairs),
            tuple((x, codes.tables[x].columns[a], y, codes.tables[y].columns[b]) for x, a, y, b in each.pairs),
        )
        for each in best.predicates
    ]


@settings(max_examples=40)
@given(tables([(1, 1), (2, 2), (3, 2), (1, 4), (3, 3)], 7), st.sampled_from([1, 2, 100]))
def test_two_tables(given_tables, k):
    codes = coded(given_tables)
    for name, preference in PREFERENCES.items():
        wanted = ranked(name, given_tables)[:k]
        for closed, bounded in ((True, True), (False, True), (True, False)):
            best = Search(TwoCoded(codes), preference, k, 60, closed, bounded).run()
            assert best.complete
            assert answer(best, codes) == wanted, (name, closed, bounded)


@settings(max_examples=40)
@example(
    [
        {"a": ["v", "u"], "b": ["u", "v"]},
        {"a": ["w", "v", "u"], "b": ["v", "w", "u"]},
        {"a": ["w", "u", "w", "v"]},
    ],
    1,
)
@given(tables([(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1)], 4), st.sampled_from([1, 3, 100]))
def test_three_tables(given_tables, k):
    codes = coded(given_tables)
    for name, preference in PREFERENCES.items():
        best = best_predicates(codes, preference, k, 60)
        assert best.complete
        assert answer(best, codes) == ranked(name, given_tables)[:k], name


@settings(max_examples=20)
@given(tables([(1, 1, 1, 1), (1, 2, 1, 1), (2, 1, 1, 1)], 3), st.sampled_from([1, 3, 100]))
def test_four_tables(given_tables, k):
    codes = coded(given_tables)
    for name, preference in PREFERENCES.items():
        best = best_predicates(codes, preference, k, 60)
        assert best.complete
        assert answer(best, codes) == ranked(name, given_tables)[:k], name


@settings(max_examples=30)
@given(tables([(2, 2), (3, 2), (1, 2, 1), (2, 1, 1)], 5), st.sampled_from([1, 3]))
def test_a_preference_of_ones_own(given_tables, k):
    """Without a bound nothing is ruled out; with one, the answer is the same."""

    def few_rows(joined):
        return joined.groups - 10 * joined.rows

    codes = coded(given_tables)
    wanted = sorted((entry[0] + 10 * entry[2], *entry[1:]) for entry in ranked("groups", given_tables))[:k]
    for preference in (preference_of(few_rows), Preference("few rows", few_rows, lambda joined: joined.most_groups)):
        best = best_predicates(codes, preference, k, 60)
        assert best.complete
        assert answer(best, codes) == wanted


@settings(max_examples=40)
@given(tables([(2, 2), (3, 2)], 7))
def test_no_extension_beats_the_bound(given_tables):
    two = TwoCoded(coded(given_tables))
    counted = {}
    for size in (1, 2, 3):
        for predicate in itertools.combinations(two.pairs(), size):
            joined = two.joined(predicate)
            if joined:
                counted[predicate] = joined
    for preference in PREFERENCES.values():
        for one, other in itertools.product(counted, counted):
            if set(one) <= set(other):
                assert preference.best_rank(counted[one]) <= preference.rank(counted[other])


@settings(max_examples=40)
@given(tables([(1, 1, 1), (1, 2, 1), (2, 1, 1)], 4))
def test_no_extension_beats_the_bound_of_several_tables(given_tables):
    """Neither the bound of what is connected so far, nor that of a pair which is not counted yet."""
    many = ManyCoded(coded(given_tables), Deadline(60))
    counted = {}
    for size in (1, 2, 3):
        for predicate in itertools.combinations(many.single, size):
            if connects(predicate, len(set().union({0}, *((x, y) for x, _, y, _ in predicate)))):
                joined = many.joined(predicate)
                if joined:
                    counted[predicate] = joined
    for preference in PREFERENCES.values():
        for one, other in itertools.product(counted, counted):
            if set(one) <= set(other) and counted[other].connected:
                assert preference.best_rank(counted[one]) <= preference.rank(counted[other])
                kept = many.promising(
                    [pair for pair in other if pair not in one], counted[one],
                    lambda limit, preference=preference, other=other: (
                        preference.best_rank(limit) > preference.rank(counted[other])
                    ),
                )  # fmt: skip
                assert len(kept) == len(set(other) - set(one))


@pytest.mark.parametrize("preference", PREFERENCES.values(), ids=lambda each: each.name)
def test_huge_groups_are_counted(preference):
    """A flag on both sides: 10 to the 11 joined rows."""
    rows = 400_000
    flags = np.arange(rows, dtype=np.int32) % 2
    codes = Coded((CodedTable(rows, (0, 1), np.stack([flags, flags])), CodedTable(rows, (0,), flags[None])), 2)
    best = best_predicates(codes, preference, 1, 60)
    assert best.complete
    assert best.predicates[0].joined.rows == 2 * (rows // 2) ** 2
    assert best.predicates[0].joined.matched == (rows, rows)


def test_huge_groups_of_several_tables_are_counted():
    """Flags in four tables: 2 times 50,000 to the 4 joined rows, more than 63 bits hold."""
    rows = 100_000
    flags = np.arange(rows, dtype=np.int32) % 2
    codes = Coded(tuple(CodedTable(rows, (0,), flags[None]) for _ in range(4)), 2)
    best = best_predicates(codes, PREFERENCES["coverage"], 1, 60)
    assert best.complete
    assert best.predicates[0].joined.rows == 2 * (rows // 2) ** 4
    assert best.predicates[0].joined.matched == (rows,) * 4


def test_when_the_time_is_over_the_best_so_far_is_given():
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 5, (2, 12, 300)).astype(np.int32)
    many = Coded(tuple(CodedTable(300, tuple(range(12)), each) for each in codes), 5)
    best = best_predicates(many, PREFERENCES["groups"], 3, 0.2)
    assert not best.complete
    assert len(best.predicates) == 3
    assert [each.rank for each in best.predicates] == sorted(each.rank for each in best.predicates)
