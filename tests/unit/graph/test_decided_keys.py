"""Foreign keys, dependencies, paths and the graph follow what a person decided, also where answers are kept."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet
import pytest

from dovetail.api.lake import Lake
from dovetail.graph import lake_keys
from support.decided_lake import copied, make_index


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    index = make_index(tmp_path_factory.mktemp("decided"))
    Lake(index).foreign_keys()  # kept from now on
    return index


@pytest.fixture
def lake(made, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the kept keys were not used")

    monkeypatch.setattr(lake_keys, "find_keys", refuse)
    return copied(made, tmp_path)


def keys(lake, *tables):
    return {
        (row["dependent_table"], *row["dependent_columns"], row["referenced_table"], *row["referenced_columns"]): row
        for row in lake.foreign_keys(0).to_dicts()
        if {row["dependent_table"], row["referenced_table"]} == set(tables)
    }


ORIGIN = ("flights.csv", "origin", "airports.csv", "code")
DEST = ("flights.csv", "dest", "airports.csv", "code")
SEASON = ("games.csv", "year", "team", "teams.csv", "year", "team")


def test_what_never_joins_is_no_key(lake):
    assert {ORIGIN, DEST} <= set(keys(lake, "flights.csv", "airports.csv"))
    lake.decide("airports.csv", "flights.csv", "code=origin", "never")
    assert ORIGIN not in keys(lake, "flights.csv", "airports.csv")
    assert DEST in keys(lake, "flights.csv", "airports.csv")
    lake.forget("flights.csv", "airports.csv", "origin=code")
    assert ORIGIN in keys(lake, "flights.csv", "airports.csv")


def test_a_pair_that_never_joins_is_no_part_of_a_key_of_several_columns(lake):
    assert SEASON in keys(lake, "games.csv", "teams.csv")
    lake.decide("games.csv", "teams.csv", "team", "never")
    assert SEASON not in keys(lake, "games.csv", "teams.csv")
    lake.decide("games.csv", "teams.csv", "team,year", "joins")
    row = keys(lake, "games.csv", "teams.csv")[SEASON]
    assert (row["score"], bool(row["decided"])) == (1.0, True)


def test_what_joins_comes_first_with_the_decision_as_reason(lake):
    made = lake.decide("flights.csv", "airports.csv", "dest=code", "joins", "IATA codes")
    row = lake.foreign_keys().to_dicts()[0]
    assert (row["dependent_columns"], row["score"], row["decided"]) == (["dest"], 1.0, made.decided)
    assert row["reasons"] == [
        f"decided by you on {made.decided[:10]} (IATA codes)",
        "all 12 values occur among its 12",
    ]
    assert [other["decided"] for other in lake.foreign_keys(0).to_dicts()[1:]].count(None) == len(
        lake.foreign_keys(0)
    ) - 1


def test_what_joins_is_a_key_even_if_nothing_else_says_so(lake):
    lake.decide("staff.csv", "letters.csv", "name=addressee", "joins")
    lake.decide("airports.csv", "flights.csv", "code=carrier,city=flight", "joins")
    found = lake.foreign_keys()
    assert [(row["containment"], row["score"]) for row in found.to_dicts()[:1]] == [(0.0, 1.0)]
    assert ("airports.csv", "code", "city", "flights.csv", "carrier", "flight") in keys(
        lake, "flights.csv", "airports.csv"
    )
    lake.decide("carriers.csv", "flights.csv", "carrier=flight", "joins")
    lake.decide("airports.csv", "flights.csv", "code=carrier", "joins")
    assert ("flights.csv", "carrier", "airports.csv", "code") in keys(lake, "flights.csv", "airports.csv"), (
        "the column that identifies its rows is the one that is referred to"
    )


def test_candidate_keys_count_the_keys_that_are_left(lake):
    def airport():
        return next(row for row in lake.keys().to_dicts() if row["columns"] == ["code"])

    before = airport()
    for column, number in (("dest", "1 likely foreign key refers"), ("origin", "2 likely foreign keys refer")):
        lake.decide("flights.csv", "airports.csv", f"{column}=code", "joins")
        assert f"{number} to it" in airport()["reasons"]
    assert airport()["score"] == pytest.approx(before["score"] + 0.25 * 2 / 3, abs=1e-3)
    for column in ("dest", "origin"):
        lake.decide("flights.csv", "airports.csv", f"{column}=code", "never")
    assert airport() == before, "nothing but these was likely"


def test_files_have_the_decision(lake, tmp_path):
    made = lake.decide("flights.csv", "airports.csv", "dest=code", "joins")
    for name in ("keys.csv", "keys.json", "keys.parquet"):
        lake.foreign_keys().write(tmp_path / name)
    first = next(csv.DictReader((tmp_path / "keys.csv").open()))
    assert first["decided"] == json.loads((tmp_path / "keys.json").read_text())[0]["decided"] == made.decided
    assert pyarrow.parquet.read_table(tmp_path / "keys.parquet")["decided"][0].as_py() == made.decided
    lake.graph().write(tmp_path / "joins.graphml")
    assert f'<data key="decided">{made.decided}</data>' in (tmp_path / "joins.graphml").read_text()
    for name in ("joins.json", "joins.parquet"):
        lake.graph().write(tmp_path / name)
    edges = json.loads((tmp_path / "joins.json").read_text())["edges"]
    assert edges == pyarrow.parquet.read_table(tmp_path / "joins.parquet").to_pylist()
    assert [edge["decided"] for edge in edges if edge["dependent_columns"] == ["dest"]] == [made.decided]


def test_paths_follow_decisions(lake):
    assert not lake.graph().paths("carriers.csv", "airports.csv")
    lake.decide("flights.csv", "airports.csv", "origin=code", "joins")
    (path, *_) = lake.graph().paths("carriers.csv", "airports.csv")
    assert path.tables == ["carriers.csv", "flights.csv", "airports.csv"]
    lake.decide("flights.csv", "carriers.csv", "carrier", "never")
    assert not lake.graph().paths("carriers.csv", "airports.csv")
    made = lake.decide("carriers.csv", "airports.csv", "airline=city", "joins")
    (path,) = lake.graph().paths("carriers.csv", "airports.csv")
    assert (path.score, path.to_dict()["joins"][0]["decided"]) == (1.0, made.decided)
    assert path.steps[0].edge.columns == ("airline",)


@pytest.mark.parametrize("partial", [1, 0.5])
def test_dependencies_follow_decisions(lake, partial):
    def included():
        return {
            (row["dependent_table"], *row["dependent_columns"], row["referenced_table"], *row["referenced_columns"]): (
                row["score"],
                row["decided"],
            )
            for row in lake.inds(partial=partial).to_dicts()
        }

    before = included()
    assert before[ORIGIN][0] < 1
    assert before[ORIGIN][1] is None
    lake.decide("flights.csv", "airports.csv", "dest=code", "never")
    made = lake.decide("airports.csv", "flights.csv", "code=origin", "joins")
    lake.decide("staff.csv", "letters.csv", "name=addressee", "joins")
    after = included()
    assert after.pop(ORIGIN) == (1.0, made.decided)
    assert set(before) - set(after) == {ORIGIN, DEST}, "what is not included is not made so by a decision"
    assert all(before[key] == value for key, value in after.items())
    assert len(lake.inds(partial=partial)) == len(after) + 1


def test_dependencies_of_several_columns_follow_decisions(lake):
    def seasons():
        rows = lake.inds(nary=2, integers=True).to_dicts()
        return [(row["score"], row["decided"]) for row in rows if row["referenced_table"] == "teams.csv"]

    assert [decided for _, decided in seasons()] == [None]
    made = lake.decide("games.csv", "teams.csv", "team,year", "joins")
    assert seasons() == [(1.0, made.decided)]
    lake.decide("games.csv", "teams.csv", "team,year", "never")
    assert not seasons()
