"""Every way of a search has the same answer, from Python and from the command; others are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.embedders import EMBEDDERS
from dovetail.errors import InputError
from dovetail.indexes.pexeso import query
from dovetail.ways import WAYS
from support.command import dovetail as command
from support.letters import Letters
from support.pipeline import index, without_spark
from support.sample import SAMPLE_LAKE

AIRPORTS = SAMPLE_LAKE / "transport/airports.csv"


@pytest.fixture(scope="module")
def lake(sample_index):
    return dovetail.Lake(sample_index)


def as_rows(hits):
    return [{**row, "source": None} for row in hits.to_dicts()]


@pytest.mark.parametrize("way", [way.name for way in WAYS["overlap"]])
@pytest.mark.parametrize("options", [{}, {"on": "country"}, {"on": "country", "threshold": 0.5}])
def test_overlap(lake, way, options):
    expected = as_rows(lake.search(AIRPORTS, **options))
    assert expected
    assert as_rows(lake.search(AIRPORTS, way=way, **options)) == expected


@pytest.mark.parametrize(
    ("way", "settings"),
    [
        ("cover", {}),
        ("cover", {"super_keys": "off"}),
        ("mate", {}),
        ("mate", {"super_keys": "off"}),
        ("mate", {"start": "country"}),
        ("mate", {"start": "city"}),
    ],
)
def test_several_columns_together(lake, way, settings):
    expected = as_rows(lake.search(AIRPORTS, on=["country", "city"]))
    assert expected
    assert as_rows(lake.search(AIRPORTS, on=["country", "city"], way=way, settings=settings)) == expected


def test_the_start_from_the_command(sample_index):
    asked = ("search", AIRPORTS, "--on", "country,city", "--index", sample_index)
    same = command(*asked).out
    assert command(*asked, "--set", "way=mate", "--set", "start=city").out == same
    refused = command(*asked, "--set", "way=mate", "--set", "start=town")
    assert (refused.code, refused.err.strip()) == (2, "start is 'town'; it must be a column of the key: country, city.")


def test_a_named_way_has_one_answer(lake):
    (only,) = lake.search_iter(AIRPORTS, on="country", way="josie", settings={"batch": 3})
    assert only.exact
    assert as_rows(only) == as_rows(lake.search(AIRPORTS, on="country"))


def test_from_the_command(sample_index):
    asked = ("search", AIRPORTS, "--on", "country", "--index", sample_index)
    same = command(*asked).out
    assert command(*asked, "--set", "way=josie", "--set", "batch=3").out == same
    refused = command(*asked, "--set", "way=pexeso")
    assert (refused.code, refused.out) == (2, "")
    assert "The ways are: auto, josie, merge_list, probe_set." in refused.err


def test_partitions_on_disk_from_the_command(sample_index, tmp_path, monkeypatch):
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    asked = ("search", AIRPORTS, "--on", "city", "--by", "semantic", "--index", sample_index)
    same = command(*asked).out
    assert command(*asked, "--set", "way=pexeso", "--set", "partitions=3").out == same
    assert len(list((tmp_path / "cache").glob("*/divergence-3-0-0-*"))) == 4  # which columns, and three partitions
    refused = command(*asked, "--set", "way=pexeso", "--set", "clustering=nearest")
    assert "clustering is nearest; it must be one of divergence, random" in refused.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "through", "way": "josie"}, "`way` needs `by` to be one of equal, semantic, not 'through'"),
        ({"on": ["country", "name"], "way": "josie"}, "no way 'josie' of keys. The ways are: auto, cover, mate."),
        ({"on": "country", "way": "mate"}, "no way 'mate' of overlap. The ways are: auto, josie"),
        (
            {"on": ["country", "name"], "way": "mate", "settings": {"start": "iata"}},
            "start is 'iata'; it must be a column of the key: country, name.",
        ),
        (
            {"on": ["country", "name"], "way": "cover", "settings": {"start": "name"}},
            "The way 'cover' of keys has no setting 'start'. Its settings are: super_keys.",
        ),
        ({"on": "country", "fast": True, "way": "josie"}, "`fast` answers from sketches"),
        ({"settings": {"batch": 3}}, "The way 'auto' of overlap has no setting 'batch'"),
        ({"by": "semantic", "way": "pexeso", "settings": {"levels": 7}}, "levels is 7; it must be one of 0, 1, 2"),
    ],
)
def test_what_is_refused(lake, options, sentence):
    with pytest.raises(InputError, match=sentence):
        lake.search(AIRPORTS, **options)


def test_auto_blocks_dense_vectors_where_that_pays(tmp_path, monkeypatch):
    monkeypatch.setitem(EMBEDDERS, "letters", Letters)
    monkeypatch.setattr(query, "_VALUES_A_GRID", 30)
    monkeypatch.setattr(query, "_LEFT", 0.1)  # of so few texts, a text itself is a large share
    random = np.random.default_rng(1)
    (tmp_path / "lake").mkdir()
    names = ["".join(random.choice(list("abcdefgh"), 12)) for _ in range(60)]
    for number in range(4):
        some = "\n".join(names[number * 15 : (number + 1) * 15])
        (tmp_path / "lake" / f"t{number}.csv").write_text(f"name\n{some}\n", encoding="utf-8")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx", embedder="letters")
    lake = dovetail.open(tmp_path / "idx")
    asked = {"by": "semantic", "min_similarity": 0.999, "threshold": 0.6}
    texts = lake.segments[0].texts
    answers = []
    for _ in range(4):
        answers.append([hit.table for hit in lake.search({"name": names[15:30]}, **asked)])
        answers.append(bool(texts._grids))
    assert answers == [["t1.csv"], False, ["t1.csv"], True, ["t1.csv"], True, ["t1.csv"], True]
    assert texts._pays(texts.arrays.vectors[:5], 0.01)
    assert not texts._pays(texts.arrays.vectors[:5], 1.9)
