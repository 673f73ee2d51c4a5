"""A threshold finds all tables that contain a share of the values, whether or not a column is named."""

from __future__ import annotations

import pandas as pd
import pytest

import dovetail
from support.pipeline import index, without_spark

NAMES = [f"person {number}" for number in range(12)]
ALL = {f"lists/{number:03}.csv" for number in range(40)} | {f"editions/{year}.csv" for year in range(1990, 2010)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Forty lists that have nothing but ten of the names in common, and twenty editions of one table."""
    folder = tmp_path_factory.mktemp("threshold")
    for table in sorted(ALL):
        path = folder / "lake" / table
        path.parent.mkdir(parents=True, exist_ok=True)
        header = f"who_{path.stem},n{path.stem}" if table.startswith("lists") else "name,age"
        rows = [f"{name},{int(path.stem) * 1000 + place}" for place, name in enumerate(NAMES[:10])]
        path.write_text("\n".join([header, *rows]) + "\n")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return dovetail.Lake(folder / "idx")


QUERY = {"name": NAMES, "height": [float(place) / 7 for place in range(12)]}


@pytest.mark.parametrize("on", [None, "name"])
@pytest.mark.parametrize("fast", [False, True])
def test_all_tables_that_reach_the_threshold_are_hits(lake, on, fast):
    hits = lake.search(QUERY, on, threshold=0.8, fast=fast)
    assert {hit.table for hit in hits} == ALL
    assert len(hits) == len(ALL)
    assert all(hit.overlap == 10 and not hit.copies for hit in hits)
    assert hits.note == ""
    assert not lake.search(QUERY, on, threshold=0.9)


@pytest.mark.parametrize("on", [None, "name"])
def test_folded_near_copies_are_named(lake, on):
    hits = lake.search(QUERY, on, threshold=0.8, copies=False)
    assert len(hits) == 41
    assert sorted(table for hit in hits for table in (hit.table, *hit.copies)) == sorted(ALL)


def test_ties_at_the_limit_are_cut_after_they_are_ordered(tmp_path):
    """Tables called first by the alphabet repeat each name ten times; the last two have each once."""
    for table in [f"a{number:02}" for number in range(12)] + ["z_one", "z_two"]:
        rows = [f"{name},{place}" for place, name in enumerate(NAMES * (1 if table > "z" else 10))]
        (tmp_path / f"{table}.csv").write_text("\n".join([f"who_{table},n", *rows]) + "\n")
    with without_spark():
        index(tmp_path, tmp_path / "idx", tables=("*.csv",))
    hits = dovetail.Lake(tmp_path / "idx").search(NAMES, k=3, copies=True)
    assert [hit.table for hit in hits] == ["z_one.csv", "z_two.csv", "a00.csv"]


@pytest.mark.parametrize("on", [None, "name"])
def test_a_limit_says_how_many_it_leaves_out(lake, on):
    hits = lake.search(QUERY, on, k=7, threshold=0.1)
    assert len(hits) == 7
    assert hits.note == "60 hits reach the threshold; these are the first 7."
    assert hits.to_json()["note"] == hits.note


@pytest.mark.parametrize(
    "values",
    [NAMES, tuple(NAMES), set(NAMES), pd.Series(NAMES), pd.Series(NAMES, name="who")],
    ids=lambda values: type(values).__name__,
)
def test_a_list_of_values_is_its_own_column(lake, values):
    named = lake.search(values, on=getattr(values, "name", None) or "values", k=5)
    hits = lake.search(values, k=5)
    assert hits
    assert [(hit.table, hit.overlap) for hit in hits] == [(hit.table, hit.overlap) for hit in named]
    assert all(hit.probability is None for hit in hits), "as for a column that is named"
    assert [hit.table for hit in list(lake.search_iter(values, k=5))[-1]] == [hit.table for hit in hits]
    (answer,) = lake.search_many({"mine": values}, k=5)
    assert [hit.table for hit in answer.hits] == [hit.table for hit in hits]


def test_a_list_that_no_table_contains_is_answered_as_a_named_column(lake):
    hits = lake.search(["nobody", "somebody"])
    assert hits.nothing == "No column of the lake shares a value with values of query."
