"""Joins of two tables of the lake follow what a person decided, unless the request names the columns."""

from __future__ import annotations

import pytest

import dovetail
from support.decided_lake import copied, make_index


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("decided"))


@pytest.fixture
def lake(made, tmp_path):
    return copied(made, tmp_path)


def test_what_never_joins_is_not_joined_unless_it_is_named(lake):
    assert lake.join("flights.csv", "carriers.csv").on == (("carrier", "carrier"),)
    made = lake.decide("carriers.csv", "flights.csv", "carrier", "never", "old codes")
    joined = lake.join("flights.csv", "carriers.csv")
    assert (joined.rows, joined.decided) == (0, None)
    said = f"carrier = carrier, decided by you on {made.decided[:10]} (old codes)."
    assert joined.why.endswith(said)
    assert joined.sentence.startswith("Nothing joins. ")
    assert lake.join("flights.csv", "carriers.csv", by="equal").rows == 0
    assert lake.join("flights.csv", "carriers.csv", prefer="key").rows == 0
    assert lake.join("flights.csv", "carriers.csv", on="carrier").rows == 60


def test_what_joins_is_joined(lake):
    for column, other in (("dest", "origin"), ("origin", "dest")):
        lake.decide("flights.csv", "airports.csv", f"{other}=code", "never")
        made = lake.decide("flights.csv", "airports.csv", f"{column}=code", "joins", "IATA codes")
        joined = lake.join("flights.csv", "airports.csv")
        assert joined.on == ((column, "code"),)
        assert (joined.probability, joined.decided, joined.report["decided"]) == (1.0, made.decided, made.decided)
        assert joined.why == f"Decided by you on {made.decided[:10]} (IATA codes): these columns join."
        assert lake.join("airports.csv", "flights.csv").on == (("code", column),)


def test_of_two_pairs_that_join_the_likelier_is_taken(lake):
    lake.decide("flights.csv", "carriers.csv", "carrier", "joins")
    lake.decide("flights.csv", "carriers.csv", "flight=airline", "joins")
    assert lake.join("flights.csv", "carriers.csv").on == (("carrier", "carrier"),)


def test_methods_compete_on_what_joins(lake):
    lake.decide("staff.csv", "emails.csv", "name=email", "joins")
    joined = lake.join("staff.csv", "emails.csv")
    assert (joined.by, joined.rows, joined.decided is not None) == ("transform", 10, True)
    assert joined.programs
    lake.decide("staff.csv", "letters.csv", "name=addressee", "joins")
    joined = lake.join("staff.csv", "letters.csv")
    assert (joined.by, joined.probability) in (("similar", 1.0), ("transform", 1.0))
    assert joined.rows >= 9


@pytest.mark.parametrize("by", ["transform", "similar", "semantic"])
def test_a_method_that_is_named_takes_the_decided_columns(lake, by):
    lake.decide("staff.csv", "letters.csv", "name=addressee", "joins")
    lake.decide("staff.csv", "letters.csv", "name=addressee,room=pages", "never")
    joined = lake.join("staff.csv", "letters.csv", by=by)
    assert joined.by == by
    assert joined.on in ((("name", "addressee"),), ())
    lake.decide("staff.csv", "letters.csv", "name=addressee", "never")
    joined = lake.join("staff.csv", "letters.csv", by=by)
    assert joined.rows == 0 or joined.on == (("room", "pages"),)


def test_nothing_joins_though_it_was_decided(lake):
    made = lake.decide("flights.csv", "teams.csv", "flight=year", "joins")
    joined = lake.join("flights.csv", "teams.csv")
    assert (joined.rows, joined.probability, joined.decided) == (0, None, None)
    assert joined.sentence == (
        "Nothing joins: no row matches on flight = year (equal values). "
        f"These columns join, as decided by you on {made.decided[:10]}, but share no value."
    )


def test_several_columns_that_join_together(lake):
    made = lake.decide("games.csv", "teams.csv", "team,year", "joins")
    joined = lake.join("games.csv", "teams.csv")
    assert (set(joined.on), joined.decided) == ({("team", "team"), ("year", "year")}, made.decided)
    assert joined.rows == 2 * 64


def test_a_decided_join_may_multiply_rows(lake):
    lake.decide("games.csv", "teams.csv", "team", "joins")
    joined = lake.join("games.csv", "teams.csv", max_growth=1)
    assert joined.cardinality == "N:M"


def test_decisions_are_about_tables_of_the_lake(lake):
    lake.decide("flights.csv", "carriers.csv", "carrier", "never")
    copy = lake.table("flights.csv").to_pandas()
    assert lake.join(copy, "carriers.csv").rows == 60


def test_predicates_follow_decisions(lake):
    def listed(*tables, **options):
        return [(str(each), each.score, each.decided) for each in lake.predicates(*tables, **options)]

    first = listed("flights.csv", "carriers.csv")[0]
    assert first[0] == "carrier = carrier"
    made = lake.decide("flights.csv", "carriers.csv", "carrier", "joins")
    assert listed("flights.csv", "carriers.csv")[0] == ("carrier = carrier (decided)", 1.0, made.decided)
    assert listed("carriers.csv", "flights.csv", prefer="key")[0][2] == made.decided
    lake.decide("flights.csv", "carriers.csv", "carrier", "never")
    assert not listed("flights.csv", "carriers.csv")
    assert not listed("flights.csv", "carriers.csv", prefer="coverage")
    assert not listed("flights.csv", "carriers.csv", "airports.csv")
    assert dovetail.predicates({"a": ["x"]}, {"b": ["x"]})[0].to_dict()["decided"] is None


def test_predicates_of_several_columns_and_tables(lake):
    lake.decide("games.csv", "teams.csv", "team,year", "joins")
    assert lake.predicates("games.csv", "teams.csv", k=1)[0].decided
    lake.decide("games.csv", "teams.csv", "team,year", "never")
    for options in ({}, {"prefer": "key"}):
        found = lake.predicates("games.csv", "teams.csv", k=3, **options)
        assert len(found)
        assert all(len(each.pairs) == 1 for each in found)
    lake.decide("flights.csv", "airports.csv", "origin=code", "never")
    (best, *_) = lake.predicates("flights.csv", "airports.csv", "carriers.csv")
    assert {(pair.left, pair.right) for pair in best.pairs} == {("dest", "code"), ("carrier", "carrier")}
