"""Near-copies are one line of an answer, which can be opened, and nothing is lost by it."""

from __future__ import annotations

import shutil

import pytest

import dovetail
from support.pipeline import index, without_spark

COUNTRIES = ["Arvania", "Belgonia", "Corvia", "Drachma", "Estoria", "Fandango", "Gaspar", "Hestia"]
DAYS = ["2020-03-20", "2020-03-21", "2020-03-22", "2020-03-23"]
DAILY = [f"daily/{day}.csv" for day in DAYS]
LISTS = ["lists/en/countries.csv", "lists/it/countries.csv"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies")
    for number, path in enumerate(DAILY):
        rows = [f"{name},{number * 100 + place}" for place, name in enumerate(COUNTRIES[: len(COUNTRIES) - number])]
        _write(folder / "lake" / path, ["country,cases", *rows])
    for path, ending in zip(LISTS, ("", "o"), strict=True):
        _write(folder / "lake" / path, ["code,name", *(f"{name[:2]},{name}{ending}" for name in COUNTRIES)])
    _write(folder / "lake/rivers.csv", ["river,country", *(f"River {name[0]},{name}" for name in COUNTRIES[:6])])
    _write(folder / "mine.csv", ["country,visits", *(f"{name},{place}.5" for place, name in enumerate(COUNTRIES))])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder


@pytest.fixture
def lake(made):
    return dovetail.Lake(made / "idx")


def _write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def all_tables(hits):
    return sorted(table for hit in hits for table in (hit.table, *hit.copies))


@pytest.mark.parametrize(
    "options", [{}, {"threshold": 0.1}, {"on": "country"}, {"on": "country", "threshold": 0.1}, {"by": "semantic"}]
)
def test_the_days_of_a_report_are_one_line(made, lake, options):
    hits = lake.search(made / "mine.csv", min_overlap=1, copies=False, **options)
    (daily,) = (hit for hit in hits if hit.table in DAILY)
    assert (daily.table, daily.copies) == (DAILY[0], tuple(DAILY[1:]))
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    opened = lake.search(made / "mine.csv", copies=True, **options)
    assert not any(hit.copies for hit in opened)
    assert all_tables(opened) == all_tables(hits)


def test_near_copies_leave_room_for_other_tables(made, lake):
    assert len(lake.search(made / "mine.csv", on="country", k=3, copies=True)) == 3
    hits = lake.search(made / "mine.csv", on="country", k=3)
    assert {hit.table for hit in hits} == {DAILY[0], LISTS[0], "rivers.csv"}
    assert hits[0].overlap == len(COUNTRIES)


def test_a_key_of_several_columns_folds_too(made, lake):
    query = {"who": COUNTRIES[:3], "cases": [0, 1, 2]}
    (hit,) = lake.search(query, on=["who", "cases"])
    assert (hit.table, hit.copies) == (DAILY[0], ())
    again = {"who": COUNTRIES[:3] + COUNTRIES[:3], "cases": [0, 1, 2, 100, 101, 102]}
    (hit,) = lake.search(again, on=["who", "cases"])
    assert (hit.table, hit.copies) == (DAILY[0], (DAILY[1],))


def test_the_line_and_the_page_say_how_many_there_are(made, lake):
    hits = lake.search(made / "mine.csv", on="country")
    assert "and 3 like it" in repr(hits)
    assert f"and 3 like it: {', '.join(DAILY[1:])}" in next(hit for hit in hits if hit.copies).explain()
    assert f"<li>{DAILY[3]}</li>" in hits._repr_html_()
    assert "like it" not in repr(lake.search(made / "mine.csv", on="country", copies=True))


def test_the_line_has_the_names_in_json(made, lake):
    (daily,) = (hit for hit in lake.search(made / "mine.csv").to_dicts() if hit["table"] in DAILY)
    assert daily["copies"] == DAILY[1:]


def test_what_a_person_rejected_is_no_copy(made, tmp_path):
    shutil.copytree(made / "idx", tmp_path / "idx")
    lake = dovetail.Lake(tmp_path / "idx")
    lake.decide("rivers.csv", DAILY[2], "country", "never")
    for options in ({}, {"on": "country"}):
        (daily,) = (hit for hit in lake.search("rivers.csv", **options) if hit.table in DAILY)
        assert {daily.table, *daily.copies} == {DAILY[0], DAILY[1], DAILY[3]}


def test_what_a_person_accepted_keeps_its_line(made, tmp_path):
    shutil.copytree(made / "idx", tmp_path / "idx")
    lake = dovetail.Lake(tmp_path / "idx")
    lake.decide("rivers.csv", DAILY[2], "country", "joins")
    for options in ({}, {"on": "country"}):
        hits = lake.search("rivers.csv", **options)
        assert hits[0].table == DAILY[2]
        assert hits[0].decided
        assert [table for table in all_tables(hits) if table in DAILY] == DAILY
