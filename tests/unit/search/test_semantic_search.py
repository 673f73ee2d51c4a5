"""Search by spelling, from the command and from Python: hits, mapping, joins by it, and what is refused."""

from __future__ import annotations

import csv

import pandas as pd
import pytest

import dovetail
from dovetail.embedders.ngrams import NGrams
from dovetail.errors import FormatMismatch, InputError
from dovetail.indexes.pexeso.core import space_of
from dovetail.search.semantic.hit import SemanticHit
from support.command import dovetail as command
from support.letters import Letters
from support.pipeline import index, without_spark

HOTELS = """host,location,price
Tom,"4E, 414 East 10th St.",125
Jerry,616 East 9th St.,540
Spike,230 West 8th St.,1265
Tyke,"3F, 303 East 8th St.",1000
"""
MEMBERS = {
    "name": ["Tom", "S.Bruce", "Jerr.", "Tyke", "Tom"],
    "address": [
        "414 EAST 10TH STREET, 4E", "206 EAST 7TH STREET, 17,18", "616 EAST 9TH STREET, 4W", "303 EAST 8TH STREET, 3F",
        "414 EAST 10TH STREET, 4E",
    ],
    "age": ["45", "24", "30", "20", "45"],
}  # fmt: skip


@pytest.fixture(scope="module")
def hotels(tmp_path_factory):
    """The example of the paper, with a table that has nothing to do with it."""
    folder = tmp_path_factory.mktemp("hotels")
    (folder / "lake").mkdir()
    (folder / "lake" / "hotels.csv").write_text(HOTELS, encoding="utf-8")
    (folder / "lake" / "planets.csv").write_text("planet\nMercury\nVenus\nSaturn\n", encoding="utf-8")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder


def test_the_example_of_the_paper(hotels):
    hits = dovetail.open(hotels / "idx").search(MEMBERS, on="address", by="semantic")
    assert [(hit.table, hit.columns) for hit in hits] == [("hotels.csv", ("location",))]
    hit = hits[0]
    assert isinstance(hit, SemanticHit)
    assert hit.joinability == 4 / 5  # rows
    assert hit.containment == 3 / 4  # distinct values
    assert {pair.value: pair.matched for pair in hit.mapping} == {
        "414 EAST 10TH STREET, 4E": "4e, 414 east 10th st.",
        "616 EAST 9TH STREET, 4W": "616 east 9th st.",
        "303 EAST 8TH STREET, 3F": "3f, 303 east 8th st.",
    }
    assert all(0.5 <= pair.similarity <= 1 for pair in hit.mapping)
    assert "not matched: 206 EAST" in hit.explain()


@pytest.mark.parametrize("way", ["hit.join", "lake.join(hit)", "lake.join(data, hit)"])
def test_hits_join_by_their_mapping(hotels, way):
    lake, data = dovetail.open(hotels / "idx"), pd.DataFrame(MEMBERS)
    hit = lake.search(data, on="address", by="semantic")[0]
    joined = {
        "hit.join": lambda: hit.join(how="left"),
        "lake.join(hit)": lambda: lake.join(hit, how="left").frame,
        "lake.join(data, hit)": lambda: lake.join(data, hit, how="left").frame,
    }[way]()
    assert joined["host"].fillna("").tolist() == ["Tom", "", "Jerry", "Tyke", "Tom"]
    assert len(hit.preview(2)) == 2


def test_without_a_column_the_one_with_most_texts_is_asked(hotels):
    lake = dovetail.open(hotels / "idx")
    assert lake.search(MEMBERS, by="semantic")[0].on == ("address",)
    every = lake.search(MEMBERS, on="*", by="semantic", threshold="0.2")
    assert [(hit.table, hit.on) for hit in every] == [("hotels.csv", ("name",))]  # as good as address, and before it


def test_a_typing_error_matches_and_a_first_name_does_not(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "names.csv").write_text("name\nChicago\ngeorge\nOslo\n", encoding="utf-8")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    lake = dovetail.open(tmp_path / "idx")
    (hit,) = lake.search(["Chicgo", "George Bush", "Oslo"], by="semantic")
    assert {pair.value: pair.matched for pair in hit.mapping} == {"Chicgo": "chicago", "Oslo": "oslo"}
    assert hit.min_similarity == 0.5
    joined = lake.join(["Chicgo"], "names.csv", by="semantic", min_similarity=0.5).pairs
    assert joined["similarity"][0].as_py() == hit.mapping[0].similarity


