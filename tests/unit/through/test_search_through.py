"""`search --by through`: tables that hold what belongs to my values, as other tables say."""

from __future__ import annotations

import pytest

from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.search.through import search as through_search
from support.command import dovetail as command
from support.pipeline import index, without_spark
from unit.through.conftest import write

MAKERS = [f"Maker {chr(65 + n % 26)}{chr(97 + n // 2)}" for n in range(40)]
GOODS = [f"good {n * 7919 % 997:03d} of its kind" for n in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search-through")
    made = list(zip(MAKERS, GOODS, strict=True))
    write(folder / "lake/makers.csv", "maker,product", made)
    write(folder / "lake/registry.csv", "firm,article", made[:30])
    write(folder / "lake/prices.csv", "good,price", [(good, 100 + 3 * n) for n, good in enumerate(reversed(GOODS))])
    write(folder / "lake/seats.csv", "firm,good,seat", [(a, b, f"town {n}") for n, (a, b) in enumerate(made)])
    write(folder / "lake/colours.csv", "colour", [(colour,) for colour in ("red", "green", "blue", "white")])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder


def test_tables_are_found_that_hold_what_belongs_to_my_values(folder):
    lake = Lake(folder / "idx")
    hits = lake.search({"who": MAKERS}, by="through")
    assert [(hit.table, hit.on, hit.columns) for hit in hits] == [("prices.csv", ("who",), ("good",))]
    hit = hits[0]
    assert {(pair.value, pair.partner) for pair in hit.mapping} == set(zip(MAKERS, GOODS, strict=True))
    assert (hit.overlap, hit.matched_rows, hit.joined_rows, hit.cardinality, hit.by) == (40, 40, 40, "1:1", "through")
    assert hit.probability > 0.5
    assert set(hit.bridges) >= {"makers.csv", "registry.csv"}
    joined = hit.join().to_pydict()
    assert set(zip(joined["who"], joined["good"], strict=True)) == set(zip(MAKERS, GOODS, strict=True))
    assert "of the 40 values of who have a partner" in hit.explain()


def test_tables_that_hold_my_values_themselves_are_no_hits(folder):
    hits = Lake(folder / "idx").search({"who": MAKERS}, by="through")
    assert not {"makers.csv", "registry.csv", "seats.csv"} & {hit.table for hit in hits}


def test_nothing_is_found_where_no_table_holds_both(folder):
    hits = Lake(folder / "idx").search({"colour": ["red", "green", "blue", "white"]}, by="through")
    assert not hits
    assert hits.nothing == "No table of the lake joins with colour of query through others."


def test_what_cannot_be_asked(folder):
    lake = Lake(folder / "idx")
    with pytest.raises(InputError, match="no text column"):
        lake.search({"n": [1, 2, 3]}, by="through")
    with pytest.raises(InputError, match="n of query holds no texts"):
        lake.search({"n": [1, 2, 3], "a": ["x", "y", "z"]}, "n", by="through")
    with pytest.raises(InputError, match="one column"):
        lake.search({"a": MAKERS, "b": GOODS}, ["a", "b"], by="through")
    with pytest.raises(InputError, match="threshold"):
        lake.search({"a": MAKERS}, by="through", threshold=0.5)


def test_the_printed_command_joins_it(folder, tmp_path):
    write(tmp_path / "mine.csv", "who,size", [(maker, n) for n, maker in enumerate(MAKERS)])
    found = command("search", tmp_path / "mine.csv", "--by", "through", "--index", folder / "idx")
    assert found.code == 0, found
    assert "prices.csv" in found.out
    assert "through makers.csv" in found.out
    assert "--on who=good --by through" in found.err


def test_spellings_are_compared_only_where_equal_values_are_promising(folder, monkeypatch):
    misspelled = [f"{maker} Ltd" if n % 4 == 0 else maker for n, maker in enumerate(MAKERS)]
    (hit,) = Lake(folder / "idx").search({"who": misspelled}, by="through")
    assert hit.overlap == 40  # three quarters of the makers are equal, which is promising
    monkeypatch.setattr(through_search, "_WORTH_COMPARING", 1.1)
    (hit,) = Lake(folder / "idx").search({"who": misspelled}, by="through")
    assert hit.overlap == 30
