"""Search and join on the sample lake, from Python and from the command line."""

from __future__ import annotations

import datetime
import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail.api.lake import Lake
from dovetail.cli.verbs import run
from dovetail.errors import InputError, UnknownName
from dovetail.tables.frames import to_arrow
from support.sample import SAMPLE_LAKE

AIRPORTS = SAMPLE_LAKE / "transport" / "airports.csv"


@pytest.fixture(scope="module")
def lake(sample_index):
    return Lake(sample_index)


def test_a_column_of_codes_finds_the_countries(lake):
    hits = lake.search(AIRPORTS, on="country", k=10)
    assert [hit.rank for hit in hits] == list(range(1, 11))
    assert [hit.overlap for hit in hits] == sorted((hit.overlap for hit in hits), reverse=True)
    countries = next(hit for hit in hits if hit.table == "geo/countries.csv")
    assert (countries.columns, countries.overlap, countries.query_size) == (("Code",), 227, 227)
    assert (countries.cardinality, countries.containment, countries.exact) == ("N:1", 1.0, True)
    assert countries.matched_rows == countries.joined_rows == countries.query_rows
    assert "Name" in countries.brings and "Code" not in countries.brings
    assert "transport/airports.csv" not in [hit.table for hit in hits], "not a hit of itself"
    with_self = lake.search(AIRPORTS, on="country", k=1, include_self=True)
    assert with_self[0].overlap == 227


def test_every_kind_of_query_gives_the_same_answer(lake):
    frame = pd.read_csv(AIRPORTS, keep_default_na=False, dtype=str)
    expected = [(hit.table, hit.columns, hit.overlap) for hit in lake.search(frame, on="country")]
    column = frame["country"]
    for data, on in (
        (pa.Table.from_pandas(frame), "country"),
        (column, "country"),
        (column.tolist(), "values"),
        ({"c": column.tolist()}, "c"),
        ("transport/airports.csv", "country"),
        (AIRPORTS, "country"),
    ):
        hits = lake.search(data, on=on, include_self=True)
        assert [(hit.table, hit.columns, hit.overlap) for hit in hits] == expected


def test_without_a_column_the_best_pair_of_each_table(lake):
    hits = lake.search("economy/gapminder.csv")
    tables = [hit.table for hit in hits]
    assert len(tables) == len(set(tables))
    pairs = {hit.table: (hit.on, hit.columns) for hit in hits}
    assert pairs["geo/capitals.csv"] == (("country",), ("country",))
    assert pairs["economy/co2-emissions.csv"] == (("country", "year"), ("country", "year")), "a country in a year"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_nothing_joins_with_unknown_words(lake):
    hits = lake.search(["qqq", "www"], on="values")
    assert list(hits) == []


def test_thresholds_are_exact_at_the_edge(lake):
    codes = ["CH", "DE", "FR", "IT", "AT", "LI", "BE", "xx1", "xx2", "xx3"]
    assert "geo/countries.csv" in [hit.table for hit in lake.search(codes, on="values", threshold=0.7)]
    assert "geo/countries.csv" not in [hit.table for hit in lake.search(codes, on="values", threshold=0.71)]


def test_sketches_miss_little_and_invent_nothing(lake):
    exact = {(hit.table, hit.columns, hit.overlap) for hit in lake.search(AIRPORTS, on="country", threshold=0.5)}
    about = lake.search(AIRPORTS, on="country", threshold=0.5, fast=True)
    found = {(hit.table, hit.columns, hit.overlap) for hit in about}
    assert not about.exact
    assert found <= exact
    assert len(found) >= 0.8 * len(exact)
    assert lake.search(AIRPORTS, on="country", k=3, fast=True)[0].overlap == 227


def test_tables_and_least_overlap(lake):
    hits = lake.search(AIRPORTS, on="country", tables="geo/*", min_overlap=200, k=50)
    assert hits and all(hit.table.startswith("geo/") and hit.overlap >= 200 for hit in hits)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"on": "contry"}, UnknownName, 'Did you mean "country"'),
        ({"on": "country", "k": 0}, InputError, "at least 1"),
        ({"on": "country", "threshold": 1.5}, InputError, "at most 1"),
        ({"on": "country", "threshold": "much"}, InputError, "must be a share"),
    ],
)
def test_mistakes_get_a_sentence(lake, options, error, said):
    with pytest.raises(error, match=said):
        lake.search(AIRPORTS, **options)


