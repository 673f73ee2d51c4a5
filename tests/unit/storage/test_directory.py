"""The index directory: generations, the one writer, leftovers, and snapshots for readers."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dovetail._storage import directory, local_store, sealed
from dovetail._storage.directory import IndexWriter, newest_manifest, open_snapshot, open_writer
from dovetail._storage.sealed import seal
from dovetail._storage.segment import SegmentRef, SegmentWriter
from dovetail.errors import BuildFailed, FormatMismatch, IndexDamaged, WriterConflict


def add_segment(writer: IndexWriter, number: int) -> SegmentRef:
    segment = SegmentWriter(writer.store.path / "segments")
    segment.write_part("numbers", 1, lambda pack: pack.add("all", np.full(100, number)))
    return segment.finish({"tables": 1})


def make_index(path: Path, *numbers: int) -> Path:
    with open_writer(path, create=True) as writer:
        for number in numbers:
            commit(writer, *writer.manifest.segments, add_segment(writer, number))
    return path


def commit(writer: IndexWriter, *segments: SegmentRef) -> None:
    writer.commit(writer.manifest.next(segments=segments))
    writer.clean_segments()


def numbers_in(snapshot: directory.Snapshot) -> list[int]:
    return [int(segment.pack("numbers")["all"].sum()) // 100 for segment in snapshot.segments]


def names(path: Path) -> list[str]:
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))


def test_generations_follow_each_other(tmp_path):
    index = make_index(tmp_path / "idx", 1, 2)
    make_index(index, 3)
    snapshot = open_snapshot(index)
    assert snapshot.manifest.generation == 3
    assert numbers_in(snapshot) == [1, 2, 3]
    assert [name for name in names(index) if name.startswith("manifest")] == ["manifest-3.json"]


def test_tenth_generation_comes_after_the_ninth(tmp_path):
    index = make_index(tmp_path / "idx", *range(10))
    assert newest_manifest(index).generation == 10
    assert numbers_in(open_snapshot(index)) == list(range(10))


def test_only_segments_and_manifests_are_ever_removed(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    for name in ("notes.txt", "segments/mine.csv", "segments/mine/a.csv"):
        (index / name).parent.mkdir(exist_ok=True)
        (index / name).write_text("mine")
    make_index(index, 2)
    assert {"notes.txt", "segments/mine.csv", "segments/mine/a.csv"} <= set(names(index))


def test_a_second_writer_is_told(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    with open_writer(index) as first:
        with pytest.raises(WriterConflict, match="Another process is writing"), open_writer(index):
            pass
        commit(first, *first.manifest.segments, add_segment(first, 2))
    with open_writer(index) as again:
        assert again.manifest.generation == 2


def test_the_lock_ends_with_its_process(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    holder = (
        "import sys, time, pathlib; from dovetail._storage.directory import open_writer\n"
        "with open_writer(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", holder, str(index)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(WriterConflict), open_writer(index):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open_writer(index) as writer:
            assert writer.manifest.generation == 1


def test_of_two_commits_of_one_generation_the_second_loses_and_nothing_is_lost(tmp_path, monkeypatch):
    index = make_index(tmp_path / "idx", 1)
    monkeypatch.setattr(local_store.fcntl, "flock", lambda *_: None)  # as on a file system without locks
    with pytest.raises(WriterConflict, match="committed generation 2 meanwhile"), open_writer(index) as loser:
        with open_writer(index) as winner:
            commit(winner, *winner.manifest.segments, add_segment(winner, 2))
        commit(loser, *loser.manifest.segments, add_segment(loser, 3))
    assert numbers_in(open_snapshot(index)) == [1, 2]
    assert open_snapshot(index).manifest.generation == 2


def test_leftovers_are_cleaned_by_the_next_writer(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    whole = names(index)
    with open_writer(index) as writer:
        add_segment(writer, 9)  # never committed
        half = SegmentWriter(writer.store.path / "segments")
        (half.folder / "numbers.dvt").write_bytes(b"half")
        (writer.shared.path / "slices").mkdir(parents=True)
        (writer.shared.path / "slices" / "x.arrow").write_bytes(b"x")
        (index / "manifest-2.json.abcd").write_bytes(b"a draft")
        killed = tmp_path / "killed"
        shutil.copytree(index, killed)  # what a kill at this moment leaves
    assert names(index) == whole, "a writer that ends cleans up behind itself"
    assert len(names(killed)) > len(whole)
    assert numbers_in(open_snapshot(killed)) == [1]
    with open_writer(killed) as writer:
        assert names(killed) == whole


def test_a_writer_that_fails_keeps_the_last_generation(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    whole = names(index)
    with pytest.raises(RuntimeError), open_writer(index) as writer:
        add_segment(writer, 2)
        raise RuntimeError
    assert names(index) == whole


def test_an_interrupt_right_after_a_commit_does_not_undo_it(tmp_path, monkeypatch):
    index = make_index(tmp_path / "idx", 1)

    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_writer(index) as writer:
        refs = (*writer.manifest.segments, add_segment(writer, 2))
        monkeypatch.setattr(sealed, "sync_folder", interrupted)
        commit(writer, *refs)
    assert numbers_in(open_snapshot(index)) == [1, 2]


def test_a_full_disk_is_said_in_a_sentence(tmp_path, monkeypatch):
    index = make_index(tmp_path / "idx", 1)

    def full(path, data):
        path.write_bytes(data[:10])
        raise OSError(28, os.strerror(28), str(path))

    monkeypatch.setattr(sealed, "write_durably", full)
    with pytest.raises(BuildFailed, match=r"No space left on device\. What was committed stays"):
        make_index(index, 2)
    assert numbers_in(open_snapshot(index)) == [1]
    assert [name for name in names(index) if name.startswith("manifest")] == ["manifest-1.json"]


def test_a_reader_keeps_its_generation(tmp_path):
    index = make_index(tmp_path / "idx", 1, 2)
    before = open_snapshot(index)
    with open_writer(index) as writer:
        commit(writer, add_segment(writer, 3))  # as a compaction does: the old segments are gone
        between = open_snapshot(index)
        commit(writer, add_segment(writer, 4))
    assert numbers_in(before) == [1, 2]
    assert all(not segment.damage() for segment in before.segments)
    assert numbers_in(between) == [3]
    assert numbers_in(open_snapshot(index)) == [4]


def test_what_a_reader_holds_is_removed_once_it_has_gone(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    kept = open_snapshot(index).segments  # the segments alone hold the generation
    with open_writer(index) as writer:
        commit(writer, add_segment(writer, 2))
    assert "manifest-1.json" in names(index)
    assert kept[0].pack("numbers")["all"][0] == 1, "not opened before"
    del kept
    with open_writer(index):
        pass
    assert [name for name in names(index) if name.startswith("manifest")] == ["manifest-2.json"]
    assert len(list((index / "segments").iterdir())) == 1


@pytest.mark.parametrize("moment", ["before it is locked", "before it is read"])
def test_a_reader_that_meets_the_cleaning_gets_the_newer_generation(tmp_path, monkeypatch, moment):
    index = make_index(tmp_path / "idx", 1)
    overtaken = []

    def overtake_first(real):
        def call(*arguments):
            if not overtaken:
                overtaken.append(True)
                with open_writer(index) as writer:
                    commit(writer, add_segment(writer, 2))
            return real(*arguments)

        return call

    if moment == "before it is locked":
        monkeypatch.setattr(local_store.fcntl, "flock", overtake_first(local_store.fcntl.flock))
    else:
        monkeypatch.setattr(local_store, "_Hold", overtake_first(local_store._Hold))
    snapshot = open_snapshot(index)
    assert overtaken
    assert snapshot.manifest.generation == 2
    assert numbers_in(snapshot) == [2]


def test_an_index_on_a_file_system_without_locks_can_be_read(tmp_path, monkeypatch):
    index = make_index(tmp_path / "idx", 1)

    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(local_store.fcntl, "flock", no_locks)
    assert numbers_in(open_snapshot(index)) == [1]


def test_a_segment_that_is_gone_for_good_does_not_loop(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    shutil.rmtree(index / "segments")
    (segment,) = open_snapshot(index).segments
    with pytest.raises(IndexDamaged, match="is missing: the index is damaged, or was rewritten"):
        segment.pack("numbers")


def test_a_damaged_manifest_is_not_passed_over(tmp_path):
    """Falling back to an older generation would lose committed tables without a word."""
    index = make_index(tmp_path / "idx", 1)
    file = index / "manifest-1.json"
    file.write_bytes(file.read_bytes().replace(b'"generation": 1', b'"generation": 2'))
    for action in (lambda: open_snapshot(index), lambda: make_index(index, 2)):
        with pytest.raises(IndexDamaged, match=r"manifest-1\.json is damaged"):
            action()
    assert file.exists()
    assert len(list((index / "segments").iterdir())) == 1


def test_another_normaliser_is_refused_by_name(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    (index / "manifest-1.json").write_bytes(seal(newest_manifest(index).to_json() | {"normaliser": 99}))
    said = (
        r"written with normaliser 99; this Dovetail has normaliser \d+\. Build the index again in a new folder: `dovet"
    )
    for action in (lambda: open_snapshot(index), lambda: make_index(index, 2)):
        with pytest.raises(FormatMismatch, match=said):
            action()


def test_another_unicode_is_reported(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    (index / "manifest-1.json").write_bytes(seal(newest_manifest(index).to_json() | {"unicode": "1.1"}))
    with pytest.warns(UserWarning, match=r"written with Unicode 1\.1"):
        assert numbers_in(open_snapshot(index)) == [1]
