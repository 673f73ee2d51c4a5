"""What holds for every method of joining: null joins nothing, budgets hold, the same answer with an index."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail
from dovetail.errors import InputError
from dovetail.transform import Extract, Program
from support.command import dovetail as command
from support.pipeline import without_spark

MARKERS = ["N/A", "n/a", "NULL", "", "-", "none", "nan", None]
TOWNS = ["Springfield", "Shelbyville", "Ogdenville", "North Haverbrook", "Capital City", "Brockway"]
UNCHANGED = dovetail.Transformation((Program((Extract("a"),)),), False, "b")


@settings(max_examples=25)
@given(
    left=st.lists(st.sampled_from([*TOWNS, *MARKERS]), min_size=6, max_size=14),
    right=st.lists(st.sampled_from([*TOWNS, *MARKERS]), min_size=6, max_size=14),
)
@pytest.mark.parametrize("by", ["equal", "transform", "similar", "semantic", None, UNCHANGED])
def test_null_never_joins(by, left, right):
    joined = dovetail.join({"a": left}, {"b": right}, by=by, max_growth=100)
    assert all(left[row] in TOWNS for row in joined.pairs["left_row"].to_pylist())
    assert all(right[row] in TOWNS for row in joined.pairs["right_row"].to_pylist())


def test_numbers_are_not_similar():
    numbered = list(enumerate(TOWNS * 7))[:40]
    left = {"id": [str(n) for n in range(100, 140)], "town": [f"{town} {n}" for n, town in numbered]}
    right = {"id": [str(n) for n in range(200, 240)], "place": [f"{town}, {n}" for n, town in numbered]}
    assert dovetail.join(left, right, by="similar").on == (("town", "place"),)
    only_numbers = dovetail.join({"id": left["id"]}, {"id": right["id"]}, by="similar")
    assert (only_numbers.rows, only_numbers.why) == (0, "No text columns correspond.")


def test_similar_columns_may_be_named():
    left = {"town": ["Springfeld", "Shelbyvile"], "note": ["x", "y"]}
    right = {"place": ["Springfield", "Shelbyville", "Ogdenville"], "other": ["Springfeld", "Shelbyvile", "z"]}
    joined = dovetail.join(left, right, by="similar", on=("town", "place"))
    assert joined.on == (("town", "place"),)
    assert joined.pairs["right_row"].to_pylist() == [0, 1]
    assert all(0.1 < similarity < 1 for similarity in joined.pairs["similarity"].to_pylist())


@pytest.mark.parametrize("by", ["similar", "transform", "semantic", UNCHANGED])
def test_the_most_rows_hold_for_every_method(by):
    left, right = {"a": TOWNS * 20}, {"b": TOWNS * 20}
    with pytest.raises(InputError, match="`max_rows` is 100"):
        dovetail.join(left, right, by=by, max_rows=100, max_growth=1000)


def test_a_join_that_nobody_asked_for_does_not_multiply_rows():
    left, right = {"round": ["1", "2"] * 500, "a": ["x"] * 1000}, {"round": ["1", "2"] * 500, "b": ["y"] * 1000}
    assert dovetail.join(left, right).rows == 0
    with pytest.raises(InputError, match="round = round would give 500,000 rows, 500 for each row"):
        dovetail.join(left, right, by="equal")
    assert dovetail.join(left, right, on="round").rows == 500_000
    assert dovetail.join(left, right, by="equal", max_growth=500).rows == 500_000


def test_where_equal_values_multiply_rows_another_method_is_tried():
    """A party is no key, though it is equal everywhere; the names are one, once they are turned round."""
    names = ("Ada", "Alan", "Grace", "Tony", "Edsger"), ("Hopper", "Hoare", "Kay")
    people = [f"{first} {last}" for first in names[0] for last in names[1]]
    parties = ["Red", "Blue"] * 8
    left = {"name": people, "party": parties[:15]}
    right = {"who": [", ".join(reversed(name.split())) for name in people], "party": parties[:15]}
    joined = dovetail.join(left, right, max_growth=5)
    assert joined.by in ("transform", "similar")
    assert joined.rows == 15
    assert ("name", "who") in joined.on


def test_seconds_hold_for_many_tables():
    draw = random.Random(4)
    tables = [
        {f"{letter}{n}": [str(draw.randrange(20 * (n + 1))) for _ in range(300)] for n in range(5)}
        for letter in "abcdefgh"
    ]
    found = dovetail.predicates(*tables, k=1, seconds=0.5)
    assert not found.complete


def test_reasons_are_true():
    left = {"id": ["1", "2", "3", "4", "5"], "name": ["a", "b", "c", "d", "e"]}
    joined = dovetail.join(left, {"id": ["1", "2", "3", "4", "9"]}, by="equal")
    assert f"Likely right: {joined.probability:.0%}." in joined.why
    assert "80% of the values of id" in joined.why or "% of the values" not in joined.why


def test_as_pandas_and_polars_users_expect():
    left = pd.DataFrame({"k": ["a", "a", "b"], "n": [1, 2, 3]})
    right = pd.DataFrame({"key": ["a", "b", "c"], "n": [4, 5, 6]})
    joined = dovetail.join(left, right, left_on="k", right_on="key", how="full", suffix="_theirs", validate="m:1")
    assert joined.frame.columns.tolist() == ["k", "n", "key", "n_theirs"]
    assert (joined.how, joined.rows) == ("outer", 4)
    with pytest.raises(InputError, match="not a 1:1 join: 1 key repeats in left_table"):
        dovetail.join(left, right, left_on="k", right_on="key", validate="1:1")
    for wrong, sentence in (
        ({"left_on": "k"}, "must be given together"),
        ({"left_on": ["k", "n"], "right_on": "key", "by": "equal"}, "must have the same length"),
        ({"left_on": ["k", "n"], "right_on": ["key", "n"], "by": "transform"}, "`on` names several of both tables"),
        ({"on": "n", "left_on": "k", "right_on": "key"}, "Use either `on`"),
        ({"on": "n", "prefer": "key"}, "drop `prefer`"),
        ({"min_similarity": 0.5}, "needs `by='similar'`"),
        ({"by": "similar", "min_similarity": 2}, "at most 1"),
    ):
        with pytest.raises(InputError, match=sentence):
            dovetail.join(left, right, **wrong)


def test_results_show_what_joined(tmp_path):
    joined = dovetail.join({"id": ["1", "2"], "<b>": ["x", "y"]}, {"ref": ["1", "1", "3"]}, on="id=ref")
    assert repr(joined).splitlines()[0] == (
        "<2 rows: inner join on id = ref (equal values), 1:N. 1 of 2 rows on the left match 2 of 3 on the right.>"
    )
    assert "&lt;b&gt;" in joined._repr_html_() and "<td>1</td>" in joined._repr_html_()
    nothing = dovetail.join({"id": ["1"]}, {"ref": ["7"]}, on="id=ref")
    assert repr(nothing) == "<Nothing joins: no row matches on id = ref (equal values). The columns were given.>"


def test_programs_and_predicates_show_themselves():
    way = dovetail.Transformation((Program((Extract("a", (), 0, 3),)),), False, "b")
    assert repr(way) == "<Transformation of the left table into b: the first 3 characters of column “a”>"
    assert repr(way.programs[0]) == "<Program: the first 3 characters of column “a”>"
    assert "<li>the first 3 characters" in way._repr_html_()
    found = dovetail.predicates({"id": ["1", "2", "3"]}, {"ref": ["1", "2", "2"]}, prefer="groups")
    assert [line.split() for line in repr(found).splitlines()] == [
        ["groups", "joined", "rows", "predicate"],
        ["2", "3", "id", "=", "ref"],
    ]
    assert "<td>id = ref</td>" in found._repr_html_()
    assert repr(dovetail.predicates({"a": ["x"]}, {"b": ["y"]})) == "no columns of equal values"


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_every_joined_row_says_how_it_came_about(how):
    left = {"town": ["Ogdenville", "Springfeld", "Atlantis"]}
    right = {"place": ["Springfield", "Ogdenville", "Shelbyville"], "n": ["1", "2", "3"]}
    joined = dovetail.join(left, right, by="semantic", on=("town", "place"), how=how, indicator=True)
    rows = joined.table.select(["town", "place", "similarity", "origin"]).to_pylist()
    paired = [row for row in rows if row["town"] and row["place"]]
    assert [(row["place"], row["origin"]) for row in paired] == [("Ogdenville", "equal"), ("Springfield", "similar")]
    assert float(paired[0]["similarity"]) == 1 > float(paired[1]["similarity"])
    assert all(row["origin"] is None for row in rows if row not in paired)
    (least,) = joined.report["least_similar"]
    assert (least["left"], least["right"]) == ("Springfeld", "Springfield")
    assert joined.frame["similarity"].type == pa.float64()


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A small lake: counties of states, hotels, and addresses of people."""
    folder = tmp_path_factory.mktemp("lake")
    lake = folder / "lake"
    lake.mkdir()
    counties = [(county, state) for state in ("Ohio", "Iowa", "Utah") for county in ("Adams", "Clay", "Wayne", "Lake")]
    pairs = pd.DataFrame(counties, columns=["county", "state"])
    pairs.assign(area=[f"a{n}" for n in range(12)]).to_csv(lake / "counties.csv", index=False)
    names = [f"{first} {last}" for first in ("Ada", "Alan", "Grace", "Tony") for last in ("Hopper", "Hoare", "Turing")]
    mails = [f"{name.split()[0].lower()}.{name.split()[1].lower()}@lab.org" for name in names]
    pd.DataFrame({"email": mails, "room": range(12)}).to_csv(lake / "emails.csv", index=False)
    streets = ["12 Station Road, Springfield", "7 Harbour Street, Shelbyville", "3 Castle Square, Ogdenville"]
    pd.DataFrame({"address": streets, "host": ["Tom", "Jerry", "Tyke"]}).to_csv(lake / "hotels.csv", index=False)
    pairs[2:10].assign(people=[f"p{n}" for n in range(8)]).to_csv(folder / "mine.csv", index=False)
    pd.DataFrame({"name": names}).to_csv(folder / "staff.csv", index=False)
    typed = [street.replace("a", "e", 1) for street in streets]
    pd.DataFrame({"where": typed, "n": range(3)}).to_csv(folder / "trips.csv", index=False)
    with without_spark():
        dovetail.index(lake, folder / "idx")
    return folder


