"""What a run decides before it starts Spark."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail.lake.listing import TableFile
from dovetail.pipeline import plan
from dovetail.pipeline.generation import TablePlace, without
from dovetail.pipeline.plan import compare, group_files, read_bytes

BIG = 1_000_000


def file(name: str, size: int, mark: str = "m") -> TableFile:
    return TableFile(name, f"/lake/{name}", size, mark)


def test_compare():
    files = {name: file(name, 1, mark) for name, mark in (("new", "1"), ("same", "1"), ("other", "2"))}
    indexed = {name: TablePlace("s", number, "1") for number, name in enumerate(("same", "other", "gone"))}
    changes = compare(files, indexed)
    assert [found.table for found in changes.new] == ["new"]
    assert [found.table for found in changes.changed] == ["other"]
    assert changes.gone == ["gone"]
    assert changes.unchanged == 1
    assert [found.table for found in changes.to_read] == ["new", "other"]


def test_compressed_files_count_as_what_they_become():
    assert read_bytes(file("a.csv", 100)) == 100
    assert read_bytes(file("a.csv.gz", 100)) == read_bytes(file("a.csv.zst", 100)) == 500


@given(st.lists(st.integers(0, 3 * BIG), max_size=40), st.integers(1, 8))
def test_every_file_is_in_one_group_files(sizes, workers):
    files = [file(f"{number}.csv", size) for number, size in enumerate(sizes)]
    groups = group_files(files, 2 * BIG, BIG, workers)
    assert sorted(member.table for members in groups for member in members) == sorted(f.table for f in files)
    assert all(groups)
    for members in groups:
        assert members == sorted(members, key=lambda member: member.table)
        if any(member.bytes > BIG for member in members):
            assert len(members) == 1, "a big file stands alone"
        else:
            assert sum(member.bytes for member in members) <= 3 * BIG + BIG, "about the target"
    again = group_files(list(reversed(files)), 2 * BIG, BIG, workers)
    assert sorted(map(str, again)) == sorted(map(str, groups)), "the order of the listing does not matter"


@given(st.lists(st.integers(0, BIG), min_size=1, max_size=60))
def test_each_file_goes_to_the_lightest_group(sizes):
    """As if all groups were weighed anew for each file, which would take long for a million files."""
    files = [file(f"{number}.csv", size) for number, size in enumerate(sizes)]
    groups = group_files(files, BIG, BIG, 4)
    plain: list[list[TableFile]] = [[] for _ in groups]
    weights = [0] * len(groups)
    for member in sorted(files, key=lambda one: (-one.bytes, one.table)):
        place = weights.index(min(weights))
        plain[place].append(member)
        weights[place] += member.bytes + plan._FILE_COST_BYTES
    assert groups == [sorted(members, key=lambda one: one.table) for members in plain]


def test_few_small_files_make_one_segment_and_many_bytes_keep_all_workers_busy():
    assert len(group_files([file(f"{i}.csv", 1_000) for i in range(50)], 128 * BIG, 64 * BIG, 8)) == 1
    assert len(group_files([file(f"{i}.csv", 10 * BIG) for i in range(16)], 128 * BIG, 64 * BIG, 8)) == 8
    assert len(group_files([file("a.csv", 0)], BIG, BIG, 2)) == 1, "an empty file is a file"


def test_without():
    manifest = Manifest(3, (SegmentRef("a", "x", 3, (1,)), SegmentRef("b", "y", 2), SegmentRef("c", "z", 1)))
    dead = [TablePlace("a", 2, ""), TablePlace("b", 0, ""), TablePlace("b", 1, "")]
    assert without(manifest, dead) == (SegmentRef("a", "x", 3, (1, 2)), SegmentRef("c", "z", 1))
    assert without(manifest, []) == manifest.segments
