"""The index directory: generations, the one writer, leftovers, and snapshots for readers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dovetail._storage import directory
from dovetail._storage.directory import IndexWriter, newest_manifest, open_snapshot, open_writer
from dovetail._storage.manifest import Manifest
from dovetail._storage.sealed import seal
from dovetail._storage.segment import SegmentRef, SegmentWriter
from dovetail.errors import BuildFailed, FormatMismatch, IndexDamaged, InputError, NotAnIndex, WriterConflict
from dovetail.settings import Settings

NEW = Manifest(0, settings=Settings(segment_mb=5))


def add_segment(writer: IndexWriter, number: int) -> SegmentRef:
    segment = SegmentWriter(writer.segments)
    segment.write_part("numbers", 1, lambda pack: pack.add("all", np.full(100, number)))
    return segment.finish({"tables": 1})


def make_index(path: Path, *numbers: int) -> Path:
    with open_writer(path, create=NEW) as writer:
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
    assert snapshot.manifest.settings == NEW.settings
    assert numbers_in(snapshot) == [1, 2, 3]
    assert [name for name in names(index) if name.startswith("manifest")] == ["manifest-3.json"]


def test_tenth_generation_comes_after_the_ninth(tmp_path):
    index = make_index(tmp_path / "idx", *range(10))
    assert newest_manifest(index).generation == 10
    assert numbers_in(open_snapshot(index)) == list(range(10))


@pytest.mark.parametrize("prepare", [lambda path: None, lambda path: path.mkdir(), lambda path: path.write_text("x")])
def test_where_there_is_no_index(tmp_path, prepare):
    path = tmp_path / "idx"
    prepare(path)
    with pytest.raises(NotAnIndex, match="dovetail index LAKE --to"):
        open_snapshot(path)
    with pytest.raises(NotAnIndex), open_writer(path):
        pass
    assert not path.is_dir() or names(path) == []


def test_an_index_is_not_scattered_among_other_files(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match=r"holds other files \(letter\.txt\)"), open_writer(tmp_path, create=NEW):
        pass
    assert names(tmp_path) == ["letter.txt"]
    with pytest.raises(InputError, match="is a file"), open_writer(tmp_path / "letter.txt", create=NEW):
        pass


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
    monkeypatch.setattr(directory.fcntl, "flock", lambda *_: None)  # as on a file system without locks
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
        half = SegmentWriter(writer.segments)
        (half.folder / "numbers.dvt").write_bytes(b"half")
        (writer.staging / "slices").mkdir(parents=True)
        (writer.staging / "slices" / "x.arrow").write_bytes(b"x")
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
        monkeypatch.setattr(directory, "sync_folder", interrupted)
        commit(writer, *refs)
    assert numbers_in(open_snapshot(index)) == [1, 2]


def test_a_full_disk_is_said_in_a_sentence(tmp_path, monkeypatch):
    index = make_index(tmp_path / "idx", 1)

    def full(path, data):
        path.write_bytes(data[:10])
        raise OSError(28, os.strerror(28), str(path))

    monkeypatch.setattr(directory, "write_durably", full)
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


@pytest.mark.parametrize("moment", ["manifest", "segment"])
def test_a_reader_that_meets_the_cleaning_gets_the_newer_generation(tmp_path, monkeypatch, moment):
    index = make_index(tmp_path / "idx", 1)
    real = {"manifest": directory._read_manifest, "segment": directory.Segment}[moment]
    overtaken = []

    def overtake_first(*arguments):
        if not overtaken:
            overtaken.append(True)
            with open_writer(index) as writer:
                commit(writer, add_segment(writer, 2))
        return real(*arguments)

    monkeypatch.setattr(directory, {"manifest": "_read_manifest", "segment": "Segment"}[moment], overtake_first)
    snapshot = open_snapshot(index)
    assert overtaken
    assert snapshot.manifest.generation == 2
    assert numbers_in(snapshot) == [2]


def test_a_segment_that_is_gone_for_good_does_not_loop(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    shutil.rmtree(index / "segments")
    with pytest.raises(IndexDamaged, match="is missing"):
        open_snapshot(index)


def test_a_damaged_manifest_is_not_passed_over(tmp_path):
    """Falling back to an older generation would lose committed tables without a word."""
    index = make_index(tmp_path / "idx", 1)
    file = index / "manifest-1.json"
    file.write_bytes(file.read_bytes().replace(b'"segment_mb": 5', b'"segment_mb": 6'))
    for action in (lambda: open_snapshot(index), lambda: make_index(index, 2)):
        with pytest.raises(IndexDamaged, match=r"manifest-1\.json is damaged"):
            action()
    assert file.exists()
    assert len(list((index / "segments").iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("format", 2, "index format 2; this Dovetail knows index format 1"),
        ("normaliser", 99, "normaliser 99; this Dovetail knows normaliser"),
    ],
)
def test_other_versions_are_refused_by_name(tmp_path, name, value, said):
    index = make_index(tmp_path / "idx", 1)
    body = newest_manifest(index).to_json() | {name: value}
    (index / "manifest-1.json").write_bytes(seal(body))
    with pytest.raises(FormatMismatch, match=said):
        open_snapshot(index)
    with pytest.raises(FormatMismatch, match=said):
        make_index(index, 2)


def test_a_manifest_without_what_we_need_is_refused(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    body = newest_manifest(index).to_json()
    del body["frozen"]
    (index / "manifest-1.json").write_bytes(seal(body))
    with pytest.raises(FormatMismatch, match=r"says nothing of frozen: another Dovetail has written it"):
        open_snapshot(index)


def test_another_unicode_is_told(tmp_path):
    index = make_index(tmp_path / "idx", 1)
    (index / "manifest-1.json").write_bytes(seal(newest_manifest(index).to_json() | {"unicode": "1.1"}))
    with pytest.warns(UserWarning, match=r"written with Unicode 1\.1"):
        assert numbers_in(open_snapshot(index)) == [1]