def test_codes_match_their_equals_and_the_answer_says_so(hotels):
    hits = dovetail.open(hotels / "idx").search(["Jerry", "Tom", "Tmo"], by="semantic", k=1)
    assert hits[0].columns == ("host",)
    assert {pair.value for pair in hits[0].mapping} == {"Jerry", "Tom"}
    assert hits.note == "2 of 3 values are numbers or short codes, which match only equal values."


def test_nothing_is_said_in_a_sentence(hotels):
    hits = dovetail.open(hotels / "idx").search(["completely different", "another thing"], by="semantic")
    assert not hits
    assert "No column of the lake matches 50%" in hits.sentence


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "semantic", "min_similarity": 0}, "above 0 and at most 1"),
        ({"by": "semantic", "min_similarity": "six"}, "must be a number"),
        ({"by": "semantic", "fast": True}, "do not go with"),
        ({"by": "meaning"}, "equal, parts, transform, semantic"),
        ({"min_similarity": 0.5}, "by='semantic'"),
        ({"by": "semantic", "on": "age"}, "has no texts"),
        ({"by": "semantic", "on": ["name", "address"]}, "one column"),
    ],
)
def test_what_cannot_be_asked(hotels, options, sentence):
    with pytest.raises(InputError, match=sentence):
        dovetail.open(hotels / "idx").search(MEMBERS, **options)


def test_the_command_writes_the_mapping(hotels, tmp_path):
    query, mapping = tmp_path / "members.csv", tmp_path / "mapping.csv"
    pd.DataFrame(MEMBERS).to_csv(query, index=False)
    options = ["--on", "address", "--by", "semantic", "--index", hotels / "idx"]
    answer = command("search", query, *options, "--mapping", mapping, "--json").json
    assert answer["by"] == "semantic"
    assert answer["hits"][0]["joinability"] == 0.8
    with mapping.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["table", "column", "value", "matched", "similarity"]
    assert [line["value"] for line in lines] == [pair["value"] for pair in answer["hits"][0]["mapping"]]
    assert command("search", query, *options, "--threshold", "0.9").code == 1
    assert "--by semantic --min-similarity 0.5 -o joined.parquet" in command("search", query, *options).err


def test_the_embedder_is_frozen_and_another_version_refused(hotels, monkeypatch):
    with pytest.raises(InputError, match="with the embedder ngrams"), without_spark():
        index(hotels / "lake", hotels / "idx", embedder="letters")
    space_of.cache_clear()
    monkeypatch.setattr(NGrams, "version", 99)
    with pytest.raises(FormatMismatch, match="version 1 of the embedder ngrams"):
        dovetail.open(hotels / "idx").search(MEMBERS, by="semantic")
    space_of.cache_clear()


@pytest.fixture(autouse=True)
def letters(monkeypatch):
    from dovetail.embedders import EMBEDDERS

    monkeypatch.setitem(EMBEDDERS, "letters", Letters)


def test_an_index_of_dense_vectors_is_whole_and_compacts(hotels, tmp_path):
    with without_spark():
        index(hotels / "lake", tmp_path / "idx", embedder="letters")
        dovetail.remove(tmp_path / "idx", "planets.csv")
        before = dovetail.open(tmp_path / "idx").search(MEMBERS, on="address", by="semantic", k=5)
        dovetail.compact(tmp_path / "idx")
    assert dovetail.verify(tmp_path / "idx").problems == ()
    after = dovetail.open(tmp_path / "idx").search(MEMBERS, on="address", by="semantic", k=5)
    assert before.to_dicts() == after.to_dicts() != []


def test_abbreviations_of_a_users_own_are_frozen_with_the_index(hotels, tmp_path):
    (tmp_path / "mine.tsv").write_text("vns\tvenus\n", encoding="utf-8")
    with without_spark():
        index(hotels / "lake", tmp_path / "idx", abbreviations=tmp_path / "mine.tsv")
    hits = dovetail.open(tmp_path / "idx").search(["the VNS", "saturn"], by="semantic", min_similarity=0.4, k=1)
    assert hits[0].table == "planets.csv"
    assert {pair.matched for pair in hits[0].mapping} == {"venus", "saturn"}
