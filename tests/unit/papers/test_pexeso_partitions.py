"""Partitions of columns: alike columns share one, files are made once, and one at a time is open."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from dovetail.indexes.pexeso.block_and_verify import ColumnGrid
from dovetail.papers.pexeso import partitions as module
from dovetail.papers.pexeso.column_clusters import by_divergence, divergences
from dovetail.papers.pexeso.partitions import Partitions

COLUMNS, TEXTS = 12, 40
QUERY = {"radius": 0.05, "least": 3}


class Two:
    """Columns of texts around two directions, by turns; the last column has no text."""

    dimension, columns, address = 8, COLUMNS + 1, "two"
    texts = COLUMNS * TEXTS

    def __init__(self) -> None:
        generator = np.random.default_rng(1)
        self.column = np.repeat(np.arange(COLUMNS), TEXTS)
        vectors = generator.normal(size=(self.texts, 8)) * 0.1
        vectors[np.arange(self.texts), self.column % 2] += 1
        self.vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def vectors_of(self, places):
        return self.vectors[places]

    def columns_of(self, places):
        return np.arange(len(places) + 1), self.column[places]


@pytest.fixture
def texts(monkeypatch, tmp_path):
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    return Two()


def ask(parts, texts, matched=None):
    mine = texts.vectors[:10]  # of the first column
    none = np.zeros(texts.columns, np.int64) if matched is None else matched
    every = np.ones(texts.columns, bool)
    found = parts.joinable(mine, np.ones(len(mine), np.int64), QUERY["radius"], QUERY["least"], none, every)[0]
    return np.flatnonzero(found).tolist()


def test_alike_columns_share_a_partition(texts):
    cluster = by_divergence(texts, 2)
    assert len({*cluster[:COLUMNS:2]}) == len({*cluster[1:COLUMNS:2]}) == 1
    assert cluster[0] != cluster[1]
    assert cluster[-1] == 0


def test_divergence_is_symmetric_and_bounded():
    one, other = np.array([[0.5, 0.5, 0.0]]), np.array([[0.0, 0.5, 0.5]])
    assert divergences(one, other[0]) == pytest.approx(divergences(other, one[0]))
    assert divergences(one, one[0]) == pytest.approx([0])
    assert divergences(np.array([[1.0, 0.0]]), np.array([0.0, 1.0])) == pytest.approx([np.log(2)])


@pytest.mark.parametrize("clustering", ["divergence", "random"])
@pytest.mark.parametrize("number", [1, 2, 5, 40])
def test_a_column_finds_itself_in_any_partition(texts, clustering, number):
    parts = Partitions(texts, number, clustering)
    assert 0 in ask(parts, texts)
    assert sorted(np.unique(parts.clusters)) == np.flatnonzero(np.bincount(parts.clusters)).tolist()
    assert parts.sizes.sum() == texts.texts  # each text is in one column here


def test_columns_without_texts_may_match_already(texts):
    matched = np.zeros(texts.columns, np.int64)
    matched[-1] = 3
    assert COLUMNS in ask(Partitions(texts, 2, "divergence"), texts, matched)


def test_files_are_made_once(texts, monkeypatch):
    first = ask(Partitions(texts, 3, "divergence"), texts)

    def made(*_):
        raise AssertionError("made again")

    monkeypatch.setattr(ColumnGrid, "of", made)
    assert ask(Partitions(texts, 3, "divergence"), texts) == first
    with pytest.raises(AssertionError):
        ask(Partitions(texts, 4, "divergence"), texts)


def test_one_at_a_time_is_open(texts, monkeypatch):
    ask(Partitions(texts, 4, "random"), texts)
    opened = []
    read = module._read

    def watched(pack, dimension):
        gc.collect()
        assert not any(one() for one in opened)
        grid = read(pack, dimension)
        opened.append(weakref.ref(grid))
        return grid

    monkeypatch.setattr(module, "_read", watched)
    ask(Partitions(texts, 4, "random"), texts)
    assert len(opened) == 4
