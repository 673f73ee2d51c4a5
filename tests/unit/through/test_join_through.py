"""`by="through"` in Python and on the command line, and `map`."""

from __future__ import annotations

import csv
import json

import duckdb
import pandas as pd
import pytest

import dovetail
from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.join.request import KINDS
from support.command import dovetail as command
from support.pipeline import index, without_spark
from unit.through.conftest import CAPITALS, PARTS, write

LEFT = {"id": [str(n) for n in range(8)], "country": list(CAPITALS)}
THINGS = {f"Maker {chr(65 + n % 26)}{chr(97 + n // 2)}": f"thing of {n * 7919 % 997:03d} kinds" for n in range(40)}
RIGHT = {"city": list(reversed(CAPITALS.values())), "people": [str(1000 + 7 * n) for n in range(8)]}


def joined(result):
    return dict(zip(result.table["country"].to_pylist(), result.table["city"].to_pylist(), strict=True))


def test_two_tables_without_a_common_value_join_through_the_lake(lake, lake_folder):
    result = lake.join(LEFT, RIGHT, by="through")
    assert joined(result) == CAPITALS
    assert result.on == (("country", "city"),)
    assert result.report["through_pairs"] == 8
    assert "atlas/capitals.csv" in [bridge["table"] for bridge in result.report["bridges"]]
    assert "tables of the lake" in result.why
    same = dovetail.join(LEFT, RIGHT, by="through", on="country=city", index=lake_folder / "idx")
    assert joined(same) == CAPITALS


@pytest.fixture(scope="session")
def atlas(tmp_path_factory):
    """A lake in which two tables know who makes what, and one has numbers beside the makers."""
    folder = tmp_path_factory.mktemp("atlas")
    write(folder / "lake/one.csv", "maker,thing", list(THINGS.items()))
    write(folder / "lake/two.csv", "company,good", list(THINGS.items())[:30])
    write(folder / "lake/sizes.csv", "maker,size", [(maker, 500 + n) for n, maker in enumerate(THINGS)])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


def test_unasked_the_lake_joins_texts_that_share_no_value(atlas):
    result = Lake(atlas).join({"who": list(THINGS)}, {"what": list(THINGS.values())})
    assert (result.by, result.on, result.rows) == ("through", (("who", "what"),), 40)
    assert dict(zip(result.table["who"].to_pylist(), result.table["what"].to_pylist(), strict=True)) == THINGS
    assert result.probability > 0.5
    assert "Likely right" in result.why


def test_unasked_the_lake_joins_no_numbers(atlas):
    lake, sizes = Lake(atlas), {"size": [str(500 + n) for n in range(40)]}
    assert lake.join({"who": list(THINGS)}, sizes, by="through").rows == 40
    assert lake.join({"who": list(THINGS)}, sizes).rows == 0


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """A lake in which prices are beside a flag."""
    folder = tmp_path_factory.mktemp("shop")
    write(folder / "lake/offers.csv", "in stock,price", [("yes" if n % 3 else "no", 100 + 7 * n) for n in range(40)])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return Lake(folder / "idx")


@pytest.mark.parametrize("how", ["inner", "left"])
def test_numbers_beside_a_flag_are_no_codes_of_it(shop, how):
    flags, prices = {"open": ["yes", "no", "yes"]}, {"price": [str(100 + 7 * n) for n in range(40)]}
    found = shop.join(flags, prices, by="through", how=how)
    assert found.matched == (0, 0)
    assert found.why == "No tables of the lake relate values of both."
    assert shop.join(flags, prices, by="through", on="open=price").rows > 0


def test_tables_carry_no_join_of_their_own(atlas):
    lake = Lake(atlas)
    found = lake.join("one.csv", "two.csv", by="through", on="maker=good")
    assert not {"one.csv", "two.csv"} & {bridge["table"] for bridge in found.report["bridges"]}


def test_columns_with_equal_values_are_joined_on_them(lake):
    result = lake.join(LEFT, {"country": list(CAPITALS), "city": list(CAPITALS.values())})
    assert (result.by, result.on) == ("equal", (("country", "country"),))


