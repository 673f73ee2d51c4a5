"""Embedders of one's own: found by name in any process, and refused in words where they are not."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import dovetail
from dovetail.embedders import embedder_of
from dovetail.embedders.registry import GROUP
from dovetail.errors import InputError, UnknownName
from support.pipeline import index, without_spark

MODULE = '''
import numpy as np


class Lengths:
    """A vector on the circle, by the length of a text."""

    name = "lengths"
    version = 3
    dimension = 2
    metric = "euclidean"

    def embed(self, texts):
        angles = np.array([len(str(text)) for text in texts], np.float64) / 40
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


made = Lengths()


class Nothing:
    name = "nothing"
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with the embedder, as if it were installed."""
    (tmp_path / "own_embedder.py").write_text(MODULE)
    described = tmp_path / "own_embedder-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: own-embedder\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[{GROUP}]\nlengths = own_embedder:Lengths\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    embedder_of.cache_clear()
    sys.modules.pop("own_embedder", None)


@pytest.mark.parametrize("name", ["lengths", "own_embedder:Lengths", "own_embedder:made"])
def test_an_embedder_of_ones_own_makes_an_index_and_answers(installed, tmp_path, name):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "towns.csv").write_text("town\nWinterthur am Berg\nOlten\nBern an der Aare\n")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx", embedder=name)
    embedder_of.cache_clear()  # as another process would
    lake = dovetail.open(tmp_path / "idx")
    assert lake.info()["settings"]["embedder"] == name
    (hit,) = lake.search(["Schaffhausen stadt"], by="semantic", min_similarity=0.9999, k=1)
    assert [pair.matched for pair in hit.mapping] == ["winterthur am berg"], "a text of the same length"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere_at_all:Lengths", "The embedder nowhere_at_all:Lengths cannot be imported: No module named"),
        ("own_embedder:Widths", "The embedder own_embedder:Widths cannot be imported"),
        ("own_embedder:Nothing", "is not an embedder: it has no version, no dimension, no metric, no embed"),
    ],
)
def test_what_is_no_embedder_is_refused(installed, tmp_path, name, said):
    with pytest.raises(InputError, match=said), without_spark():
        index(tmp_path, tmp_path / "idx", embedder=name)


def test_an_unknown_name_gets_a_suggestion(installed):
    with pytest.raises(UnknownName, match=r'There is no embedder "length"\. Did you mean "lengths"\?'):
        embedder_of("length")


def test_an_object_is_refused_with_the_name_to_give(installed, tmp_path):
    from own_embedder import Lengths

    for given in (Lengths, Lengths()):
        with pytest.raises(InputError, match=r'`embedder` is a Lengths, .*: "own_embedder:Lengths"\.'):
            dovetail.index(tmp_path, tmp_path / "idx", embedder=given)


def test_frames_that_are_not_of_spark_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"takes Spark DataFrames, and 'a' is a pandas.DataFrame"):
        dovetail.index(dataframes={"a": pd.DataFrame({"x": [1]})}, to=tmp_path / "idx")
    with pytest.raises(InputError, match="`dataframes` is a list; it must be Spark DataFrames by their names"):
        dovetail.index(dataframes=[pd.DataFrame({"x": [1]})], to=tmp_path / "idx")
