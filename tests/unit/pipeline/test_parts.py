"""Parts that an index does without: not on disk, remembered, asked for with one sentence, and added later."""

from __future__ import annotations

import pytest

import dovetail
from dovetail._storage.directory import newest_manifest, open_snapshot
from dovetail.errors import InputError
from dovetail.indexes.frozen import OPTIONAL, left_out
from dovetail.indexes.verify import verify_index
from support.pipeline import index, without_spark

CITIES = "city,country\nZurich,Switzerland\nGeneva,Switzerland\nParis,France\nLyon,France\n"
TOWNS = "town,state,people\nZürich,Switzerland,447082\nGeneva,Switzerland,203856\nParis,France,2102650\n"
NEEDS = {
    "lists": {"on": "city", "by": "parts"},
    "mate": {"on": ["city", "country"]},
    "pexeso": {"on": "city", "by": "semantic"},
    "pieces": {"on": "city", "by": "transform"},
}


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    (folder / "cities.csv").write_text(CITIES)
    (folder / "towns.csv").write_text(TOWNS)
    return folder


@pytest.fixture(autouse=True)
def spark_stands_by():
    with without_spark():
        yield


def hits(to, **options):
    return [(hit.table, hit.columns, hit.overlap) for hit in dovetail.open(to).search("cities.csv", **options)]


def parts(to) -> set[str]:
    return {name for segment in open_snapshot(to).segments for name in segment.parts}


def test_every_optional_part_has_a_question_here():
    assert set(NEEDS) == set(OPTIONAL)


@pytest.mark.parametrize("part", NEEDS)
def test_a_part_is_left_out_and_added_later(lake, tmp_path, part):
    index(lake, tmp_path / "all")
    index(lake, to := tmp_path / "idx", without=(part,))
    assert parts(to) == parts(tmp_path / "all") - {part}
    assert not verify_index(to).problems
    assert hits(to, on="city") == hits(tmp_path / "all", on="city") != []
    with pytest.raises(InputError, match=f"without {part}; `dovetail compact .*idx --with {part}` adds it"):
        hits(to, **NEEDS[part])
    dovetail.compact(to, with_parts=[part])
    assert not verify_index(to).problems
    assert parts(to) == parts(tmp_path / "all")
    assert hits(to, **NEEDS[part]) == hits(tmp_path / "all", **NEEDS[part])


def test_later_runs_remember_it(lake, tmp_path):
    index(lake, to := tmp_path / "idx", without=("pexeso", "mate"))
    (more := tmp_path / "more").mkdir()
    (more / "lakes.csv").write_text("lake,country\nLéman,Switzerland\n")
    index(more, to, add=True)
    (lake / "rivers.csv").write_text("river,country\nRhône,France\n")
    index(lake, to)
    index(lake, to, without=("mate", "pexeso"))
    assert left_out(newest_manifest(to).frozen) == ("mate", "pexeso")
    assert not parts(to) & {"mate", "pexeso"}
    dovetail.remove(to, "rivers.csv")
    dovetail.compact(to)
    assert not parts(to) & {"mate", "pexeso"}


def test_parts_are_dropped_by_compact(lake, tmp_path):
    index(lake, to := tmp_path / "idx")
    before = dovetail.compact(to, without=["pieces"])
    assert before.bytes_after < before.bytes_before
    assert "pieces" not in parts(to)
    assert not verify_index(to).problems


def test_what_cannot_be_left_out_or_changed_by_index_is_refused(lake, tmp_path):
    with pytest.raises(InputError, match="tokens is not a part that can be left out; those are lists, mate, "):
        index(lake, tmp_path / "idx", without=("tokens",))
    index(lake, to := tmp_path / "idx")
    with pytest.raises(InputError, match="was made with all parts; `dovetail compact"):
        index(lake, to, without=("mate",))
    with pytest.raises(InputError, match="rows is not a part"):
        dovetail.compact(to, with_parts=["rows"])
