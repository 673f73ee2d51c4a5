"""Segments: immutable, self-describing, and unmistakable."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from dovetail._storage.sealed import checksum_of, seal, unseal
from dovetail._storage.segment import Segment, SegmentRef, SegmentWriter
from dovetail.errors import FormatMismatch, IndexDamaged


def write(folder, number=1) -> SegmentRef:
    writer = SegmentWriter(folder)
    writer.write_part("numbers", 1, lambda pack: pack.add("all", np.full(10, number)))
    assert writer.pack("numbers")["all"].tolist() == [number] * 10
    return writer.finish({"tables": 4, "rows": 7})


def rewrite(folder, ref, **changes) -> SegmentRef:
    """The same segment with another description, every checksum right."""
    file = folder / ref.id / "segment.json"
    data = seal(unseal(file.read_bytes(), "") | changes)
    file.write_bytes(data)
    return SegmentRef(ref.id, checksum_of(data), ref.tables)


def test_round_trip(tmp_path):
    ref = write(tmp_path)
    segment = Segment(tmp_path, ref)
    assert segment.counts == {"tables": 4, "rows": 7}
    assert segment.pack("numbers")["all"].tolist() == [1] * 10
    part = segment.parts["numbers"]
    assert part["bytes"] == (tmp_path / ref.id / "numbers.dvt").stat().st_size
    assert part["checksum"] == f"{segment.pack('numbers').checksum:016x}"
    assert segment.damage() == []
    assert SegmentRef.from_json(ref.to_json()) == ref


def test_two_attempts_never_meet(tmp_path):
    assert len({write(tmp_path).id for _ in range(20)}) == 20


def test_a_pack_of_another_segment_is_found(tmp_path):
    first, second = write(tmp_path, 1), write(tmp_path, 2)
    shutil.copy(tmp_path / second.id / "numbers.dvt", tmp_path / first.id / "numbers.dvt")
    assert Segment(tmp_path, first).damage() == [f"{first.id}/numbers.dvt: a whole file, but of another segment"]


def test_another_description_is_refused(tmp_path):
    first, second = write(tmp_path, 1), write(tmp_path, 2)
    shutil.copy(tmp_path / second.id / "segment.json", tmp_path / first.id / "segment.json")
    with pytest.raises(IndexDamaged, match="not the one that the manifest names"):
        Segment(tmp_path, first).pack("numbers")


def test_another_version_is_refused_by_name(tmp_path):
    ref = rewrite(tmp_path, write(tmp_path), version=3)
    with pytest.raises(FormatMismatch, match=f"Segment {ref.id} has format 3; this Dovetail reads format 2"):
        Segment(tmp_path, ref).pack("numbers")


def test_a_part_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FormatMismatch, match="has no letters"):
        Segment(tmp_path, write(tmp_path)).pack("letters")


def test_a_file_that_is_gone(tmp_path):
    ref = write(tmp_path)
    (tmp_path / ref.id / "numbers.dvt").unlink()
    with pytest.raises(IndexDamaged, match=f"{ref.id}/numbers.dvt is missing"):
        Segment(tmp_path, ref).pack("numbers")
