"""What a cosine means: how words relate, the curves, and what embedders without curves do."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.embedders import EMBEDDERS, embedder_of
from dovetail.embedders.calibration import (
    COSINE,
    LEAST_COSINE,
    RELATIONS,
    Matching,
    WordSets,
    calibration_of,
    load_calibration,
)
from dovetail.embedders.word_kernels import (
    ALL_WORDS,
    EQUAL,
    ONE_OF_SEVERAL,
    OTHER_WORDS,
    SOME_WORDS,
    hash_words,
    relate,
)
from dovetail.errors import DovetailError
from dovetail.indexes.pexeso.core import VectorParameters
from dovetail.normalise.hashing import as_buffers
from support.letters import Letters

SHAPES = np.arange(len(RELATIONS))


def similarity(one: str, other: str, embedder: str = "ngrams") -> float:
    space = VectorParameters.chosen(embedder).space()
    tokens = pa.array([one.lower(), other.lower()], pa.large_string())
    vectors, words = space.dense(tokens), space.words(tokens)
    squared = np.sum((vectors[:1].astype(np.float64) - vectors[1:]) ** 2, axis=1)
    found, _ = space.matching().similarities(squared, words.relations(np.array([0]), words, np.array([1])))
    return float(found[0])


def test_a_typing_error_matches_and_a_first_name_is_not_a_person():
    assert similarity("Chicgo", "Chicago") >= 0.5
    assert similarity("George Bush", "george") < 0.5
    assert similarity("New York City", "New York") >= 0.5
    assert similarity("Texas Rangers", "Texas Raiders") < 0.5
    assert similarity("Chicago", "Chicago") == 1 > similarity("Chicago", "Chicago!") > 0.9


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("chicgo", "chicago", OTHER_WORDS),
        ("texas rangers", "texas raiders", SOME_WORDS),
        ("george", "george bush", ONE_OF_SEVERAL),
        ("george bush", "george", ONE_OF_SEVERAL),
        ("new york", "new york city", ALL_WORDS),
        ("new york", "york, new", ALL_WORDS),
        ("zürich", "zurich", ALL_WORDS),
        ("oslo oslo", "oslo", ALL_WORDS),
        ("oslo", "oslo", EQUAL),
        ("9th st.", "9th street", ALL_WORDS),
        ("...", "!", OTHER_WORDS),
    ],
)
def test_words_relate(one, other, relation):
    words = VectorParameters.chosen().space().words(pa.array([one, "between", other], pa.large_string()))
    assert words.relations(np.array([0]), words, np.array([2])).tolist() == [relation]
    assert words.take(np.array([2, 0])).relations(np.array([0]), words, np.array([0])).tolist() == [relation]


@given(texts=st.lists(st.text("ab ä-9", max_size=8), min_size=1, max_size=5))
def test_the_kernels_are_their_plain_forms(texts):
    strings = pa.array(texts, pa.large_string())
    words = WordSets.of(strings, strings)
    with np.errstate(over="ignore"):
        plain = hash_words.py_func(*as_buffers(strings))
    for one, other in zip(hash_words(*as_buffers(strings)), plain, strict=True):
        assert np.array_equal(one, other)
    mine, theirs = (places.ravel() for places in np.indices((len(texts), len(texts))))
    sides = (words.starts, words.words, words.texts)
    assert words.relations(mine, words, theirs).tolist() == relate.py_func(*sides, mine, *sides, theirs).tolist()


@pytest.mark.parametrize("name", EMBEDDERS)
def test_curves_rise_and_the_least_cosine_loses_nothing(name):
    curves = load_calibration(name, EMBEDDERS[name].version)  # type: ignore[attr-defined]
    assert 0 < curves.prior < 0.5
    cosines = np.linspace(-1, 1, 401)
    for relation in SHAPES:
        values = curves.similarities(cosines, np.full(len(cosines), relation))
        assert (np.diff(values) >= 0).all()
        for least in (0.001, 0.2, 0.5, 0.9, 1.0):
            assert (cosines[values >= least] >= curves.least_cosine(least)).all()


@pytest.mark.parametrize("name", EMBEDDERS)
def test_a_stored_file_says_what_made_it(name):
    stored = json.loads(resources.files("dovetail.embedders").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    assert stored["made_by"]["program"] == "benchmarks/semantic/calibrate.py"
    assert stored["made_by"]["data"]
    assert list(stored["curves"]) == list(RELATIONS)
    with pytest.raises(DovetailError, match="fitted to version 1 of the embedder, not 99"):
        load_calibration(name, 99)


def test_without_curves_the_similarity_is_the_cosine():
    assert calibration_of(Letters()) is COSINE is not calibration_of(embedder_of("ngrams"))
    squared = np.array([0.0, 0.4, 1.0, 1.9, 3.0])
    found, near = Matching(COSINE, 0.5).similarities(squared, np.zeros(5, np.uint8))
    assert found == pytest.approx([1, 0.8, 0.5, 0, 0])
    assert near.tolist() == [True, True, True, False, False]
    assert COSINE.least_cosine(0.01) == pytest.approx(LEAST_COSINE)
