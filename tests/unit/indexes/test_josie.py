"""Overlap search, ours and the published algorithms, against plain Python sets."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.errors import IndexDamaged
from dovetail.indexes.josie import kernels
from dovetail.indexes.josie.build import LEAST_COSTS, MOST_COSTS, TYPICAL_COSTS
from dovetail.indexes.josie.core import JosieCosts, OverlapMatches
from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.josie.query import JosieReader
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.papers import josie_kernels
from dovetail.papers.josie import ALGORITHMS, kernel_of

PLENTY = 1 << 30
FREE = JosieCosts(0.0, 0.0, 1000.0, 1000.0, 1.0)  # sets cost nothing: they are read as soon as anything is gained
DEAR = JosieCosts(1e6, 1e6, 0.001, 0.001, 1.0)


def every_kernel():
    """By name: ours, and those of the paper."""
    published = {algorithm: kernel_of(algorithm) for algorithm in ALGORITHMS}
    return {"ours": kernels.search, **published, "josie, one list at a time": kernel_of(batch=1)}


def build(folder: Path, columns: list[set[str]], memory_bytes: int = PLENTY) -> Segment:
    writer = SegmentWriter(folder)
    scratch = folder / f"scratch-{writer.id}"
    scratch.mkdir()
    builders = [index.builder(scratch, memory_bytes) for index in (TOKENS, JOSIE)]
    for (number, column), builder in itertools.product(enumerate(columns), builders):
        builder.add(ColumnChunk(number, pa.array(sorted(column), pa.large_string()), np.ones(len(column), np.int64)))
    counts = {"tables": 0}
    for builder in builders:
        counts |= builder.finish(writer, [1] * len(columns))
    return Segment(folder, writer.finish(counts))


def brute_force(columns: list[set[str]], query: set[str], k: int, floor: int, allowed) -> list[tuple[int, int]]:
    overlaps = {number: len(query & column) for number, column in enumerate(columns) if allowed[number]}
    ranked = sorted(overlaps.values(), reverse=True)
    threshold = max(floor, ranked[k - 1] if k <= len(ranked) else 0)
    kept = [(number, overlap) for number, overlap in overlaps.items() if overlap >= threshold]
    return sorted(kept, key=lambda hit: (-hit[1], hit[0]))


def hits(found: OverlapMatches) -> list[tuple[int, int]]:
    return list(zip(found.columns.tolist(), found.overlaps.tolist(), strict=True))


values = st.integers(0, 30).map(str)
lakes = st.lists(st.sets(values, max_size=20), max_size=12)


@settings(max_examples=50)
@given(
    columns=lakes,
    query=st.sets(values | st.sampled_from(["never", "seen"]), max_size=25),
    k=st.integers(1, 15),
    floor=st.integers(1, 6),
    memory_bytes=st.sampled_from([1, PLENTY]),
    data=st.data(),
)
def test_equals_brute_force(tmp_path_factory, columns, query, k, floor, memory_bytes, data):
    segment = build(tmp_path_factory.mktemp("segments"), columns, memory_bytes)
    assert list(JOSIE.check(segment)) == []
    reader = JOSIE.open(segment)
    masks = st.none() | st.lists(st.booleans(), min_size=len(columns), max_size=len(columns)).map(np.array)
    allowed = data.draw(masks)
    allowed = allowed if allowed is None else allowed.astype(bool)
    expected = brute_force(columns, query, k, floor, [True] * len(columns) if allowed is None else allowed)
    asked = pa.array(sorted(query), pa.large_string())
    for name, kernel in every_kernel().items():
        assert hits(reader.search(asked, k, floor, allowed, kernel)) == expected, name
    for number, column in enumerate(columns):
        assert reader.overlap_with(asked, number) == len(query & column)


def skewed_lake(seed: int, columns: int = 400, vocabulary: int = 3000) -> list[set[str]]:
    """Few huge sets and many small ones over tokens of very different frequency: long lists and big groups."""
    random = np.random.default_rng(seed)
    sizes = np.minimum(random.pareto(0.8, columns) * 4 + 1, vocabulary).astype(int)
    return [{str(int(vocabulary * random.random() ** 3)) for _ in range(size)} for size in sizes]


@pytest.fixture(scope="module")
def skewed(tmp_path_factory) -> tuple[list[set[str]], JosieReader]:
    lake = skewed_lake(1)
    return lake, JOSIE.open(build(tmp_path_factory.mktemp("skewed"), lake))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 1 << 30), size=st.sampled_from([1, 10, 100, 1000]), k=st.sampled_from([1, 3, 10, 50, 1000]),
    floor=st.sampled_from([1, 1, 5, 40]), masked=st.booleans(),
    costs=st.sampled_from(
        [None, FREE, DEAR, JosieCosts(100.0, 1.0, 20.0, 1.0, 9.0), JosieCosts(50.0, 0.2, 500.0, 5.0, 1.0)]
    ),
)  # fmt: skip
def test_any_costs_give_the_same_answer(skewed, seed, size, k, floor, masked, costs):
    lake, reader = skewed
    random = np.random.default_rng(seed)
    query = set(list(lake[random.integers(len(lake))])[:size]) | {str(v) for v in random.integers(0, 4000, size)}
    allowed = random.random(len(lake)) < 0.7 if masked else None
    expected = brute_force(lake, query, k, floor, [True] * len(lake) if allowed is None else allowed)
    measured = reader.costs
    reader.costs = costs or measured
    try:
        for name, kernel in every_kernel().items():
            assert hits(reader.search(pa.array(sorted(query)), k, floor, allowed, kernel)) == expected, name
    finally:
        reader.costs = measured


def test_reads_less_than_both_baselines_where_sets_are_cheap(skewed):
    lake, reader = skewed
    query = pa.array(sorted(max(lake, key=len)))
    reader.costs, measured = JosieCosts(1.0, 0.1, 1000.0, 1.0, 9.0), reader.costs
    work = {name: reader.search(query, 3, kernel=kernel).work for name, kernel in every_kernel().items()}
    reader.costs = measured
    for name in ("ours", "josie"):
        assert work[name].list_items < work["merge_list"].list_items
        assert work[name].sets <= work["probe_set"].sets
    assert work["merge_list"].sets == 0


@pytest.mark.parametrize("costs", [FREE, DEAR])
def test_kernels_equal_their_plain_form(tmp_path, monkeypatch, costs):
    lake = skewed_lake(2, columns=40, vocabulary=60)
    reader = JOSIE.open(build(tmp_path, lake))
    reader.costs = costs
    queries = [pa.array(sorted(column)) for column in lake[:6]]

    def answers():
        return [hits(reader.search(query, 4, kernel=kernel)) for query in queries for kernel in every_kernel().values()]

    compiled = answers()
    for module in (kernels, josie_kernels):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
    assert answers() == compiled


def test_groups_of_a_query(tmp_path):
    reader = JOSIE.open(build(tmp_path, [{"a", "b", "c"}, {"c", "d", "e"}, {"c"}]))
    groups, weights, ids = reader.query_groups(pa.array(["e", "a", "never", "b", "c", "a", "d"]))
    assert (len(groups), weights.tolist(), len(set(ids.tolist()))) == (3, [2, 2, 1], 5)
    assert np.all(np.diff(groups) > 0)


def test_repeated_values_count_once(tmp_path):
    reader = JOSIE.open(build(tmp_path, [{"a", "b"}, {"b"}]))
    assert hits(reader.search(pa.array(["a", "a", "b", "b"]), 5)) == [(0, 2), (1, 1)]


def test_a_search_leaves_no_trace(skewed):
    lake, reader = skewed
    for kernel in every_kernel().values():
        reader.search(pa.array(sorted(lake[0] | lake[1])), 3, kernel=kernel)
    assert all(not scratch.counts.any() for scratch in reader._free)


@pytest.mark.parametrize(("k", "floor"), [(0, 1), (1, 0)])
def test_k_and_floor_are_at_least_one(tmp_path, k, floor):
    with pytest.raises(ValueError, match="at least 1"):
        JOSIE.open(build(tmp_path, [{"a"}])).search(pa.array(["a"]), k, floor)


def test_a_mask_of_another_segment_is_refused(tmp_path):
    with pytest.raises(ValueError, match="2 places for 1 columns"):
        JOSIE.open(build(tmp_path, [{"a"}])).search(pa.array(["a"]), 1, allowed=np.ones(2, bool))


@given(lakes)
def test_positions_count_tokens(tmp_path_factory, columns):
    segment = build(tmp_path_factory.mktemp("segments"), columns)
    tokens, positions = TOKENS.open(segment), segment.pack("josie")["posting_positions"]
    offsets = tokens.arrays.posting_offsets
    for group in range(tokens.arrays.groups):
        for at in range(offsets[group], offsets[group + 1]):
            ids, _ = tokens.set_of(tokens.arrays.posting_columns[at])
            assert positions[at] == np.searchsorted(ids, tokens.arrays.group_tokens[group])


@pytest.mark.parametrize("columns", [[], [set()], [{"a"}], [{"a", "b"}, {"b"}]])
def test_measured_costs_of_a_tiny_segment_are_sensible(tmp_path, monkeypatch, columns):
    monkeypatch.setattr("dovetail.indexes.josie.build.WORTH_MEASURING", 0)
    costs = JOSIE.open(build(tmp_path, columns)).costs
    assert all(low <= cost <= high for low, cost, high in zip(LEAST_COSTS, costs, MOST_COSTS, strict=True))


def test_costs_are_measured_on_machine_code_or_not_at_all(tmp_path, monkeypatch):
    """As Python, reading an item of a list takes about fifty times as long."""
    columns = [{f"v{i}" for i in range(first, first + 50)} for first in range(100)]
    assert JOSIE.open(build(tmp_path / "small", columns)).costs[:4] == TYPICAL_COSTS[:4]
    monkeypatch.setattr("dovetail.indexes.josie.build.WORTH_MEASURING", 0)
    monkeypatch.setattr(kernels.merge_list, "plain", lambda: pytest.fail("as Python"))
    assert JOSIE.open(build(tmp_path / "large", columns)).costs[:4] != TYPICAL_COSTS[:4]


def test_wrong_positions_and_costs_are_found(tmp_path):
    segment = build(tmp_path, [{"a", "b", "c"}, {"b", "c"}, {"c"}])
    pack = segment.pack("josie")
    original = dict(pack._arrays)
    pack._arrays["posting_positions"] = original["posting_positions"] + np.uint32(1)
    assert [problem.split(": ")[1] for problem in JOSIE.check(segment)] == ["positions do not match the sets"]
    pack._arrays.update(original, costs=np.full(5, np.nan))
    assert [problem.split(": ")[1] for problem in JOSIE.check(segment)] == [
        "a read cost is beyond what any machine needs"
    ]
    pack._arrays.update(original, posting_positions=original["posting_positions"][:-1])
    with pytest.raises(IndexDamaged, match="positions for"):
        JOSIE.open(segment)
