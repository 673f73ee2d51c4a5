"""Two bridges in a row equal brute force: the probabilities of walks over two tables from one value to another."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.pipeline.maintain import remove_tables
from dovetail.through.bridges import BridgePlace, Values
from dovetail.through.chains import LEAST_WALKS, chain, find_chains, read_hop
from property.test_bridges_exact import cells, lakes, write_lake
from support.contents import contents_of
from support.pipeline import index, without_spark

sides = st.lists(cells.filter(bool), min_size=2, max_size=6, unique=True)


def beside(rows, one, other):
    found = defaultdict(set)
    for a, b in zip(rows[one], rows[other], strict=True):
        if a is not None and b is not None:
            found[a].add(b)
    return found


def brute_force(lake: Lake, left: list[str], right: list[str]) -> dict:
    """Of each chain, the probabilities of walks between all pairs of values, forth and back."""
    hops = [
        ((table, one, other), beside(content["rows"], one, other), beside(content["rows"], other, one))
        for table, content in contents_of(lake).items()
        for one, other in itertools.permutations(range(len(content["columns"])), 2)
    ]
    found = {}
    for (first, out1, back1), (second, out2, back2) in itertools.product(hops, hops):
        forth, back, middles = defaultdict(Fraction), defaultdict(Fraction), set()
        for a in left:
            for x in out1[a]:
                for b in out2[x] & set(right):
                    forth[a, b] += Fraction(1, len(out1[a]) * len(out2[x]))
                    back[a, b] += Fraction(1, len(back2[b]) * len(back1[x]))
                    middles.add(x)
        if min(len({a for a, _ in forth}), len({b for _, b in forth}), len(middles)) >= LEAST_WALKS:
            known = {a for a in left if out1[a]}, {b for b in right if back2[b]}
            found[first, second] = ({pair: (forth[pair], back[pair]) for pair in forth}, known)
    return found


def described(lake: Lake, bridge, left: list[str], right: list[str]):
    pairs = {
        (left[i], right[j]): (pytest.approx(1 / out), pytest.approx(1 / into))
        for i, j, out, into in zip(bridge.left, bridge.right, bridge.fan_out, bridge.fan_in, strict=True)
    }
    names = []
    for place in bridge.places:
        segment = lake.segments[place.segment]
        first = segment.catalog.column_range(place.table)[0]
        names.append((segment.names[place.table], place.columns[0] - first, place.columns[1] - first))
    return tuple(names), (pairs, ({left[i] for i in bridge.known[0]}, {right[j] for j in bridge.known[1]}))


@settings(max_examples=6)  # each writes an index
@given(tables=lakes, left=sides, right=sides)
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
def test_chains_equal_brute_force(tmp_path_factory, tables, left, right, megabyte):
    folder = tmp_path_factory.mktemp("chains")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx")
        remove_tables(folder / "idx", ["t3.csv"])
    lake = Lake(folder / "idx")
    values = Values(pa.array(left, pa.large_string())), Values(pa.array(right, pa.large_string()))
    wanted = np.ones(len(left), bool), np.ones(len(right), bool)
    places = [
        BridgePlace(number, int(table), columns, (0, 0))
        for number, segment in enumerate(lake.segments)
        for table in np.flatnonzero(segment.alive)
        for columns in itertools.permutations(segment.catalog.column_range(table), 2)
    ]
    hops = [[read_hop(lake.segments[p.segment], p, k, values[k], wanted[k]) for p in places] for k in (0, 1)]
    every = [chain(one, other, (len(left), len(right))) for one, other in itertools.product(*hops)]
    expected = brute_force(lake, left, right)
    assert dict(described(lake, each, left, right) for each in every if each is not None) == expected
    best = find_chains(lake.segments, values, wanted, lambda _: True)
    found = dict(described(lake, each, left, right) for each in best)
    assert all(first[0] != second[0] for first, second in found), "two tables, not one"
    assert all(expected[name] == walks for name, walks in found.items())