def test_kinds_of_join_hold_through_the_lake(lake):
    left = {"country": [*list(CAPITALS)[:3], "Nowhere", None]}
    right = {"city": [*list(CAPITALS.values())[1:4], "Atlantis"]}
    result = lake.join(left, right, by="through", on="country=city", how="outer")
    rows = list(zip(result.table["country"].to_pylist(), result.table["city"].to_pylist(), strict=True))
    assert rows[:5] == [
        ("Arvania", None), ("Belgonia", "Grünfeld"), ("Corvia", "Santa Mira"), ("Nowhere", None), (None, None),
    ]  # fmt: skip
    assert set(rows[5:]) == {(None, "Westholm"), (None, "Atlantis")}


def test_the_many_may_be_on_either_side(lake):
    left, right = {"part": ["North", "South"]}, {"country": list(PARTS)}
    for sides in ((left, right), (right, left)):
        result = lake.join(*sides, by="through", validate="1:m" if sides[0] is left else "m:1")
        found = zip(result.table["country"].to_pylist(), result.table["part"].to_pylist(), strict=True)
        assert dict(found) == PARTS


def test_one_to_many_from_the_command_line(tmp_path, lake_folder):
    write(tmp_path / "parts.csv", "part,n", [("North", 1), ("South", 2)])
    write(tmp_path / "countries.csv", "country,m", [(country, n) for n, country in enumerate(PARTS)])
    index, files = str(lake_folder / "idx"), [str(tmp_path / f"{name}.csv") for name in ("parts", "countries")]
    asked = command("join", *files, "--by", "through", "--index", index, "--mapping", str(tmp_path / "m.csv"), "--csv")
    rows = list(csv.DictReader(asked.out.splitlines()))
    assert {row["country"]: row["part"] for row in rows} == PARTS
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        assert {(row["value"], row["partner"]) for row in csv.DictReader(file)} == {(b, a) for a, b in PARTS.items()}
    ask = ("map", files[0], "part", "--to", files[1], "--to-column", "country", "--index", index)
    assert command(*ask).out.startswith("2 values of 2 in 8 pairs, by 1 table.")
    assert {(pair["value"], pair["partner"]) for pair in json.loads(command(*ask, "--json").out)["pairs"]} == {
        (part, country) for country, part in PARTS.items()
    }


def test_nothing_joins_if_no_table_relates_the_values(lake):
    result = lake.join({"a": ["x", "y", "z"]}, {"b": ["red", "green"]}, by="through")
    assert result.rows == 0
    assert result.why == "No tables of the lake relate values of both."


def test_what_cannot_be_asked(lake):
    with pytest.raises(InputError, match="needs an index"):
        dovetail.join(LEFT, RIGHT, by="through")
    with pytest.raises(InputError, match="one pair of columns"):
        lake.join(LEFT, RIGHT, by="through", on=[("country", "city"), ("id", "people")])


def test_map_to_a_column_or_by_examples(lake):
    found = lake.map(list(CAPITALS), to=list(CAPITALS.values()))
    assert {pair.value: pair.partner for pair in found} == CAPITALS
    names = ["value", "partner", "support", "probability", "tables", "alternatives"]
    assert found.to_pandas().columns.tolist() == names
    assert "Port Sable" in repr(found)
    by_examples = lake.map(LEFT, to={"Arvania": "Port Sable", "Corvia": "Santa Mira"}, column="country")
    assert {pair.value: pair.partner for pair in by_examples}["Hestia"] == "nordmark"
    assert lake.map(["Gaspar"], to=[("Arvania", "North"), ("Hestia", "South")])[0].partner == "south"
    with pytest.raises(InputError, match="name one: id, country"):
        lake.map(LEFT, to=["Nordmark"])


@pytest.fixture
def files(tmp_path):
    for name, table in (("left.csv", LEFT), ("right.csv", RIGHT)):
        pd.DataFrame(table).to_csv(tmp_path / name, index=False)
    return tmp_path


