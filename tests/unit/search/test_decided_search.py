"""Search follows what a person decided about the table that is searched with."""

from __future__ import annotations

import shutil

import pytest

from support.decided_lake import FILES, copied, make_index


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("decided"))


@pytest.fixture
def lake(made, tmp_path):
    return copied(made, tmp_path)


def found(hits):
    return {(*hit.on, hit.table, *hit.columns) for hit in hits}


def test_another_pair_of_the_same_table_takes_the_place_of_a_rejected_one(lake):
    (before,) = (hit for hit in lake.search("flights.csv") if hit.table == "airports.csv")
    (mine,) = before.on
    other = {"origin": "dest", "dest": "origin"}[mine]
    lake.decide("flights.csv", "airports.csv", f"{mine}=code", "never")
    (after,) = (hit for hit in lake.search("flights.csv", min_overlap=2) if hit.table == "airports.csv")
    assert (after.on, after.decided) == ((other,), None)
    lake.decide("flights.csv", "airports.csv", f"{other}=code", "never")
    assert "airports.csv" not in {hit.table for hit in lake.search("flights.csv", min_overlap=2)}


def test_a_rejected_column_is_replaced_by_the_next_one(lake):
    (best,) = lake.search("flights.csv", on="origin", k=1)
    assert best.columns == ("code",)
    lake.decide("airports.csv", "flights.csv", "code=origin", "never")
    assert not lake.search("flights.csv", on="origin", k=1)
    assert not lake.search("flights.csv", on="origin", threshold=0.5)
    assert not lake.search("flights.csv", on="origin", fast=True)
    (kept, *_) = lake.search("flights.csv", on="origin", k=1, include_self=True)
    assert kept.table == "flights.csv"
    hits = lake.search("flights.csv", on="origin")
    assert "What you rejected is left out (pairs of columns: 1)." in hits.sentence
    assert "airports.csv" not in hits.sentence


def test_what_joins_comes_first_with_probability_1(lake):
    made = lake.decide("flights.csv", "airports.csv", "dest=code", "joins", "IATA codes")
    hits = lake.search("flights.csv")
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.table for hit in hits].count("airports.csv") == 1
    hit = hits[0]
    assert (hit.table, hit.on, hit.columns, hit.score, hit.decided) == (
        "airports.csv", ("dest",), ("code",), 1.0, made.decided,
    )  # fmt: skip
    assert hit.reasons == (f"decided by you on {made.decided[:10]} (IATA codes)",)
    assert f"{hit.reasons[0]}: these columns join." in hit.explain()
    assert hit.to_dict()["decided"] == made.decided
    assert hit.cells()[-1] == "decided"
    assert hit.join().num_rows == 60
    assert {other.decided for other in hits[1:]} <= {None}


def test_what_joins_is_found_without_a_common_value_but_only_where_it_was_asked_for(lake):
    assert "staff.csv" not in {hit.table for hit in lake.search("letters.csv")}
    lake.decide("staff.csv", "letters.csv", "name=addressee", "joins")
    hit = lake.search("letters.csv")[0]
    assert (hit.table, hit.score) == ("staff.csv", 1.0)
    assert lake.search("letters.csv", on="addressee", threshold=1)[0].table == "staff.csv"
    assert lake.search("letters.csv", on="addressee", k=1)[0].decided
    assert "staff.csv" not in {hit.table for hit in lake.search("letters.csv", on="pages")}
    assert "staff.csv" not in {hit.table for hit in lake.search("letters.csv", tables="e*")}


def test_a_file_of_the_lake_is_its_table_and_a_copy_is_not(lake, made, tmp_path):
    lake.decide("flights.csv", "airports.csv", "dest=code", "joins")
    file = made.parent / "lake" / "flights.csv"
    assert lake.search(file)[0].decided
    shutil.copy(file, tmp_path / "flights.csv")
    assert not any(hit.decided for hit in lake.search(tmp_path / "flights.csv"))
    assert not any(hit.decided for hit in lake.search({"dest": ["ZRH", "BER"]}))


def test_several_columns_together(lake):
    (hit,) = lake.search("games.csv", on="year,team")
    assert (hit.table, hit.columns) == ("teams.csv", ("year", "team"))
    assert [other.rank for other in lake.search("games.csv", on="year,team", include_self=True)] == [1, 2]
    lake.decide("games.csv", "teams.csv", "year", "never")
    assert not lake.search("games.csv", on="year,team")
    assert [other.rank for other in lake.search("games.csv", on="year,team", include_self=True)] == [1]
    made = lake.decide("games.csv", "teams.csv", "team,year", "joins")
    (hit,) = lake.search("games.csv", on="year,team")
    assert (hit.decided, hit.score) == (made.decided, hit.overlap)
    assert set(hit.pairs) == {("year", "year"), ("team", "team")}
    hit = lake.search("games.csv")[0]
    assert (set(hit.on), hit.score, hit.decided) == ({"year", "team"}, 1.0, made.decided)
    assert not any(hit.decided for hit in lake.search("games.csv", on="team"))


def test_after_a_transformation(lake):
    (before,) = lake.search("staff.csv", on="name", by="transform", tables="emails.csv")
    assert before.columns == ("email",)
    made = lake.decide("staff.csv", "emails.csv", "name=email", "joins")
    (hit,) = lake.search("staff.csv", on="name", by="transform", tables="emails.csv")
    assert (hit.decided, hit.rank) == (made.decided, 1)
    assert "decided by you" in hit.explain()
    lake.decide("staff.csv", "emails.csv", "name=email", "never")
    assert not lake.search("staff.csv", on="name", by="transform", tables="emails.csv")


def test_by_meaning(lake):
    asked = {"on": "name", "by": "semantic", "min_similarity": 0.9, "k": 1, "tables": "letters.csv"}
    (before,) = lake.search("staff.csv", **asked)
    assert before.table == "letters.csv"
    made = lake.decide("letters.csv", "staff.csv", "addressee=name", "joins")
    (hit,) = lake.search("staff.csv", **asked)
    assert hit.decided == made.decided
    assert "decided by you" in hit.explain()
    lake.decide("letters.csv", "staff.csv", "addressee=name", "never")
    assert not lake.search("staff.csv", **asked)
    assert not lake.search("staff.csv", **asked).nearest


def test_columns_that_are_gone_are_passed_over(lake, made):
    lake.decide("flights.csv", "airports.csv", "dest=code", "joins")
    lake.decide("flights.csv", "carriers.csv", "carrier", "never")
    file = made.parent / "lake" / "flights.csv"
    file.write_text(FILES["flights.csv"].replace("dest", "to"))
    try:
        assert not any(hit.decided for hit in lake.search(file))
    finally:
        file.write_text(FILES["flights.csv"])
