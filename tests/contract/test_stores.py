"""Every store keeps the same promises: a folder, and object stores in memory and behind a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dovetail import _objects
from dovetail._storage.store import LocalStore, Store, open_store
from dovetail.errors import InputError
from support.buckets import buckets_in_memory, s3_server

ADDRESS = "s3://bucket/some/index"
WRITERS = 16


@pytest.fixture(params=["folder", "memory", pytest.param("server", marks=pytest.mark.full)])
def store(request, tmp_path, monkeypatch) -> Iterator[Store]:
    if request.param == "folder":
        (tmp_path / "index").mkdir()
        yield LocalStore(tmp_path / "index")
    elif request.param == "memory":
        with buckets_in_memory(tmp_path / "cache"):
            yield open_store(ADDRESS)
    else:
        with s3_server("bucket", tmp_path / "server.log") as variables:
            for name, value in variables.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
            _objects.client.cache_clear()
            yield open_store(ADDRESS)
            _objects.client.cache_clear()


def names(store: Store, folder: str = "", deep: bool = True) -> list[str]:
    return sorted(entry.name for entry in store.entries(folder, deep))


def test_what_is_put_is_read(store):
    assert names(store) == []
    store.put("a/b/one", b"0123456789")
    store.put("a/two", b"")
    store.put("three", b"3")
    assert store.read("a/b/one") == b"0123456789"
    assert store.read("a/b/one", 2, 3) == b"234"
    assert store.read("a/b/one", 7) == b"789"
    assert store.read("a/two") == b""
    assert names(store) == ["a/b/one", "a/two", "three"]
    assert names(store, "a") == ["a/b/one", "a/two"]
    assert names(store, "a", deep=False) == ["a/two"]
    assert names(store, "absent") == []
    assert {entry.name: entry.bytes for entry in store.entries()} == {"a/b/one": 10, "a/two": 0, "three": 1}


def test_putting_again_replaces(store):
    store.put("name", b"before")
    store.put("name", b"after")
    assert store.read("name") == b"after"


def test_what_is_not_there(store):
    with pytest.raises(FileNotFoundError):
        store.read("absent")
    with pytest.raises(FileNotFoundError):
        store.local_file("absent", lambda _: True).read_bytes()
    store.delete(["absent"])


def test_deleted_names_are_gone(store):
    for name in ("a", "b/c", "d"):
        store.put(name, b"x")
    store.delete(["a", "b/c"])
    assert names(store) == ["d"]
    with pytest.raises(FileNotFoundError):
        store.read("a")


def test_of_many_writers_of_one_name_one_wins(store):
    together = threading.Barrier(WRITERS)

    def write(number: int) -> bool:
        together.wait()
        try:
            store.put_if_absent("manifest-1.json", b"%d" % number)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as threads:
        won = list(threads.map(write, range(WRITERS)))
    assert sum(won) == 1
    assert store.read("manifest-1.json") == b"%d" % won.index(True)


def test_changes_by_many_are_all_kept(store):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: store.change("all.json", lambda old: (old or b"") + b"%d" % n), range(8)))
    assert sorted(store.read("all.json")) == sorted(b"01234567")
    store.change("all.json", lambda _: None)
    assert len(store.read("all.json")) == 8


def test_a_folder_is_published_whole_or_not_at_all(store, tmp_path):
    with store.publish("segments") as folder:
        (folder / "one").mkdir(parents=True)
        (folder / "one" / "a").write_bytes(b"1")
        (folder / "one" / "b").write_bytes(b"22")
    assert names(store, "segments") == ["segments/one/a", "segments/one/b"]
    found = store.fetch(["segments/one/a", "segments/one/b"], tmp_path / "here")
    assert [path.read_bytes() for path in found] == [b"1", b"22"]


def test_a_copy_has_the_bytes_and_outlives_the_first_name(store, tmp_path):
    store.put("staging/one/a", b"1")
    store.copy("staging/one/a", "segments/two/a")
    store.delete(["staging/one/a"])
    assert names(store) == ["segments/two/a"]
    assert store.read("segments/two/a") == b"1"
    store.put("staging/one/b", b"2")
    store.put("staging/two/b", b"3")
    found = store.fetch(["staging/one/b", "staging/two/b"], tmp_path / "here")
    assert [path.read_bytes() for path in found] == [b"2", b"3"], "of the same file name"


def test_what_fails_is_not_published(tmp_path):
    """In a folder it is a leftover, which the next writer removes."""
    with buckets_in_memory(tmp_path / "cache"):
        store = open_store(ADDRESS)
        with pytest.raises(ValueError), store.publish("segments") as folder:
            (folder / "a").write_bytes(b"1")
            raise ValueError
        assert names(store) == []


def test_local_files_have_the_bytes_of_their_names(store):
    store.put("one/a", b"a")
    store.put("two/a", b"b")
    checked: list[Path] = []

    def is_whole(path: Path) -> bool:
        checked.append(path)
        return True

    for _ in range(2):
        assert store.local_file("one/a", is_whole).read_bytes() == b"a"
        assert store.local_file("two/a", is_whole).read_bytes() == b"b"
    assert len(checked) == (0 if store.is_local else 2), "checked when it is fetched, and fetched once"


def test_addresses(tmp_path):
    assert open_store(tmp_path).is_local
    assert open_store(str(tmp_path)).absolute == str(tmp_path)
    assert open_store("s3a://bucket/index/").address == "s3://bucket/index"
    assert not open_store("gs://bucket").is_local
    with pytest.raises(InputError, match="not the address of an object store"):
        _objects.Objects("ftp://host/folder")
    for secret in ("s3://key:secret@bucket/index", "gs://secret@bucket"):
        with pytest.raises(InputError, match="must not hold credentials") as refused:
            open_store(secret)
        assert "secret" not in str(refused.value)
    assert not open_store("abfss://container@account.dfs.core.windows.net/index").is_local