def test_join_keeps_my_rows_in_order(lake):
    joined = lake.join(AIRPORTS, "geo/countries.csv", on=("country", "Code"), how="left")
    mine = pd.read_csv(AIRPORTS, keep_default_na=False, dtype=str)
    assert joined.table["icao"].to_pylist() == mine["icao"].tolist()
    assert joined.matched_left == len(mine)
    assert joined.table.num_rows == len(mine)


def test_join_finds_the_columns_itself(lake):
    joined = lake.join("transport/flights.csv", "transport/airlines.csv", how="inner")
    assert joined.on == (("carrier", "carrier"),)
    assert "name" in joined.table.column_names and "carrier_right" not in joined.table.column_names


def test_kinds_of_join(lake):
    data = {"code": ["CH", "xx", None, "DE"]}
    rows = {how: lake.join(data, "geo/countries.csv", on=("code", "Code"), how=how).table.num_rows for how in
            ("inner", "left", "right", "outer", "semi", "anti")}  # fmt: skip
    assert rows == {"inner": 2, "left": 4, "right": 252, "outer": 254, "semi": 2, "anti": 2}
    with pytest.raises(InputError, match="`how` is 'sideways'"):
        lake.join(data, "geo/countries.csv", on=("code", "Code"), how="sideways")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_the_kind_of_frame_that_went_in_comes_out(lake, kind):
    rows = {"code": ["CH", "xx", None, "DE"], "sold": [5, 7, 9, 11], "day": [datetime.date(2024, 1, 1)] * 4}
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    frame = duckdb.from_arrow(pa.table(rows)) if kind == "duckdb" else make[kind](rows)
    hit = next(hit for hit in lake.search(frame, on="code", k=50) if hit.table == "geo/countries.csv")
    wide = hit.join(how="left")
    assert type(wide) is type(frame)
    assert isinstance(hit.preview(), type(frame))
    found = pa.Table.from_pylist(to_arrow(wide).to_pylist())
    assert found["code"].to_pylist() == ["CH", "xx", None, "DE"], "my rows, in my order"
    assert found["sold"].to_pylist() == rows["sold"]
    assert found["Name"].to_pylist() == ["Switzerland", None, None, "Germany"]
    assert to_arrow(wide).equals(to_arrow(hit.join(frame, "left")))
    assert to_arrow(wide).equals(to_arrow(lake.join(hit, how="left").frame))
    assert to_arrow(hit.join(how="semi"))["sold"].to_pylist() == [5, 11]
    assert to_arrow(hit.preview(1))["sold"].to_pylist() == [5]


def test_a_hit_joins_another_table_than_was_searched_with(lake):
    hit = lake.search(["CH", "DE", "FR"], on="values", tables="geo/countries.csv")[0]
    other = pd.DataFrame({"values": ["FR", "IT"]})
    assert hit.join(other)["Name"].tolist() == ["France", "Italy"]
    assert lake.join(other, hit).frame["Name"].tolist() == ["France", "Italy"]
    with pytest.raises(UnknownName, match="no column"):
        hit.join(pd.DataFrame({"v": ["FR"]}))
    with pytest.raises(InputError, match=r"Use lake\.join"):
        lake.join(hit, "geo/countries.csv")
    with pytest.raises(InputError, match="needs a table"):
        lake.join(other)


def test_a_file_comes_out_as_arrow_with_types(lake):
    wide = lake.search(AIRPORTS, on="country", tables="geo/countries.csv")[0].join()
    mine = pd.read_csv(AIRPORTS, keep_default_na=False)
    assert isinstance(wide, pa.Table)
    assert wide["lat"].to_pylist() == mine["lat"].tolist()


