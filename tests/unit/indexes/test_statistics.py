"""Counting the lake's distinct values: exactly as long as they are few, then by the smallest hashes."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail._storage.directory import newest_manifest
from dovetail.api.lake import Lake
from dovetail.indexes import statistics
from dovetail.indexes.statistics import DistinctValues, distinct_values
from dovetail.indexes.tokens.format import TokenArrays
from support.pipeline import index, without_spark


@pytest.fixture
def few(monkeypatch):
    """Hashes in the place of segments, and of these only a few are looked at."""
    monkeypatch.setattr(statistics, "EXACT_VALUES", 1_000)
    monkeypatch.setattr(statistics, "_tokens", len)
    monkeypatch.setattr(statistics, "_live_hashes", _between)


def _between(hashes, low, high):
    return hashes[(hashes >= np.uint64(low)) & (hashes <= np.uint64(high - 1))]


def parts(number, segments):
    """So many hashes; every segment holds half of them, and each of them is in one at least."""
    random = np.random.default_rng(number)
    hashes = np.unique(random.integers(0, 1 << 64, number, np.uint64))
    owner = random.integers(0, segments, len(hashes))
    return [hashes[(owner == n) | (random.random(len(hashes)) < 0.5)] for n in range(segments)], len(hashes)


@pytest.mark.parametrize("number", [0, 1, 999, 1_000])
@pytest.mark.parametrize("segments", [1, 30])
def test_few_values_are_counted(few, number, segments):
    hashes, distinct = parts(number, segments)
    assert distinct_values(hashes) == DistinctValues(distinct, True)


@pytest.mark.parametrize("number", [1_001, 30_000, 1_000_000])
def test_many_values_are_estimated_whatever_the_segments(few, number):
    hashes, distinct = parts(number, 30)
    found = distinct_values(hashes)
    assert not found.is_exact
    assert abs(found.number / distinct - 1) < 5 / np.sqrt(1_000)
    assert distinct_values([np.unique(np.concatenate(hashes))]) == found


def test_the_manifest_states_how_many_values_the_index_holds(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / "lake").mkdir(exist_ok=True)
        (tmp_path / "lake" / f"{name}.csv").write_text("key,text\n" + "".join(f"{n},{name}{n}\n" for n in range(50)))
    with without_spark():
        report = index(tmp_path / "lake", tmp_path / "idx")
    assert (report.values, report.values_are_exact) == (150, True)
    monkeypatch.setattr(TokenArrays, "__init__", _refuse)
    info = Lake(tmp_path / "idx").info()
    assert (info["values"], info["values_are_exact"]) == (150, True)
    monkeypatch.undo()
    assert dovetail.verify(tmp_path / "idx").problems == ()
    with without_spark():
        dovetail.compact(tmp_path / "idx")
    assert "values" in newest_manifest(tmp_path / "idx").statistics, "merging changes no value"
    dovetail.remove(tmp_path / "idx", "b.csv")
    assert "values" not in newest_manifest(tmp_path / "idx").statistics
    assert Lake(tmp_path / "idx").info()["values"] == 100
    with without_spark():
        assert index(tmp_path / "lake", tmp_path / "idx").values == 150
    assert newest_manifest(tmp_path / "idx").statistics["values"] == 150


def _refuse(*_):
    raise AssertionError("no tokens are to be read")
