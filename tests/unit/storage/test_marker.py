"""A folder is an index only if it is marked as one; whatever is not is neither read, written to nor cleaned."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dovetail
from dovetail._storage import directory, local_store
from dovetail._storage.directory import newest_manifest, open_snapshot, open_writer
from dovetail._storage.marker import MARKER, index_around, is_index
from dovetail._storage.sealed import seal, unseal
from dovetail.errors import FormatMismatch, IndexDamaged, InputError, NotAnIndex
from support.pipeline import index, without_spark


@pytest.fixture(autouse=True)
def no_spark():
    with without_spark():
        yield


@pytest.fixture
def lake(tmp_path) -> Path:
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.csv").write_text("id,name\n1,x\n2,y\n")
    return tmp_path / "lake"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_lake_whose_folders_are_called_like_those_of_an_index_is_left_alone(tmp_path):
    """`index /data/lake/staging --to /data/lake` emptied the lake once."""
    lake = tmp_path / "lake"
    for name in ("staging/a.csv", "segments/b.csv", "manifest-7.json"):
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        (lake / name).write_text("id,name\n1,x\n")
    before = files(lake)
    with pytest.raises(InputError, match=r"holds the lake .*staging; choose another folder for the index"):
        index(lake / "staging", lake)
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"is not an index and not empty \(it holds "):
        index(tmp_path / "other", lake)
    for verb in (dovetail.open, dovetail.verify, dovetail.compact, lambda path: dovetail.remove(path, "*")):
        with pytest.raises(NotAnIndex, match=r"is not an index\. Make one with `dovetail index LAKE --to"):
            verb(lake)
    assert files(lake) == before


@pytest.mark.parametrize("kind", ["absent", "empty", "file"])
def test_where_there_is_no_index(tmp_path, kind):
    path = tmp_path / "idx"
    if kind == "empty":
        path.mkdir()
    elif kind == "file":
        path.write_text("x")
    for action in (open_snapshot, newest_manifest, lambda path: open_writer(path).__enter__()):
        with pytest.raises(NotAnIndex, match="dovetail index LAKE --to"):
            action(path)
    assert not path.is_dir() or files(path) == {}
    assert index_around(path) is None


def test_a_file_is_no_target(lake):
    with pytest.raises(InputError, match="is a file; the index needs a folder"):
        index(lake, lake / "a.csv")


def test_the_marker_is_the_first_that_is_written(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(directory.os, "open", killed)  # the lock's file
    monkeypatch.setattr(local_store, "create_whole", lambda path, data: path.write_bytes(data))
    with pytest.raises(KeyboardInterrupt), open_writer(tmp_path / "idx", create=True):
        pass
    monkeypatch.undo()
    assert set(files(tmp_path / "idx")) == {MARKER}
    with pytest.raises(NotAnIndex, match="its first build did not finish"):
        open_snapshot(tmp_path / "idx")
    with open_writer(tmp_path / "idx", create=True) as writer:
        assert writer.manifest.generation == 0


def test_a_draft_of_the_marker_does_not_stand_in_the_way(lake, tmp_path):
    (tmp_path / "idx").mkdir()
    (tmp_path / "idx" / f"{MARKER}.abcd").write_text("half")
    assert not is_index(tmp_path / "idx")
    index(lake, tmp_path / "idx")
    assert f"{MARKER}.abcd" not in files(tmp_path / "idx")


def test_another_version_is_refused_by_name_with_the_command_that_rebuilds(lake, tmp_path):
    to = tmp_path / "idx"
    index(lake, to)
    (to / MARKER).write_bytes(seal(unseal((to / MARKER).read_bytes(), MARKER) | {"version": 4}))
    said = r"idx has index format 4; this Dovetail reads format 3\. Build .*: `dovetail index LAKE --to FOLDER`\."
    for action in (open_snapshot, lambda path: index(lake, path), dovetail.compact):
        with pytest.raises(FormatMismatch, match=said):
            action(to)


def test_an_index_of_format_1_is_refused_by_name(lake, tmp_path):
    to = tmp_path / "idx"
    index(lake, to)
    (to / MARKER).unlink()
    (to / "manifest-1.json").write_text('{\n "body": {\n  "format": 1\n },\n "checksum": "0123456789abcdef"\n}')
    before = files(to)
    for action in (open_snapshot, lambda path: index(lake, path), dovetail.compact):
        with pytest.raises(FormatMismatch, match="has index format 1; this Dovetail reads format 3"):
            action(to)
    assert files(to) == before


@pytest.mark.parametrize("content", [b"", b"{}", seal({"format": "another"})])
def test_a_damaged_marker_is_refused(lake, tmp_path, content):
    to = tmp_path / "idx"
    index(lake, to)
    (to / MARKER).write_bytes(content)
    with pytest.raises(IndexDamaged, match=MARKER):
        open_snapshot(to)
    assert any(MARKER in problem for problem in dovetail.verify(to).problems)


def test_an_index_inside_its_lake_is_not_read_as_lake_data(lake):
    index(lake, lake / "idx")
    (lake / "idx" / "notes.csv").write_text("a,b\n1,2\n")
    shutil.copytree(lake / "idx", lake / "deep" / "copy")
    report = index(lake, lake / "idx")
    assert (report.tables, report.unchanged, report.added) == (1, 1, 0)


def test_an_index_is_no_lake(lake, tmp_path):
    index(lake, tmp_path / "idx")
    with pytest.raises(InputError, match="idx is an index, not a lake"):
        index(tmp_path / "idx", tmp_path / "second")
    with pytest.raises(InputError, match="segments is part of an index, not a lake"):
        index(tmp_path / "idx" / "segments", tmp_path / "idx", add=True)
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("above", [False, True])
def test_the_target_neither_is_nor_holds_the_lake(tmp_path, above):
    (tmp_path / "data" / "lake").mkdir(parents=True)
    with pytest.raises(InputError, match="holds the lake"):
        index(tmp_path / "data" / "lake", tmp_path / "data" / ("" if above else "lake"))
    assert files(tmp_path) == {}