def test_the_command_line_joins_and_writes_the_mapping(files, lake_folder):
    index = str(lake_folder / "idx")
    ask = ("join", str(files / "left.csv"), str(files / "right.csv"), "--by", "through", "--index", index)
    answer = command(*ask, "--mapping", str(files / "mapping.csv"))
    assert answer.code == 0, answer
    assert "through other tables of the lake" in answer.out
    assert "atlas/capitals.csv, country = capital: 8 of 8 pairs" in answer.out
    with (files / "mapping.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["value"]: row["partner"] for row in rows} == CAPITALS
    assert all(0.5 < float(row["probability"]) <= 1 and row["tables"] for row in rows)
    assert any("Dorland = Santa Mira (" in row["alternatives"] for row in rows)
    assert "Least certain: " in answer.out
    disputed = json.loads(command(*ask, "--json").out)["disputed"]
    assert ("Dorland", "Santa Mira") in {
        (other["value"], other["partner"]) for pair in disputed for other in pair["alternatives"]
    }
    assert [pair["probability"] for pair in disputed] == sorted(pair["probability"] for pair in disputed)
    refused = command("join", str(files / "left.csv"), str(files / "right.csv"), "--mapping", str(files / "m.csv"))
    assert refused.code == 2
    assert "--mapping needs --by through" in refused.err


def test_the_command_line_maps(files, lake_folder):
    index = str(lake_folder / "idx")
    ask = ("map", str(files / "left.csv"), "country", "--index", index)
    answer = command(*ask, "--example", "Arvania=Port Sable", "--example", "Corvia=Santa Mira", "--json")
    assert answer.code == 0, answer
    found = json.loads(answer.out)
    assert {pair["value"]: pair["partner"] for pair in found["pairs"]}["Dorland"] == "westholm"
    answer = command(*ask, "--to", str(files / "right.csv"), "--to-column", "city", "-o", str(files / "out.csv"))
    assert answer.code == 0, answer
    assert answer.out.startswith("8 values of 8, by ")
    written = (files / "out.csv").read_text(encoding="utf-8")
    assert written.startswith("value,partner,support,probability,tables,alternatives\n")
    assert command(*ask).code == 2
    assert command(*ask, "--example", "Arvania").code == 2
    assert command(*ask, "--example", "x=y", "--example", "v=w").code == 1


def run_sql(query):
    with duckdb.connect() as connection:
        return connection.sql(query).to_arrow_table()


@pytest.mark.parametrize("how", KINDS)
def test_the_sql_joins_the_bridge_in_between(tmp_path, how):
    """A table of the lake that spells values differently, repeats rows, has nulls, and knows other partners too."""
    rows = [(a.upper(), f" {b.lower()} ") for a, b in CAPITALS.items()]
    known = [*rows, *rows[:3], ("ARVANIA", "elsewhere"), ("NA", "n/a"), ("", ""), ("Gone", "NA")]
    write(tmp_path / "lake/it's.csv", "of,seat", known)
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    left = {"country": ["Corvia", "Nowhere", "NA", *CAPITALS, "Corvia", ""], "n": [str(n) for n in range(13)]}
    right = {"city": [*list(CAPITALS.values())[2:], "Atlantis", "NA", "", "Santa Mira"], "n": list("abcdefghij")}
    for name, table in (("l.csv", left), ("r.csv", right)):
        pd.DataFrame(table).to_csv(tmp_path / name, index=False)
    paths = tmp_path / "l.csv", tmp_path / "r.csv"
    result = Lake(tmp_path / "idx").join(*paths, by="through", on="country=city", how=how)
    assert result.matched_left == 8
    assert "it''s.csv" in result.sql, "not the values one by one"
    assert run_sql(result.sql).to_pydict() == result.table.to_pydict()


@pytest.mark.parametrize(("how", "suffix"), [*((how, "csv") for how in KINDS), ("left", "parquet")])
def test_the_sql_joins_the_written_mapping_if_several_tables_carry_it(files, lake_folder, how, suffix):
    ask = ("join", str(files / "left.csv"), str(files / "right.csv"), "--by", "through", "--how", how, "--json")
    mapping = files / f"mapping.{suffix}"
    answer = command(*ask, "--index", str(lake_folder / "idx"), "--mapping", str(mapping))
    assert answer.code == 0, answer
    query = json.loads(answer.out)["sql"]
    assert mapping.name in query
    lake = Lake(lake_folder / "idx")
    result = lake.join(files / "left.csv", files / "right.csv", by="through", how=how)
    assert run_sql(query).to_pydict() == result.table.to_pydict()
    assert result.sql_over(mapping) == query
    if how == "inner":
        shown = command(*ask[:-1], "--index", str(lake_folder / "idx"), "--mapping", str(mapping), "--explain")
        assert query in shown.out