def test_the_same_choice_with_and_without_an_index(place):
    mine = place / "mine.csv"
    alone = dovetail.join(mine, place / "lake" / "counties.csv")
    lake = dovetail.open(place / "idx").join(mine, "counties.csv")
    assert alone.on == lake.on == (("county", "county"), ("state", "state"))
    assert (alone.how, alone.rows) == (lake.how, lake.rows) == ("inner", 8)
    assert alone.report.keys() == lake.report.keys()


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("mine.csv", ()),
        ("mine.csv", ("--on", "county,state")),
        ("staff.csv", ("--by", "transform", "--on", "name")),
        ("trips.csv", ("--by", "semantic", "--on", "where", "--min-similarity", "0.3")),
        (
            "trips.csv",
            (
                "--by",
                "semantic",
            ),
        ),
    ],
)
def test_a_printed_command_does_what_it_says(place, query, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("search", place / query, "--index", place / "idx", *options)
    hit = command(*asked, "--json").json["hits"][0]
    line = next(line for line in command(*asked).err.splitlines() if line.startswith("Try:"))
    program, *arguments = shlex.split(line.removeprefix("Try:"))
    assert program == "dovetail"
    joined = command(*arguments, "--json").json
    assert (joined["rows"], joined["matched_left"]) == (hit["joined_rows"], hit["matched_rows"])
    assert pa.parquet.read_table(tmp_path / "joined.parquet").num_rows == hit["joined_rows"]


def test_a_glob_does_not_change_the_columns_of_a_hit(place):
    lake = dovetail.open(place / "idx")
    by_table = {hit.table: (hit.on, hit.columns) for hit in lake.search(place / "mine.csv", min_overlap=1, k=5)}
    for table, columns in by_table.items():
        (hit,) = lake.search(place / "mine.csv", tables=table)
        assert (hit.on, hit.columns) == columns


def test_a_glob_that_matches_nothing_says_so(place):
    said = command("search", place / "mine.csv", "--index", place / "idx", "--tables", "nowhere/*")
    assert (said.code, said.out) == (1, "No table of the lake matches nowhere/*.\n")


def test_the_index_may_come_from_the_environment(place, monkeypatch):
    monkeypatch.setenv("DOVETAIL_INDEX", str(place / "idx"))
    assert command("search", place / "mine.csv").code == 0
    assert command("tables").out == command("tables", place / "idx").out
    assert command("tables", "h*").out.splitlines()[1].startswith("hotels.csv\t")
    assert command("columns", "hotels.csv").code == 0
    assert command("find", "Tyke").code == 0
    monkeypatch.delenv("DOVETAIL_INDEX")
    assert "set DOVETAIL_INDEX" in command("tables").err
    assert "set DOVETAIL_INDEX" in command("search", place / "mine.csv").err


def test_rows_to_standard_output(place, monkeypatch, tmp_path):
    files = place / "mine.csv", place / "lake" / "counties.csv"
    lines = command("join", *files, "--csv").out.splitlines()
    assert lines[0] == "county,state,people,area"
    assert lines == command("join", *files, "-o", "-").out.splitlines()
    as_json = command("join", *files, "--nl").out.splitlines()
    assert len(as_json) == len(lines) - 1 == 8
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('a,b\nx,"1,2"\ny,"say ""hi"""\nz,\n')
    assert command("join", quoted, quoted, "--on", "a", "--how", "semi", "--csv").out == quoted.read_text()


def test_a_table_from_standard_input(place, monkeypatch):
    import io
    import sys
    from types import SimpleNamespace

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((place / "mine.csv").read_bytes())))
    said = command("join", "-", place / "lake" / "counties.csv", "--json").json
    assert said["rows"] == 8
    assert command("join", "-", "-").code == 2


def test_explanations_are_json_where_asked(place):
    said = command("search", place / "mine.csv", "--index", place / "idx", "--explain", "1", "--json").json
    assert said["table"] == "counties.csv" and said["explanation"].startswith("counties.csv")


def test_tables_of_a_lake_can_be_looked_at(place):
    hotels = dovetail.open(place / "idx").table("hotels.csv")
    assert hotels.head(2)["host"].tolist() == ["Tom", "Jerry"]
    assert hotels.to_pandas().shape == (3, 2)
    assert hotels.to_arrow().column_names == ["address", "host"]


@pytest.mark.parametrize("on", [[1], [("a", "b", "c")], ["a", None]], ids=str)
def test_what_names_no_columns_is_refused(on):
    with pytest.raises(InputError, match="it takes names of columns, and pairs"):
        dovetail.join({"a": [1]}, {"a": [1], "b": [2]}, on=on)
