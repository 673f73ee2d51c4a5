"""Tables of a lake that continue mine are found, aligned, named and told from tables to join."""

from __future__ import annotations

import random
import re

import pyarrow.parquet as pq
import pytest

import dovetail
from dovetail.errors import DovetailError
from support import command
from support.pipeline import without_spark

CITIES = ["Zürich", "Bern", "Basel", "Genf", "Lausanne", "Winterthur", "Luzern", "Chur", "Sion", "Thun"]
GOODS = ["apples", "pears", "plums", "cherries", "quinces"]
BOOKS = ["Emma", "Ulysses", "Dracula", "Walden", "Beloved", "Kim", "Hamlet", "Faust", "Candide", "Persuasion"]


def sales(year: int, rows: int = 40) -> list[dict[str, object]]:
    draw = random.Random(year)
    return [
        {
            "invoice": f"{year}-{number:04}",
            "city": draw.choice(CITIES),
            "product": draw.choice(GOODS),
            "kilograms": draw.randint(1, 400),
        }
        for number in range(rows)
    ]


def write(path, rows, names=None, delimiter=","):
    names = names or {name: name for name in rows[0]}
    lines = [delimiter.join(names.values()), *(delimiter.join(str(row[name]) for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("union")


@pytest.fixture(scope="module")
def lake(folder):
    tables = folder / "lake"
    tables.mkdir()
    write(tables / "sales-2021.csv", sales(2021))
    write(
        tables / "x7.csv", sales(2022), {"product": "product", "kilograms": "kg", "city": "CITY", "invoice": "inv"}, ";"
    )
    write(tables / "copy.csv", sales(2023))
    write(tables / "longer.csv", sales(2023) + sales(2020, 30))
    write(tables / "cities.csv", [{"city": city, "altitude": 400 + 7 * place} for place, city in enumerate(CITIES)])
    books = [{"title": title, "year": 1800 + 13 * place, "pages": 99 + place} for place, title in enumerate(BOOKS)]
    write(tables / "books.csv", books)
    with without_spark():
        dovetail.index(tables, folder / "idx")
    return dovetail.open(folder / "idx")


@pytest.fixture(scope="module")
def mine(folder):
    return write(folder / "sales-2023.csv", sales(2023))


def test_what_continues_mine_is_found_and_aligned(lake, mine):
    hits = {hit.table: hit for hit in lake.union(mine)}
    assert {"sales-2021.csv", "x7.csv", "copy.csv", "longer.csv"} <= set(hits)
    likely = {table: hit.probability for table, hit in hits.items()}
    assert all(likely[table] > max(likely.get("cities.csv", 0), likely.get("books.csv", 0)) for table in
               ("sales-2021.csv", "x7.csv"))  # fmt: skip
    pairs = {(pair.mine, pair.theirs) for pair in hits["x7.csv"].columns}
    assert pairs == {("invoice", "inv"), ("city", "CITY"), ("product", "product"), ("kilograms", "kg")}


def test_copies_and_versions_are_named(lake, mine):
    hits = {hit.table: hit for hit in lake.union(mine)}
    assert (hits["copy.csv"].relation, hits["copy.csv"].common_rows) == ("copy", 40)
    assert (hits["longer.csv"].relation, hits["longer.csv"].common_rows) == ("version", 40)
    assert (hits["sales-2021.csv"].relation, hits["sales-2021.csv"].common_rows) == (None, 0)
    assert "a copy of yours" in hits["copy.csv"].explain()


def test_a_hit_appends_its_rows(lake, mine):
    (hit,) = (hit for hit in lake.union(mine) if hit.table == "x7.csv")
    table = hit.append()
    assert table.column_names == ["invoice", "city", "product", "kilograms", "origin"]
    assert table["invoice"].to_pylist() == [row["invoice"] for row in (*sales(2023), *sales(2022))]
    assert table["kilograms"].to_pylist() == [row["kilograms"] for row in (*sales(2023), *sales(2022))]


def test_my_own_table_is_no_hit(lake):
    assert "copy.csv" not in {hit.table for hit in lake.union("copy.csv")}
    assert "copy.csv" in {hit.table for hit in lake.union("copy.csv", include_self=True)}
    assert {hit.table for hit in lake.union("copy.csv", tables="x*")} == {"x7.csv"}
    assert len(lake.union("copy.csv", 1)) == 1
    with pytest.raises(DovetailError, match="`k` is 0"):
        lake.union("copy.csv", 0)


def test_search_tells_a_union_from_a_join(lake, mine):
    told = {hit.table: hit.rather for hit in lake.search(mine, min_overlap=2)}
    assert told["cities.csv"] == "join"
    assert told["sales-2021.csv"] == told["x7.csv"] == "union"
    (named,) = lake.search(mine, on="city", k=1)
    assert (named.union, named.rather) == (None, "join")


def test_search_names_other_tables_to_append(lake, folder):
    """A table with the columns of others, but no value that joins."""
    draw = random.Random(1)
    other = [
        {"invoice": f"n-{n}", "city": f"Ort {n}", "product": f"tool {n}", "kilograms": n * 7 + 1000} for n in range(30)
    ]
    draw.shuffle(other)
    mine = write(folder / "sales-1999.csv", other)
    hits = lake.search(mine)
    assert not hits
    named = {each.table: each.probability for each in hits.to_append}
    assert {"sales-2021.csv", "longer.csv"} <= set(named)
    assert "books.csv" not in named and min(named.values()) > 0.5
    assert list(named.values()) == sorted(named.values(), reverse=True)
    said = command.dovetail("search", mine, "--index", folder / "idx")
    assert said.code == 0
    assert f"To append rather than join: {hits.to_append[0].table} (" in said.err
    assert f"Try:  dovetail union {mine} {hits.to_append[0].table} --index" in said.err
    assert "To append" in repr(hits) and "To append" in hits._repr_html_()
    assert lake.search(mine, on="city").to_append == ()
    assert {each.table for each in lake.search(mine, tables="x*").to_append} <= {"x7.csv"}


def test_search_offers_no_hit_twice(lake, mine):
    hits = lake.search(mine)
    assert not {hit.table for hit in hits} & {each.table for each in hits.to_append}
    asked = command.dovetail("search", mine, "--index", lake.info()["path"])
    assert (hits[0].rather == "union") == ("Try:  dovetail union" in asked.err)


def test_from_the_command_line(lake, mine, folder, tmp_path):
    index = ("--index", folder / "idx")
    answer = command.dovetail("union", mine, *index)
    assert answer.code == 0
    assert re.search(r"Try: .*dovetail union", answer.out + answer.err)
    hits = command.dovetail("union", mine, *index, "--json").json["hits"]
    assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
    assert "could be appended" in command.dovetail("union", mine, *index, "--explain", 1).out
    out = tmp_path / "out.parquet"
    written = command.dovetail("union", mine, "x7.csv", "sales-2021.csv", *index, "-o", out, "--json").json
    assert (written["rows"], written["output"]) == (120, str(out))
    assert (
        pq.read_table(out)["origin"].to_pylist() == ["sales-2023.csv"] * 40 + ["x7.csv"] * 40 + ["sales-2021.csv"] * 40
    )


def test_plain_files_need_no_index(mine, tmp_path):
    other = write(tmp_path / "other.csv", sales(2019))
    printed = command.dovetail("union", mine, other, "-o", "-")
    assert printed.out.splitlines()[0] == "invoice,city,product,kilograms,origin"
    assert len(printed.out.splitlines()) == 81
    assert command.dovetail("union", mine, other).out.startswith("80 rows of 2 tables under 4 columns.")
    assert command.dovetail("union", mine, "-o", tmp_path / "x.csv").code == 2


def test_nothing_to_append(lake, folder, tmp_path):
    stranger = tmp_path / "stranger.csv"
    stranger.write_text("planet,moons\nMars,2\nJupiter,95\nSaturn,146\n")
    answer = command.dovetail("union", stranger, "--index", folder / "idx")
    assert (answer.code, answer.out) == (1, "No table of the lake has rows that could be appended to stranger.csv.\n")
