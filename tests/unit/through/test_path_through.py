"""`path` between tables that only others relate."""

from __future__ import annotations

import json

import duckdb
import pytest

from dovetail.api.lake import Lake
from support.command import dovetail as command
from support.pipeline import index, without_spark
from unit.through.conftest import write

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAKERS = [f"{LETTERS[n % 26]}{LETTERS[n * 7 % 26]}{LETTERS[n * 11 % 23]}ton works" for n in range(60)]
THINGS = [f"{LETTERS[n * 5 % 26]}{LETTERS[n * 3 % 26]}{LETTERS[n * 13 % 19]} tonic" for n in range(60)]


@pytest.fixture(scope="module")
def idx(tmp_path_factory):
    """Two lists and two tables that relate them, each of them partly, so that nothing includes anything."""
    folder = tmp_path_factory.mktemp("paths")
    write(folder / "lake/firms.csv", "firm,staff", [(m.upper(), 40 + n * n) for n, m in enumerate(MAKERS[:50])])
    write(folder / "lake/goods.csv", "good,price", [(t, 9000 - 17 * n) for n, t in enumerate(THINGS[:50])])
    pairs = list(zip(MAKERS, THINGS, strict=True))
    write(folder / "lake/sales.csv", "by,of", [*pairs[10:], *pairs[10:]])
    write(folder / "lake/trials.csv", "lab,probe", [*pairs[:30], *pairs[55:]])
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


def through(paths):
    return next((path for path in paths if path.to_dict()["joins"][0]["bridges"]), None)


def test_a_path_may_lead_through_tables_that_hold_values_of_both(idx):
    path = through(Lake(idx).paths("firms.csv", "goods.csv"))
    assert path is not None
    assert path.tables == ["firms.csv", "goods.csv"]
    step = path.to_dict()["joins"][0]
    assert (step["dependent_columns"], step["referenced_columns"]) == (["firm"], ["good"])
    assert {bridge["table"] for bridge in step["bridges"]} == {"sales.csv", "trials.csv"}
    assert step["cardinality"] == "1:1"
    assert 0.5 <= path.score <= 1
    with duckdb.connect() as connection:
        for name in ("firms", "goods", "sales"):
            connection.execute(f"""CREATE TABLE "{name}.csv" AS FROM '{idx.parent}/lake/{name}.csv'""")
        rows = connection.sql(path.sql()).fetchall()
    assert {(row[0].lower(), row[-2]) for row in rows} == set(list(zip(MAKERS, THINGS, strict=True))[10:50])
    assert len(rows) == 40, "each once, though the bridge repeats its rows"


def test_the_command_line_names_the_step(idx):
    ask = ("path", "firms.csv", "goods.csv", "--index", str(idx))
    answer = command(*ask)
    assert answer.code == 0, answer
    assert "firms.csv (firm) = goods.csv (good), through 2 tables of the lake, e.g. sales.csv: 50 pairs" in answer.out
    assert "--by through --mapping FILE" in answer.out
    joins = [path["joins"] for path in json.loads(command(*ask, "--json").out)]
    assert any(step["bridges"] for steps in joins for step in steps)


def test_what_a_person_rejected_is_no_path(idx):
    lake = Lake(idx)
    lake.decide("firms.csv", "goods.csv", "firm=good", "never")
    try:
        assert through(lake.paths("firms.csv", "goods.csv")) is None
    finally:
        lake.forget("firms.csv", "goods.csv", "firm=good")


def test_a_direct_foreign_key_needs_no_others(idx):
    lake = Lake(idx)
    lake.decide("firms.csv", "goods.csv", "staff=price", "joins")
    try:
        found = lake.paths("firms.csv", "goods.csv")
        assert found
        assert through(found) is None
    finally:
        lake.forget("firms.csv", "goods.csv", "staff=price")
