"""The commands over the whole lake: inds, keys, path, graph."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet
import pytest

from support.command import dovetail


@pytest.fixture
def small(idx):
    """The small lake: cities of people are among the cities, codes of countries among the codes."""
    return idx


@pytest.fixture
def shop(tmp_path):
    """Orders of customers, customers of countries, and stars that refer to nothing."""
    codes = ("CH", "DE", "FR", "IT", "AT", "ES", "PT", "PL")
    tables = {
        "sales/countries.csv": ["code,country name", *(f"{code},Land of {code}" for code in codes)],
        "sales/customers.csv": ["customer_id,country", *(f"{100 + 7 * n},{codes[n % 7]}" for n in range(20))],
        "sales/orders.csv": [
            "order_id,customer_id,stars",
            *(f"{n},{100 + n % 20 * 7},{n % 5}" for n in range(900, 960)),
        ],
    }
    for name, lines in tables.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert dovetail("index", tmp_path / "shop", "--to", tmp_path / "shop.idx").code == 0
    return tmp_path / "shop.idx"


def test_inds(small):
    answer = dovetail("inds", small)
    assert answer.code == 0
    head, *lines = answer.out.splitlines()
    assert head.split() == ["table", "column", "table", "column", "contained", "covers", "score"]
    assert {tuple(line.split()[:6]) for line in lines} == {
        ("geo/cities.csv", "Country", "geo/codes.tsv", "code", "100%", "100%"),
        ("people.csv", "city", "geo/cities.csv", "City", "100%", "67%"),
    }


def test_how_many_lines(small):
    last = dovetail("inds", small, "-k", 1).err.splitlines()[-1]
    assert last == "… and 1 more: -k for more lines, -o FILE for all."


@pytest.mark.parametrize("verb", [("inds",), ("keys",), ("path", "people.csv", "geo/cities.csv"), ("graph",)])
def test_the_index_by_option_and_by_environment(small, monkeypatch, verb):
    given = dovetail(verb[0], small, *verb[1:], "--json")
    assert given.code in (0, 1)
    assert dovetail(*verb, "--index", small, "--json").json == given.json
    monkeypatch.setenv("DOVETAIL_INDEX", str(small))
    assert dovetail(*verb, "--json").json == given.json


def test_inds_in_every_format(small, tmp_path):
    rows = dovetail("inds", small, "--json").json
    assert len(rows) == 2
    for suffix in ("json", "csv", "parquet"):
        file = tmp_path / f"inds.{suffix}"
        answer = dovetail("inds", small, "-o", file)
        assert (answer.code, answer.out) == (0, f"2 inclusion dependencies written to {file}.\n")
        answer = dovetail("inds", small, "-o", file, "--json")
        assert (answer.code, answer.json) == (0, {"rows": 2, "output": str(file)})
    assert json.loads((tmp_path / "inds.json").read_text()) == rows
    assert pyarrow.parquet.read_table(tmp_path / "inds.parquet").to_pylist() == rows
    with (tmp_path / "inds.csv").open() as file:
        texts = list(csv.DictReader(file))
    assert [row["dependent_columns"] for row in texts] == [row["dependent_columns"][0] for row in rows]
    assert list(texts[0]) == list(rows[0])


def test_nothing_is_included(small, tmp_path):
    answer = dovetail("inds", small, "--coverage", "1", "--partial", "1")
    assert answer.code == 0
    dovetail("remove", small, "*.csv")
    answer = dovetail("inds", small)
    assert answer.code == 1
    assert "No column" in answer.out
    assert dovetail("inds", small, "--json").json == []
    for verb, file in (("inds", "x.csv"), ("keys", "x.csv"), ("graph", "x.json")):
        assert dovetail(verb, small, "-o", tmp_path / file).code == 1
        assert (tmp_path / file).exists(), "an empty answer is one, too"
    assert dovetail("keys", small).code == 1
    assert dovetail("graph", small).code == 1


def test_inds_of_several_columns(small):
    answer = dovetail("inds", small, "--nary", 2)
    assert (answer.code, answer.out.partition(".")[0]) == (1, f"No column of {small} is included in another")


def test_keys(shop):
    answer = dovetail("keys", shop)
    assert answer.code == 0
    assert "sales/orders.csv (customer_id) → sales/customers.csv (customer_id)" in answer.out
    assert "all 20 values occur among its 20" in answer.out
    assert "stars" not in answer.out
    rows = dovetail("keys", shop, "--json").json
    assert len(rows) == 2
    assert all(row["reasons"] for row in rows)


def test_keys_of_a_least_score(shop):
    answer = dovetail("keys", shop, "--min-score", 1)
    assert answer.code == 1
    assert answer.out.startswith(f"No likely foreign key in {shop}. Try --min-score 0.8.")


def test_keys_to_a_file(shop, tmp_path):
    answer = dovetail("keys", shop, "-o", tmp_path / "keys.csv")
    assert answer.code == 0
    with (tmp_path / "keys.csv").open() as file:
        assert next(csv.DictReader(file))["reasons"]
    assert "\nsales/orders.csv,customer_id,sales/customers.csv,customer_id,1," in (tmp_path / "keys.csv").read_text()
    rows = len((tmp_path / "keys.csv").read_text().splitlines()) - 1
    found = dovetail("keys", shop, "-o", tmp_path / "keys.csv", "--json")
    assert found.json == {"rows": rows, "output": str(tmp_path / "keys.csv")}


def test_keys_of_some_tables(shop):
    every = dovetail("keys", shop, "--json").json
    some = dovetail("keys", shop, "sales/orders.csv", "--json").json
    assert some == [row for row in every if "sales/orders.csv" in (row["dependent_table"], row["referenced_table"])]
    assert 0 < len(some) < len(every)
    keys = dovetail("keys", shop, "sales/*", "--candidates", "--json").json
    assert {row["table"] for row in keys} == {"sales/countries.csv", "sales/customers.csv", "sales/orders.csv"}
    answer = dovetail("keys", shop, "sales")
    assert (answer.code, answer.err) == (1, f"No table of {shop} matches 'sales'. Try 'sales/*'.\n")


def test_path(shop):
    answer = dovetail("path", shop, "sales/orders.csv", "sales/countries.csv")
    assert answer.code == 0
    assert "sales/orders.csv – sales/customers.csv – sales/countries.csv" in answer.out
    assert 'JOIN "sales/countries.csv" AS t2 ON' in answer.out


def test_no_path(small):
    answer = dovetail("path", small, "people.csv", "old/log.csv")
    assert answer.code == 1
    assert "No path of likely foreign keys leads from people.csv to old/log.csv in 3 joins." in answer.out
    assert "Nor do other tables relate their texts." in answer.out


def test_graph(shop, tmp_path):
    answer = dovetail("graph", shop, "-o", tmp_path / "g.graphml")
    assert answer.code == 0
    assert "3 tables" in answer.err
    assert (tmp_path / "g.graphml").exists()
    assert dovetail("graph", shop, "--json").json["tables"] == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("inds", "-o", "x.txt"), "Cannot write .txt: use .json, .csv, .parquet."),
        (("inds", "--partial", "2"), "`partial` is a share above 0 and at most 1, not 2."),
        (("inds", "--coverage", "much"), "`coverage` is a share from 0 to 1, such as 0.9, not 'much'."),
        (("keys", "-o", "x"), "Cannot write a file without suffix: use .json, .csv, .parquet."),
        (("graph", "-o", "x.csv"), "Cannot write .csv: use .graphml, .json, .parquet, .mmd, .dbml, .html."),
        (("path", "people.csv", "cities.csv"), 'The index has no table "cities.csv". Did you mean "geo/cities.csv"?'),
    ],
)
def test_bad_input(small, arguments, sentence):
    verb, *rest = arguments
    answer = dovetail(verb, small, *rest)
    assert (answer.code, answer.out, answer.err) == (2, "", sentence + "\n")
