"""Copies of files of object stores: bounded, checked when they are fetched, the least recently used go first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dovetail._storage.cache import FileCache
from dovetail.errors import IndexDamaged, InputError


class Origin:
    """Hands out files of ten bytes, and counts."""

    def __init__(self, cache: FileCache) -> None:
        self.fetched: list[str] = []
        self._cache = cache

    def get(self, name: str, whole: bool = True) -> Path:
        def download(path: Path) -> None:
            self.fetched.append(name)
            path.write_bytes(b"0123456789")

        found = self._cache.file(f"s3://bucket/index/{name}", download, lambda _: whole)
        os.utime(found, ns=(len(self.fetched) * 10**9 + Origin.used,) * 2)
        Origin.used += 1
        return found

    used = 0


def test_a_file_is_fetched_once(tmp_path):
    origin = Origin(FileCache(tmp_path, 100))
    assert origin.get("a") == origin.get("a")
    assert origin.fetched == ["a"]


def test_the_least_recently_used_go_first(tmp_path):
    origin = Origin(FileCache(tmp_path, 30))
    for name in ("a", "b", "c"):
        origin.get(name)
    os.utime(origin.get("a"), ns=(10**12,) * 2)
    origin.get("d")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a", "c", "d"]


def test_what_is_larger_than_the_cache_is_there_all_the_same(tmp_path):
    origin = Origin(FileCache(tmp_path, 5))
    origin.get("a")
    assert origin.get("b").read_bytes() == b"0123456789"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["b"]


def test_a_damaged_file_is_refused_and_not_kept(tmp_path):
    origin = Origin(FileCache(tmp_path, 100))
    with pytest.raises(IndexDamaged, match="s3://bucket/index/a is damaged"):
        origin.get("a", whole=False)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_folder_and_size_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "mine"))
    assert FileCache.of_user().folder == tmp_path / "mine"
    monkeypatch.setenv("DOVETAIL_CACHE_MB", "many")
    with pytest.raises(InputError, match="'many'; it must be a number of megabytes"):
        FileCache.of_user()
