"""Search and join on several columns: what the edges mean, from Python and from the command line."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dovetail
from dovetail.api.lake import Lake
from dovetail.errors import InputError, UnknownName
from support.command import dovetail as command
from support.pipeline import index, without_spark

WEATHER = "city,date,temp\nZürich,2024-01-01,3\nzürich,2024-01-02,4\nBern,2024-01-01,2\nBasel,,7\nBern,2024-01-02,\n"
EVENTS = """day,name,town
2024-01-01,New year,zürich
2024-01-01,Concert,Zürich
2024-01-02,Fair,Bern
2024-01-02,Fair,Basel
"""
FILES = {
    "events.csv": EVENTS,
    "weather.csv": WEATHER,
    "towns.csv": "town\nzürich\nbern\n",
    "odd.csv": '"a,b",c=d,"e, f"\n1x,2y,3z\n4x,5y,6z\n',
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    (folder / "lake").mkdir()
    for name, text in FILES.items():
        (folder / "lake" / name).write_text(text, encoding="utf-8")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder


@pytest.fixture(scope="module")
def lake(place) -> Lake:
    return dovetail.open(place / "idx")


def test_a_hit_says_what_matches_together(place, lake):
    (hit,) = lake.search(place / "lake" / "weather.csv", on=["city", "date"])
    assert (hit.table, hit.on, hit.columns) == ("events.csv", ("city", "date"), ("town", "day"))
    assert (hit.overlap, hit.query_size, hit.column_size, hit.cardinality) == (2, 4, 3, "1:N")
    assert (hit.query_rows, hit.matched_rows, hit.matched_table_rows, hit.joined_rows) == (5, 2, 3, 3)
    assert hit.matched == ("Zürich | 2024-01-01", "Bern | 2024-01-02")
    assert hit.unmatched == ("Zürich | 2024-01-02", "Bern | 2024-01-01")
    assert hit.only_there == ("basel | 2024-01-02",)
    assert hit.brings == ("name",)
    assert "2 of the 4 tuples of city, date" in hit.explain()


def test_my_own_table_is_no_hit_unless_asked(place, lake):
    mine = place / "lake" / "weather.csv"
    assert [hit.table for hit in lake.search(mine, on=["city", "date"], include_self=True)] == [
        "weather.csv",
        "events.csv",
    ]
    assert [hit.table for hit in lake.search("weather.csv", on=["city", "date"])] == ["events.csv"]
    assert lake.search(mine, on=["city", "date"], tables="towns*") == []


def test_the_order_of_the_key_is_the_order_of_the_columns(lake):
    (hit, *_) = lake.search("weather.csv", on=["date", "city"])
    assert (hit.on, hit.columns) == (("date", "city"), ("day", "town"))


def test_one_column_falls_to_the_search_for_overlap(lake):
    several, one = (lake.search("weather.csv", on=on) for on in (["city"], "city"))
    assert (several.question, several) == ("overlap", one)


def test_a_column_of_a_table_stands_for_one_of_mine_only(lake):
    """Both of my columns hold towns; a table with one column of towns cannot match both."""
    data = {"from": ["bern", "zürich"], "to": ["bern", "zürich"]}
    assert lake.search(data, on=["from", "to"]) == []


def test_what_is_wrong_is_said_in_a_sentence(lake):
    with pytest.raises(InputError, match="`on` names city twice"):
        lake.search("weather.csv", on=["city", "city"])
    with pytest.raises(UnknownName, match='no column "datum"'):
        lake.search("weather.csv", on="city,datum")
    with pytest.raises(InputError, match="`fast` takes one column"):
        lake.search("weather.csv", on=["city", "date"], fast=True)
    with pytest.raises(InputError, match="No row of query has a value in all of a, b"):
        lake.search({"a": ["x", None], "b": [None, "y"]}, on=["a", "b"])
    with pytest.raises(InputError, match="`on` is empty"):
        lake.search("weather.csv", on=[])


def test_names_with_commas_can_be_named(lake):
    data = {"a,b": ["1x", "4x"], "c": ["2y", "5y"], "a": ["q", "q"], "e, f": ["3z", "6z"]}
    for written, names in (("a,b,c", ("a,b", "c")), ("c,a,b", ("c", "a,b")), ("c, e, f", ("c", "e, f"))):
        (hit,) = lake.search(data, on=written)
        assert hit.on == names
    (hit,) = lake.search(data, on="a,b")
    assert hit.on == ("a,b",)


def test_joins_on_several_columns(place, lake):
    mine = place / "lake" / "weather.csv"
    for on in ("city=town,date=day", [("city", "town"), ("date", "day")]):
        joined = lake.join(mine, "events.csv", on=on, how="inner")
        assert joined.on == (("city", "town"), ("date", "day"))
        assert joined.table["name"].to_pylist() == ["New year", "Concert", "Fair"]
    left = lake.join(mine, "events.csv", on="city=town,date=day", how="left")
    assert (left.table.num_rows, left.matched_left, left.matched_right) == (6, 2, 3)
    assert left.unmatched_left == ("zürich | 2024-01-02", "Bern | 2024-01-01")
    same = lake.join(mine, "weather.csv", on=["city", "date"], how="inner")
    assert same.table.num_rows == 4
    odd = lake.join({"x": ["2y"], "a,b": ["1x"]}, "odd.csv", on="a,b,x=c=d", how="inner")
    assert odd.on == (("a,b", "a,b"), ("x", "c=d"))
    assert odd.table.num_rows == 1
    with pytest.raises(UnknownName, match='has no column "towns"'):
        lake.join(mine, "events.csv", on="city=towns,date=day")


def test_a_hit_is_joined_on_all_of_its_columns(lake):
    data = {"city": ["Bern", "zürich"], "date": ["2024-01-02", "2024-01-02"]}
    hit = next(hit for hit in lake.search(data, on=["city", "date"]) if hit.table == "events.csv")
    assert hit.preview()["name"].to_pylist() == ["Fair"]
    assert hit.join(how="inner")["name"].to_pylist() == ["Fair"]
    assert lake.join(hit, how="inner").on == (("city", "town"), ("date", "day"))


def test_from_the_command_line(place):
    mine, idx = place / "lake" / "weather.csv", place / "idx"
    found = command("search", mine, "--on", "city,date", "--index", idx)
    assert found.code == 0
    assert "city, date → town, day" in found.out
    assert "--on city=town,date=day -o joined.parquet" in found.err
    as_json = command("search", mine, "--on", "city,date", "--index", idx, "--json").json
    assert (as_json["question"], as_json["exact"]) == ("keys", True)
    assert [hit["columns"] for hit in as_json["hits"]] == [["town", "day"]]
    assert command("search", mine, "--on", "city,date", "--index", idx, "--threshold", "0.6").code == 1
    assert "2 of the 4 tuples" in command("search", mine, "--on", "city,date", "--index", idx, "--explain", "1").out
    joined = command("join", mine, "events.csv", "--on", "city=town,date=day", "--index", idx, "--json").json
    assert joined["on"] == [{"left": "city", "right": "town"}, {"left": "date", "right": "day"}]
    assert joined["rows"] == 3
    assert "names city twice" in command("search", mine, "--on", "city,city", "--index", idx).err


def test_an_answer_that_took_too_much_effort_says_so(lake, monkeypatch):
    for segment in lake.segments:
        monkeypatch.setattr(segment.mate, "search", functools.partial(segment.mate.search, effort=0))
    assert not lake.search("weather.csv", on=["city", "date"]).exact


def test_a_million_rows_of_mine(lake):
    """More tuples than fit anything small: the answer is that of the rows that match."""
    size = 1_000_000
    cities, dates = np.full(size, "bern  "), np.arange(size).astype("U10")
    cities[0], dates[0], dates[1] = "zürich", "2024-01-01", "2024-01-02"
    data = {"city": cities, "date": dates}
    hits = lake.search(data, on=["city", "date"])
    assert [(hit.table, hit.overlap, hit.query_size) for hit in hits] == [
        ("weather.csv", 2, size),
        ("events.csv", 2, size),
    ]