def test_previews_are_the_first_joined_rows(lake):
    for hit in lake.search("transport/flights.csv", on="carrier"):
        inner = hit.join(how="inner")
        assert hit.preview(7).equals(inner.slice(0, 7))


def test_hits_show_as_a_table(lake):
    hits = lake.search(AIRPORTS, on="country", tables="geo/countries.csv", k=1)
    head, line = repr(hits).splitlines()
    assert head.split() == ["#", "table", "on", "covers", "join", "brings"]
    assert line.startswith("1  geo/countries.csv  country → Code  227 of 227  N:1")
    assert "<td>country → Code</td>" in hits._repr_html_()
    text = hits[0].explain()
    assert 'ON mine."country" = theirs."Code"' in text
    assert "(a key)" in text
    assert "only there: " in text


def test_nothing_is_explained(lake):
    nothing = lake.search(["qqq", "www"], on="values")
    assert repr(nothing) == "No column of the lake shares a value with values of query."
    assert nothing._repr_html_() == f"<p>{nothing!r}</p>"
    high = lake.search(["CH", "DE", "qqq", "www"], on="values", threshold=0.9)
    assert repr(high).startswith(
        "No column of the lake contains 90% of the values of values of query. The nearest: 3 columns"
    )
    assert len(high.nearest) == 3 and high.nearest[0].overlap == 2
    many = lake.search(["CH", "DE", "qqq", "www"], on="values", min_overlap=3)
    assert repr(many).startswith("No column of the lake shares 3 values with values of query. The nearest: 3 columns")
    assert "no column to search with" in repr(lake.search({"share": [0.25, 0.5, 0.75]}))


def test_command_line(sample_index, tmp_path, capsys):
    assert run(["search", str(AIRPORTS), "--on", "country", "--index", str(sample_index), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {"query", "by", "question", "exact", "seconds", "note", "hits", "to_append"}
    assert {"rank", "table", "columns", "score", "overlap", "containment", "exact"} <= set(answer["hits"][0])
    assert run(["search", str(AIRPORTS), "--on", "country", "--index", str(sample_index), "--explain", "1"]) == 0
    assert "227" in capsys.readouterr().out
    assert run(["search", str(AIRPORTS), "--index", str(sample_index)]) == 0
    assert "Try:  dovetail join" in capsys.readouterr().err
    out = tmp_path / "out.parquet"
    command = ["join", str(AIRPORTS), "geo/countries.csv", "--index", str(sample_index), "--on", "country=Code"]
    assert run([*command, "-o", str(out)]) == 0
    assert pq.read_table(out).num_rows == len(pd.read_csv(AIRPORTS))
    assert "rows on the left match" in capsys.readouterr().out
    assert run([*command, "-o", str(tmp_path / "out.xls")]) == 2
    assert run(["search", str(AIRPORTS), "--on", "iso_contry", "--index", str(sample_index)]) == 2
    assert run(["search", "no-such.csv", "--index", str(sample_index)]) == 2


def test_what_the_command_line_says_where_there_is_little(sample_index, tmp_path, capsys):
    mine = tmp_path / "my notes.csv"
    mine.write_text("year,flag\n" + "".join(f"{1950 + n},{'yn'[n % 2]}\n" for n in range(40)))
    command = ["search", str(mine), "--index", str(sample_index)]
    assert run(command) == 1
    sentence, hint = capsys.readouterr().out.splitlines()
    assert sentence.startswith("No table of the lake joins well with my notes.csv. The nearest: 3 columns share")
    number = hint.split()[2]
    assert hint == f"Try --min-overlap {number} to see them, or --on COLUMN to search with one column."
    assert run([*command, "--min-overlap", number]) == 0
    assert f"Try:  dovetail join '{mine}'" in capsys.readouterr().err
    assert run([*command, "--on", "flag", "--fast", "--tables", "science/none.csv"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "No table of the lake matches science/none.csv.",
        "The exact answer is the same.",
    ]
    assert run([*command, "--on", "year", "--threshold", "0.999", "--tables", "geo/*"]) == 1
    assert capsys.readouterr().out.endswith("Try a lower --threshold.\n")
