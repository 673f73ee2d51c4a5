"""Decisions about pairs of values: an accepted pair joins, a rejected one never does, whatever the method."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.catalog.decisions import Decision, Decisions, TableDecisions
from dovetail.errors import InputError, UnknownName
from dovetail.join.decided import with_decided_values
from dovetail.join.keys import JoinKeys, equal_keys, joined_rows
from dovetail.tables.input_table import open_table
from support.command import dovetail
from support.pipeline import index, without_spark

PEOPLE = "person,born\nKatherine Johnson,1918\nGrace Hopper,1906\nAda Lovelace,1815\nAlan Turing,1912\n"
STAFF = "name,desk\nKathrine Johnson,4\nGrace Hoper,7\nAda Lovelaces,9\nAlain Turnig,2\nG. Murray,3\n"
ON = ("people.csv", "staff.csv", "person=name")


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "people.csv").write_text(PEOPLE)
    (tmp_path / "lake" / "staff.csv").write_text(STAFF)
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    return Lake(tmp_path / "idx")


def joined(lake, left="people.csv", right="staff.csv", by="similar", **options):
    rows = lake.join(left, right, by=by, **options).table.to_pylist()
    return {row["person"]: row["name"] for row in rows}


@pytest.mark.parametrize("by", ["similar", "semantic"])
def test_joins_follow_them(lake, by):
    before = joined(lake, by=by, on="person=name")
    assert before["Grace Hopper"] == "Grace Hoper"
    lake.decide(*ON, "never", values=("Ada Lovelace", "Ada Lovelaces"))
    lake.decide(*ON, "joins", values=("GRACE HOPPER", "g. murray"))  # however it is written
    after = joined(lake, by=by, on="person=name")
    assert after == {**{k: v for k, v in before.items() if k != "Ada Lovelace"}, "Grace Hopper": "G. Murray"}
    report = lake.join("people.csv", "staff.csv", "person=name", by=by).report
    assert report["decided_pairs"] == 1
    assert "G. Murray" not in [pair["right"] for pair in report["least_similar"]], "what is decided is not uncertain"
    turned = lake.join("staff.csv", "people.csv", "name=person", by=by).table.to_pylist()
    assert ("Ada Lovelaces", "Ada Lovelace") not in [(row["name"], row["person"]) for row in turned]
    assert ("G. Murray", "Grace Hopper") in [(row["name"], row["person"]) for row in turned]


def test_equal_values_follow_them_and_the_query_does_too(lake):
    lake.decide(*ON, "joins", values=("Alan Turing", "Alain Turnig"))
    result = lake.join("people.csv", "staff.csv", "person=name")
    assert result.table.column("name").to_pylist() == ["Alain Turnig"]
    assert len(duckdb.sql(result.sql).fetchall()) == 1


def test_a_rejected_pair_of_equal_values_does_not_join(lake, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("name\nG. Murray\nGrace Hoper\n")
    lake.decide("mine.csv", "staff.csv", "name", "never", values=("g. murray", "G. Murray"))
    result = lake.join(mine, "staff.csv", "name")
    assert result.table.column("name").to_pylist() == ["Grace Hoper"]
    assert len(duckdb.sql(result.sql).fetchall()) == 1
    hit = lake.search(mine, "name")[0]
    assert lake.join(hit).table.column("name").to_pylist() == ["Grace Hoper"]


def test_they_replace_each_other_and_are_forgotten(lake):
    pair = ("Ada Lovelace", "Ada Lovelaces")
    lake.decide(*ON, "never", values=pair)
    lake.decide("staff.csv", "people.csv", "name=person", "joins", values=pair[::-1])
    (kept,) = lake.decisions()
    assert kept.verdict == "joins" and kept.values == pair[::-1] and kept.to_dict()["values"] == list(pair[::-1])
    assert "'Ada Lovelaces' = 'Ada Lovelace'" in kept.columns
    with pytest.raises(UnknownName):
        lake.forget(*ON)
    assert lake.forget(*ON, values=pair).verdict == "joins" and not lake.decisions()


def test_they_say_nothing_about_the_columns(lake):
    before = [hit.table for hit in lake.search("people.csv", by="semantic")]
    lake.decide(*ON, "never", values=("Ada Lovelace", "Ada Lovelaces"))
    assert [hit.table for hit in lake.search("people.csv", by="semantic")] == before
    assert lake.inds() is not None and lake.keys() is not None


def test_files_have_them_by_their_names(lake, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(PEOPLE)
    before = joined(lake, mine, on="person=name")
    assert before["Ada Lovelace"] == "Ada Lovelaces"
    lake.decide("mine.csv", "staff.csv", "person=name", "never", values=("Ada Lovelace", "Ada Lovelaces"))
    assert "Ada Lovelace" not in joined(lake, mine, on="person=name")
    assert joined(lake, on="person=name") == before, "the table of the lake is another one"


def test_bad_input(lake):
    with pytest.raises(UnknownName, match=r"staff.csv \(nme\)"):
        lake.decide("people.csv", "staff.csv", "person=nme", "never", values=("a", "b"))
    with pytest.raises(UnknownName, match="The index has no table"):
        lake.decide("x.csv", "y.csv", "a=b", "never", values=("a", "b"))
    with pytest.raises(InputError, match="one of each"):
        lake.decide("people.csv", "staff.csv", "person=name,born=desk", "never", values=("a", "b"))


def test_from_the_command_line(lake):
    folder = lake._snapshot.store.address
    tables = ("people.csv", "staff.csv", "--on", "person=name", "--values", "Ada Lovelace=Ada Lovelaces")
    kept = dovetail("decide", folder, *tables, "--never")
    assert kept.code == 0 and "'Ada Lovelace' = 'Ada Lovelaces' never joins" in kept.out
    answer = dovetail("join", "people.csv", "staff.csv", "--index", folder, "--by", "similar", "--csv")
    assert answer.code == 0 and "Ada" not in answer.out and "Grace Hoper" in answer.out
    assert dovetail("decide", folder, *tables, "--forget").code == 0
    assert dovetail("decide", folder, *tables[:4], "--values", "Ada", "--never").code == 2


VALUES = st.sampled_from("abcde")
DECIDED = st.lists(st.tuples(VALUES, VALUES, st.booleans()), max_size=6, unique_by=lambda each: each[:2])


@given(st.lists(VALUES, min_size=1, max_size=8), st.lists(VALUES, min_size=1, max_size=8), DECIDED, st.booleans())
def test_keys_against_brute_force(mine, theirs, decided, turned):
    """By definition: the source's value joins the last accepted partner that is there, else what it joined before."""
    left, right = open_table({"a": mine}), open_table({"b": theirs})
    decisions = TableDecisions()
    for one, other, joins in decided:
        decisions.add(Decision("l", ("a",), "r", ("b",), "joins" if joins else "never", values=(one, other)))
    keys = equal_keys(left, right, [("a", "b")])
    keys = JoinKeys(keys.left, keys.right, keys.size, int(turned))
    found = joined_rows(with_decided_values(keys, left, right, (("a",), ("b",)), decisions))
    source, target = (theirs, mine) if turned else (mine, theirs)
    partner = {value: value for value in source if value in target}
    for one, other, joins in decided:
        value, key = (other, one) if turned else (one, other)
        if value in source and key in target:
            if joins:
                partner[value] = key
            elif partner.get(value) == key:
                del partner[value]
    wanted = {(r, c) for r, a in enumerate(mine) for c, b in enumerate(theirs)
              if partner.get(b if turned else a) == (a if turned else b)}  # fmt: skip
    assert set(zip(*(np.asarray(side).tolist() for side in found), strict=True)) == wanted
    assert Decisions().between("l", "r", ("l", "r")).of_values(("a",), ("b",)) == []
