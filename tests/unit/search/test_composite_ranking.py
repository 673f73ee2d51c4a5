"""Without a column named, tables that join on several columns together rise, with the same evidence as single ones."""

from __future__ import annotations

import shutil

import pytest

import dovetail
from support.pipeline import index, without_spark

TEAMS = [f"T{letter}" for letter in "ABCDEFGH"]
YEARS = range(1990, 2010)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composite")
    (folder / "lake").mkdir()
    seasons = [
        f"{team},{year},{place * 31 + year},{year * 7 % 13}" for place, team in enumerate(TEAMS) for year in YEARS
    ]
    _write(folder / "lake/seasons.csv", ["team,year,wins,losses", *seasons])
    players = [f"p{n},{TEAMS[n // 20 % 8]},{1990 + n % 20},{n}.5" for n in range(400)]
    _write(folder / "lake/players.csv", ["player,team,year,average", *players])
    _write(folder / "lake/names.csv", ["team,name", *(f"{team},Team {team}" for team in TEAMS)])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return dovetail.Lake(folder / "idx")


def _write(path, lines):
    path.write_text("\n".join(lines) + "\n")


def test_two_columns_that_identify_the_rows_there_join_together(lake):
    hits = {hit.table: hit for hit in lake.search("players.csv")}
    seasons = hits["seasons.csv"]
    assert set(seasons.pairs) == {("team", "team"), ("year", "year")}
    assert seasons.cardinality == "N:1"
    assert seasons.joined_rows == seasons.matched_rows == 400
    assert (seasons.probability, bool(seasons.reasons or seasons.objections)) == (seasons.score, True)
    assert len(seasons.join()) == 400


def test_it_is_the_same_hit_as_if_the_columns_were_named(lake):
    (found,) = (hit for hit in lake.search("players.csv") if hit.table == "seasons.csv")
    (named,) = (hit for hit in lake.search("players.csv", on=found.on) if hit.table == "seasons.csv")
    for field in ("columns", "overlap", "containment", "jaccard", "query_size", "column_size", "joined_rows", "brings"):
        assert getattr(found, field) == getattr(named, field)


def test_tables_that_join_on_several_columns_rise(lake):
    hits = lake.search("players.csv")
    single = lake.search("players.csv", tables="seasons.csv", on="team")[0]
    assert single.rows_per_match > 1
    assert hits[0].table == "seasons.csv"


def test_one_column_that_is_a_key_stays_alone(lake):
    (names,) = (hit for hit in lake.search("players.csv") if hit.table == "names.csv")
    assert names.on == ("team",)
    assert names.columns == ("team",)


def test_limits_speak_of_single_columns(lake):
    (seasons,) = (hit for hit in lake.search("players.csv", min_overlap=2) if hit.table == "seasons.csv")
    assert len(seasons.on) == 1


def test_columns_that_a_person_rejected_together_do_not_join_together(lake, tmp_path):
    shutil.copytree(lake.info()["path"], tmp_path / "idx")
    decided = dovetail.Lake(tmp_path / "idx")
    decided.decide("players.csv", "seasons.csv", "team,year", "never")
    (seasons,) = (hit for hit in decided.search("players.csv") if hit.table == "seasons.csv")
    assert len(seasons.on) == 1


def test_my_own_key_may_be_the_composite_one(lake):
    (players,) = (hit for hit in lake.search("seasons.csv") if hit.table == "players.csv")
    assert set(players.on) == {"team", "year"}
    assert players.cardinality in ("1:N", "1:1")
