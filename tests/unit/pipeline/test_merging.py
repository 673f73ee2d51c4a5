"""Levels of segments: however an index came about, few segments are left, and each table is rewritten a few times."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage.directory import newest_manifest, open_snapshot, open_writer
from dovetail.pipeline import maintain
from dovetail.pipeline.generation import commit
from dovetail.pipeline.maintain import compact
from dovetail.pipeline.merging import plan_merges, sizes_of, split_merge
from dovetail.settings import Settings
from support.contents import contents_of
from support.pipeline import SMALLEST, UNMERGED, index, without_spark

sizes = st.lists(st.integers(0, 10**12), max_size=60).map(lambda found: {str(n): size for n, size in enumerate(found)})


@given(sizes, st.integers(2, 12))
def test_few_segments_are_left_whatever_there_was(sizes, factor):
    groups = plan_merges(sizes, factor)
    merged = [name for group in groups for name in group]
    assert len(merged) == len(set(merged))
    assert all(len(group) >= factor for group in groups)
    left = [size for name, size in sizes.items() if name not in merged]
    left += [sum(sizes[name] for name in group) for group in groups]
    levels = 1 + math.log(max([factor, *left]), factor)
    assert len(left) <= (factor - 1) * (levels + 1)
    assert plan_merges({str(n): size for n, size in enumerate(left)}, factor) == []


@given(sizes, st.integers(2, 12), st.integers(1, 10**12))
def test_large_segments_are_left_alone_below_a_ceiling(sizes, factor, ceiling):
    merged = [name for group in plan_merges(sizes, factor, ceiling) for name in group]
    assert all(sizes[name] < ceiling for name in merged)


@given(sizes, st.integers(1, 8), st.integers(1, 10**12))
def test_the_parts_of_a_merge_are_large_and_fewer_than_before(sizes, tasks, least):
    parts = split_merge(list(sizes), sizes, least, tasks)
    kept = [name for part in parts for name in part]
    assert len(kept) == len(set(kept))
    assert len(parts) <= max(1, min(tasks, sum(sizes.values()) // least))
    assert not parts or len(sizes) - len(kept) + len(parts) <= max(1, len(sizes) - 1)


def test_a_table_a_run_leaves_few_segments(tmp_path):
    """As a log: levels of three, whose segments are merged as soon as there are three."""
    (tmp_path / "lake").mkdir()
    settings = Settings(merge_factor=3)
    counts = []
    with without_spark():
        for number in range(12):
            (tmp_path / "lake" / f"t{number}.csv").write_text(f"id,word\n{number},w{number}\n")
            counts.append(index(tmp_path / "lake", tmp_path / "idx", settings=settings).segments)
    assert max(counts) <= 5
    assert contents_of(tmp_path / "idx").keys() == {f"t{number}.csv" for number in range(12)}


def test_what_one_run_builds_is_left_alone(tmp_path):
    (tmp_path / "lake").mkdir()
    for number in range(40):
        (tmp_path / "lake" / f"t{number:02}.csv").write_text("id\n" + "x\n" * 500)
    with without_spark(megabyte=100_000):
        report = index(tmp_path / "lake", tmp_path / "idx", settings=Settings(segment_mb=1, merge_factor=2))
    assert report.segments == 1
    with without_spark(megabyte=2_500):
        report = index(tmp_path / "lake", tmp_path / "other", settings=Settings(segment_mb=1, merge_factor=2))
    assert report.segments > 10


@pytest.fixture
def nine(tmp_path):
    """Nine tables, a segment each."""
    (tmp_path / "lake").mkdir()
    with without_spark():
        for number in range(9):
            (tmp_path / "lake" / f"t{number}.csv").write_text(f"id,word\n{number},w{number}\n")
            index(tmp_path / "lake", tmp_path / "idx", settings=UNMERGED)
    return tmp_path / "idx"


def test_a_large_merge_is_split_once(nine, monkeypatch):
    before, generation = contents_of(nine), newest_manifest(nine).generation
    monkeypatch.setattr(maintain, "_PART", 1)
    with without_spark(megabyte=60_000):
        done = compact(nine, settings=Settings(segment_mb=1))
        again = compact(nine, settings=Settings(segment_mb=1))
    assert (done.segments_before, done.segments_after, done.generation) == (9, 2, generation + 1)
    assert (again.segments_after, again.generation) == (2, generation + 1)
    assert contents_of(nine) == before


def test_a_commit_opens_only_what_is_new(nine, monkeypatch):
    opened = []
    with open_writer(nine) as writer:
        monkeypatch.setattr("dovetail.pipeline.generation.totals_of", lambda segment: opened.append(segment) or {})
        commit(writer, writer.manifest.next(segments=writer.manifest.segments[1:]))
        assert opened == []
        assert writer.manifest.statistics["tables"] == 8


def test_an_index_without_totals_is_merged_and_counted(nine):
    """As an earlier version wrote it."""
    with open_writer(nine) as writer:
        refs = tuple(ref.__class__(ref.id, ref.checksum, ref.tables, ref.dead) for ref in writer.manifest.segments)
        writer.commit(writer.manifest.next(segments=refs, statistics={}))
    assert set(sizes_of(open_snapshot(nine).segments).values()) == {20_013}
    with without_spark():
        assert compact(nine, settings=SMALLEST).segments_after == 1
    assert newest_manifest(nine).statistics == {"tables": 9, "columns": 18, "rows": 9, "bytes": 117}


def test_small_segments_are_of_one_level():
    sizes = {"a": 1, "b": 30, "c": 900, "d": 5_000}
    assert plan_merges(sizes, factor=2, floor=1_000) == [["a", "b", "c"]]
    assert plan_merges(sizes, factor=2) == []
