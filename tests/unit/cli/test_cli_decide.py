"""`dovetail decide`: keep, list and forget; and what the other commands show of it."""

from __future__ import annotations

import pytest

from dovetail.pipeline.maintain import remove_tables
from support.command import dovetail

CITY = ("people.csv", "geo/cities.csv", "--on", "city=City")


def test_keep_list_and_forget(idx):
    assert dovetail("decide", idx).out == f"Nothing was decided in {idx}.\n"
    assert dovetail("decide", idx).code == 1
    kept = dovetail("decide", idx, *CITY, "--joins", "--note", "places of birth")
    assert (kept.code, kept.out) == (0, "Kept: people.csv (city) = geo/cities.csv (City) joins (places of birth).\n")
    kept = dovetail("decide", "--index", idx, "geo/cities.csv", "geo/codes.tsv", "--on", "Country=code", "--never")
    assert kept.out == "Kept: geo/cities.csv (Country) = geo/codes.tsv (code) never joins.\n"
    head, latest, first = (line.split("\t") for line in dovetail("decide", idx).out.splitlines())
    assert head == ["decided", "verdict", "columns", "note", ""]
    assert latest[1:] == ["never", "geo/cities.csv (Country) = geo/codes.tsv (code)", "", ""]
    assert first[1:] == ["joins", "people.csv (city) = geo/cities.csv (City)", "places of birth", ""]
    forgotten = dovetail("decide", idx, "geo/codes.tsv", "geo/cities.csv", "--on", "code=Country", "--forget")
    assert forgotten.out == "Forgotten: geo/cities.csv (Country) = geo/codes.tsv (code) never joins.\n"
    assert [each["verdict"] for each in dovetail("decide", idx, "--json").json] == ["joins"]


def test_json(idx, monkeypatch):
    monkeypatch.setenv("DOVETAIL_INDEX", str(idx))
    (kept,) = dovetail("decide", *CITY, "--joins", "--json").json
    assert dovetail("decide", "--json").json == [kept]
    assert kept | {"decided": ""} == {
        "left_table": "people.csv",
        "left_columns": ["city"],
        "right_table": "geo/cities.csv",
        "right_columns": ["City"],
        "verdict": "joins",
        "note": None,
        "decided": "",
        "missing": [],
        "values": None,
    }


def test_tables_that_are_gone_are_shown_as_such(idx):
    dovetail("decide", idx, *CITY, "--joins")
    remove_tables(idx, ["people.csv"])
    assert dovetail("decide", idx).out.splitlines()[-1].endswith("\tnot in the index: people.csv")
    assert dovetail("decide", idx, *CITY, "--forget").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv", "geo/cities.csv"), "two tables and --on LEFT=RIGHT"),
        (("people.csv", "--never"), "two tables and --on LEFT=RIGHT"),
        (("--never",), "two tables and --on LEFT=RIGHT"),
        (CITY, "one of --joins, --never and --forget"),
        ((*CITY, "--joins", "--never"), "one of --joins, --never and --forget"),
        ((*CITY[:3], "town=City", "--never"), 'people.csv has no column "town"'),
        (("people.cvs", *CITY[1:], "--never"), 'The index has no table "people.cvs". Did you mean "people.csv"?'),
        ((*CITY, "--forget"), "Nothing was decided about people.csv (city) = geo/cities.csv (City)."),
    ],
)
def test_one_sentence_for_bad_input(idx, arguments, said):
    answer = dovetail("decide", idx, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_what_other_commands_show(idx):
    dovetail("decide", idx, *CITY, "--joins", "--note", "places of birth")
    assert "decided by you on 2" in dovetail("keys", idx).out
    assert "(places of birth)" in dovetail("keys", idx).out
    assert "\tdecided\n" in dovetail("inds", idx).out
    path = dovetail("path", idx, "people.csv", "geo/cities.csv").out.splitlines()
    assert path[0] == "-- 1.00  people.csv – geo/cities.csv"
    assert path[1].startswith("-- decided by you on 2")
    assert path[1].endswith(": people.csv (city) → geo/cities.csv (City)")
    assert dovetail("search", "people.csv", "--index", idx).out.splitlines()[1].endswith("\tdecided")
    assert "(places of birth): these columns join." in dovetail("join", *CITY[:2], "--index", idx).out
    assert "city = City (decided)" in dovetail("predicates", *CITY[:2], "--index", idx).out
    dovetail("decide", idx, *CITY, "--never")
    assert "geo/cities.csv (City)" not in dovetail("keys", idx).out.partition("Candidate keys")[0]
    assert dovetail("predicates", *CITY[:2], "--index", idx).code == 1
    assert "Left out: city = City, decided by you on 2" in dovetail("join", *CITY[:2], "--index", idx).out
