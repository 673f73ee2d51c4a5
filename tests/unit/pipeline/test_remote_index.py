"""An index in an object store, of a lake in one: the same answers as in folders, whatever happens to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dovetail
from dovetail import _objects
from dovetail._objects import Objects
from dovetail._storage import directory
from dovetail._storage.directory import open_snapshot, open_writer
from dovetail.errors import IndexDamaged, InputError, NotAnIndex, WriterConflict
from dovetail.lake import object_path
from dovetail.lake.listing import Root
from support.buckets import buckets_in_memory
from support.command import dovetail as command
from support.contents import contents_of
from support.pipeline import index, without_spark

LAKE, INDEX = "s3://bucket/raw", "s3://bucket/index"


@pytest.fixture
def lake(tmp_path) -> Path:
    """Small tables, a compressed one, one that is read in portions, one that is none."""
    folder = tmp_path / "lake"
    (folder / "deep").mkdir(parents=True)
    for number in range(4):
        rows = "".join(f"{i},Town {i * number}\n" for i in range(40))
        (folder / "deep" / f"t{number}.csv").write_text("id,name\n" + rows)
    (folder / "big.csv").write_text("id,text\n" + "".join(f"{i},word {i % 97}\n" for i in range(3000)))
    (folder / "broken.csv").write_bytes(b"\x00" * 100)
    return folder


@pytest.fixture(autouse=True)
def buckets(tmp_path) -> Iterator[None]:
    with buckets_in_memory(tmp_path / "cache"), without_spark(megabyte=5000):
        yield


def upload(folder: Path, to: str = LAKE) -> None:
    for path in folder.rglob("*.csv"):
        Objects(to).put(path.relative_to(folder).as_posix(), path.read_bytes())


def without_marks(contents):
    """Fingerprints differ: a file's has its time, an object's has its tag."""
    return {name: {**table, "table": {**vars(table["table"]), "fingerprint": ""}} for name, table in contents.items()}


def names(address: str = INDEX) -> set[str]:
    return {entry.name for entry in Objects(address).entries()}


def test_the_same_history_in_folders_and_in_a_store(lake, tmp_path):
    upload(lake)
    seen = []
    for source, to in ((lake, tmp_path / "idx"), (LAKE, INDEX)):
        index(source, to)
        steps = [contents_of(to)]
        if source == LAKE:
            Objects(LAKE).put("new.csv", b"id,town\n1,Town 4\n2,Town 8\n")
            Objects(LAKE).delete(["deep/t2.csv"])
        else:
            (lake / "new.csv").write_text("id,town\n1,Town 4\n2,Town 8\n")
            (lake / "deep" / "t2.csv").unlink()
        report = index(source, to)
        assert (report.added, report.removed, report.changed) == (1, 1, 0)
        steps.append(contents_of(to))
        assert dovetail.remove(to, "deep/t0.csv") == ["deep/t0.csv"]
        dovetail.compact(to)
        steps.append(contents_of(to))
        assert dovetail.verify(to).problems == ()
        seen.append([without_marks(step) for step in steps])
    assert seen[0] == seen[1]
    assert not any(name.startswith("staging/") for name in names())


def test_searches_and_joins_answer_the_same(lake, tmp_path):
    upload(lake)
    index(lake, tmp_path / "idx")
    index(LAKE, INDEX)
    here, there = dovetail.open(tmp_path / "idx"), dovetail.open(INDEX)
    own = lake / "deep" / "t1.csv"
    asked = tmp_path / "asked.csv"
    asked.write_bytes(own.read_bytes())
    for by in ("equal", "transform"):
        ours, theirs = (opened.search(asked, by=by, include_self=True).to_dicts() for opened in (here, there))
        assert ours == theirs
    assert there.table("deep/t1.csv").to_arrow() == here.table("deep/t1.csv").to_arrow()
    assert there.search(f"{LAKE}/deep/t1.csv").to_dicts() == here.search(own).to_dicts(), "the same folder counts"
    assert there.search(f"{LAKE}/deep/t1.csv", on="id").to_dicts() == here.search(own, on="id").to_dicts()
    assert there.foreign_keys(0).to_dicts() == here.foreign_keys(0).to_dicts()
    assert dovetail.open(INDEX).foreign_keys(0).to_dicts() == here.foreign_keys(0).to_dicts()


def test_every_object_is_fetched_once_and_the_lake_is_listed_once(lake, monkeypatch):
    upload(lake)
    monkeypatch.setattr(object_path, "_TAIL_BYTES", 100)
    fetched: list[str] = []
    listed: list[str] = []
    download, entries = Objects.download, Objects.entries
    monkeypatch.setattr(
        Objects, "download", lambda self, name, to: fetched.append(f"{self.address}/{name}") or download(self, name, to)
    )
    monkeypatch.setattr(
        Objects,
        "entries",
        lambda self, folder="", deep=True: listed.append(self.address) or entries(self, folder, deep),
    )
    ranges: list[tuple[str, int]] = []
    read = Objects.read

    def noting(self: Objects, name: str, start: int = 0, length: int | None = None) -> bytes:
        ranges.append((name, start))
        return read(self, name, start, length)

    monkeypatch.setattr(Objects, "read", noting)
    index(LAKE, INDEX)
    of_lake = sorted(name.removeprefix(f"{LAKE}/") for name in fetched if name.startswith(f"{LAKE}/"))
    small = {path.relative_to(lake).as_posix() for path in lake.rglob("*.csv")} - {"big.csv"}
    assert of_lake == sorted(small)
    starts = [start for name, start in ranges if name == "big.csv"]
    assert len(set(starts)) > 2, "several tasks have read it in place, from where each begins"
    assert len(starts) < 20
    assert listed.count(LAKE) == 2, "once for the tables, once at its top for the marker of an index"
    fetched.clear()
    index(LAKE, INDEX)
    assert not [name for name in fetched if name.startswith(LAKE)], "nothing has changed"


def test_the_cache_keeps_what_was_fetched(lake, monkeypatch):
    upload(lake)
    index(LAKE, INDEX)
    expected = contents_of(INDEX)
    monkeypatch.setattr(Objects, "download", lambda self, name, to: pytest.fail(f"fetched {name} again"))
    assert contents_of(INDEX) == expected


def test_of_two_writers_the_one_that_commits_first_wins(lake):
    index(lake, INDEX)
    with pytest.raises(WriterConflict, match="committed generation 2 meanwhile"), open_writer(INDEX) as loser:
        with open_writer(INDEX) as winner:
            winner.commit(winner.manifest.next())
        loser.commit(loser.manifest.next(segments=()))
    assert open_snapshot(INDEX).manifest.generation == 2
    assert len(open_snapshot(INDEX).segments) > 0


def test_a_reader_on_another_machine_is_not_cut_off(lake, tmp_path, monkeypatch):
    index(lake, INDEX)
    expected = contents_of(INDEX)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "other machine"))
    reader = dovetail.open(INDEX)
    dovetail.remove(INDEX, "deep/*")
    dovetail.compact(INDEX)
    assert contents_of(reader) == expected
    assert {"manifest-1.json", "manifest-2.json", "manifest-3.json"} <= names()


def test_cleaning_removes_what_is_older_than_is_kept(lake, monkeypatch):
    index(lake, INDEX)
    before = {name for name in names() if name.startswith("segments/")}
    dovetail.remove(INDEX, "deep/*")
    dovetail.compact(INDEX)
    assert dovetail.clean(INDEX).generations == 0, "a day is not over"
    done = command("clean", INDEX, "--keep", "0", "--json")
    assert done.json["generations"] == 2
    assert done.json["bytes"] > 0
    assert before - names(), "the segment that had removed tables"
    assert [name for name in names() if name.startswith("manifest")] == ["manifest-3.json"]
    assert dovetail.verify(INDEX).problems == ()


def test_what_another_writer_may_be_about_to_commit_stays_for_a_day(lake, monkeypatch):
    index(lake, INDEX)
    segment = "0123456789abcdef"
    Objects(INDEX).put(f"segments/{segment}/tokens.dvt", b"of a run that was killed, or is at work")
    others = {"staging/other/job-1/0.json", "questions/other/sets.npz"}
    for name in others:
        Objects(INDEX).put(name, b"{}")
    dovetail.clean(INDEX, keep_hours=0)
    assert {f"segments/{segment}/tokens.dvt", *others} <= names()
    monkeypatch.setattr(directory, "_UNFINISHED", -time.time())
    assert dovetail.clean(INDEX).segments == 1
    assert not any(segment in name or name in others for name in names())


def test_damage_is_found_when_a_file_is_fetched_and_by_verify(lake, tmp_path, monkeypatch):
    index(lake, INDEX)
    name = next(name for name in sorted(names()) if name.endswith("catalog.dvt"))
    data = bytearray(Objects(INDEX).read(name))
    data[len(data) // 3] ^= 1
    Objects(INDEX).put(name, bytes(data))
    assert any(name.rpartition("segments/")[2] in problem for problem in dovetail.verify(INDEX).problems)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "other machine"))
    with pytest.raises(IndexDamaged, match="does not match its checksum"):
        dovetail.open(INDEX).tables()


def test_decisions_are_kept_in_the_store(lake):
    index(lake, INDEX)
    opened = dovetail.open(INDEX)
    opened.decide("deep/t1.csv", "deep/t2.csv", "id", "never")
    opened.decide("deep/t1.csv", "deep/t3.csv", "id", "joins")
    assert {decision.verdict for decision in dovetail.open(INDEX).decisions()} == {"never", "joins"}
    opened.forget("deep/t1.csv", "deep/t2.csv", "id")
    assert [decision.verdict for decision in dovetail.open(INDEX).decisions()] == ["joins"]


def test_a_changed_object_is_read_again(lake):
    upload(lake)
    index(LAKE, INDEX)
    Objects(LAKE).put("deep/t1.csv", b"id,name\n1,Basel\n")
    with pytest.raises(InputError, match="has changed since it was indexed"):
        dovetail.open(INDEX).table("deep/t1.csv").to_arrow()
    assert index(LAKE, INDEX).changed == 1
    assert dovetail.open(INDEX).table("deep/t1.csv").to_arrow().num_rows == 1


def test_an_index_inside_the_lake_is_no_part_of_it(lake):
    upload(lake)
    index(LAKE, f"{LAKE}/idx")
    Objects(LAKE).put("idx/segments/odd.csv", b"a\n1\n")
    assert index(LAKE, f"{LAKE}/idx").added == 0
    with pytest.raises(InputError, match="is an index, not a lake"):
        index(f"{LAKE}/idx", "s3://bucket/other")
    with pytest.raises(InputError, match="holds the lake"):
        index(LAKE, "s3://bucket")


def test_what_is_no_index_is_told(lake):
    with pytest.raises(NotAnIndex, match="s3://bucket/index is not an index"):
        dovetail.open(INDEX)
    Objects(INDEX).put("mine.txt", b"mine")
    with pytest.raises(InputError, match=r"not empty \(it holds mine.txt\)"):
        index(lake, INDEX)


def test_credentials_that_do_not_suffice_are_told_in_a_sentence(lake, monkeypatch):
    index(lake, INDEX)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("secret=abc")

    monkeypatch.setattr(_objects._obstore(), "get", refuse)
    done = command("tables", INDEX)
    assert done.code == 2
    assert "permission denied" in done.err
    assert "abc" not in done.err


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(InputError, match=r"pip install 'dovetail-lake\[stores\]'"):
        dovetail.open(INDEX)


@pytest.mark.parametrize(
    ("source", "path", "pattern"),
    [
        ("s3://b/raw", "s3://b/raw", "*"),
        ("s3://b/raw/", "s3://b/raw", "*"),
        ("s3://b", "s3://b", "*"),
        ("s3://b/raw/*.csv", "s3://b/raw", "*.csv"),
        ("s3://b/*/x/t?.csv", "s3://b", "*/x/t?.csv"),
        ("gs://b/raw/t.csv.gz", "gs://b/raw", "t.csv.gz"),
    ],
)
def test_roots_of_addresses(source, path, pattern):
    root = Root.of(source)
    assert (root.path, root.pattern) == (path, pattern)
