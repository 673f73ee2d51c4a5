"""Bridges equal brute force: all pairs of columns of one table that hold enough values of both sides."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.pipeline.maintain import remove_tables
from dovetail.through.bridges import Reach, Values, find_bridges, read_bridge
from support.contents import contents_of
from support.pipeline import index, without_spark

cells = st.sampled_from(["a", "b", "c", "d", "жук", "北京", "p", "q", "r", "s", ""])
rows = st.integers(2, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), max_size=12))
lakes = st.lists(rows, min_size=1, max_size=6)
sides = st.lists(cells.filter(bool), min_size=1, max_size=6, unique=True)


def write_lake(folder: Path, tables: list[list[tuple[str, ...]]]) -> Path:
    lake = folder / "lake"
    lake.mkdir()
    for number, rows in enumerate(tables):
        header = ",".join(f"c{place}" for place in range(len(rows[0]) if rows else 2))
        lines = [header, *(",".join(f'"{cell}"' for cell in row) for row in rows)]
        (lake / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lake


def brute_force(lake: Lake, left: list[str], right: list[str], least: int) -> dict:
    """Of each bridge the values held on either side, and its pairs with fan-out and fan-in."""
    found = {}
    for table, content in contents_of(lake).items():
        for one, other in itertools.permutations(range(len(content["columns"])), 2):
            columns = content["rows"][one], content["rows"][other]
            held = len(set(columns[0]) & set(left)), len(set(columns[1]) & set(right))
            if min(held) >= least:
                beside, behind = defaultdict(set), defaultdict(set)
                for a, b in zip(*columns, strict=True):
                    if a is not None and b is not None:
                        beside[a].add(b)
                        behind[b].add(a)
                pairs = {
                    (a, b): (len(beside[a]), len(behind[b]))
                    for a in left for b in right if b in beside[a]
                }  # fmt: skip
                known = {a for a in left if beside[a]}, {b for b in right if behind[b]}
                found[table, one, other] = (held, pairs, known)
    return found


def answers(lake: Lake, left: list[str], right: list[str], least: int) -> dict:
    one, other = (Values(pa.array(side, pa.large_string())) for side in (left, right))
    found = {}
    for place in find_bridges(lake.segments, one, other, least):
        segment = lake.segments[place.segment]
        first = segment.catalog.column_range(place.table)[0]
        bridge = read_bridge(
            segment,
            place,
            Reach.equal(one.places(segment, place.columns[0])),
            Reach.equal(other.places(segment, place.columns[1])),
        )
        pairs = {
            (left[i], right[j]): (out, back)
            for i, j, out, back in zip(bridge.left, bridge.right, bridge.fan_out, bridge.fan_in, strict=True)
        }
        known = {left[i] for i in bridge.known[0]}, {right[j] for j in bridge.known[1]}
        key = segment.names[place.table], place.columns[0] - first, place.columns[1] - first
        assert key not in found
        found[key] = (place.held, pairs, known)
    return found


@settings(max_examples=10)  # each writes an index
@given(tables=lakes, left=sides, right=sides, least=st.integers(1, 3))
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
def test_bridges_equal_brute_force(tmp_path_factory, tables, left, right, least, megabyte):
    folder = tmp_path_factory.mktemp("bridges")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx")
        remove_tables(folder / "idx", ["t3.csv"])
    lake = Lake(folder / "idx")
    assert answers(lake, left, right, least) == brute_force(lake, left, right, least)
