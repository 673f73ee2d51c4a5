"""Hits are ranked by what their columns add to predicting a column of mine."""

from __future__ import annotations

import random

import pandas as pd
import pytest

import dovetail
from dovetail.errors import InputError
from support import command
from support.pipeline import without_spark

TOWNS = [f"{first}{last}" for first in ("Ober", "Nieder", "Alt", "Neu", "Hoch", "Bad ") for last in (
    "berg", "tal", "dorf", "wil", "feld", "bach", "au", "see", "stein", "hausen")]  # fmt: skip
DRAW = random.Random(3)
INCOME = {town: DRAW.randint(20, 90) for town in TOWNS}
FLATS = pd.DataFrame(
    [
        {"town": town, "rooms": rooms, "price": 10 * INCOME[town] + 30 * rooms + DRAW.randint(0, 20)}
        for town in TOWNS
        for rooms in (1, 2, 3, 4)
    ]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    (folder / "lake").mkdir()
    tables = {
        "income": {
            "town": TOWNS,
            "income": [INCOME[town] for town in TOWNS],
            "mayor": [f"Mayor {n}" for n in range(60)],
        },
        "weather": {"town": TOWNS, "rain": [DRAW.randint(0, 99) for _ in TOWNS]},
        "copy": {"town": FLATS["town"], "asked": FLATS["price"]},
    }
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(folder / "lake" / f"{name}.csv", index=False)
    FLATS.to_csv(folder / "flats.csv", index=False)
    with without_spark():
        dovetail.index(folder / "lake", folder / "idx")
    return folder


@pytest.mark.parametrize("on", [None, "town"])
def test_the_table_that_explains_most_comes_first(folder, on):
    first, *others = dovetail.open(folder / "idx").search(FLATS, on, target="price", min_overlap=2)
    assert (first.rank, first.table, first.helps[0].column) == (1, "income.csv", "income")
    assert first.gain > 0.5
    weather = next(hit for hit in others if hit.table == "weather.csv")
    assert weather.gain < 0.05
    assert "explains" in first.explain()


def test_classes_are_predicted_too(folder):
    rich = FLATS.assign(quarter=["rich" if INCOME[town] > 55 else "poor" for town in FLATS["town"]]).drop(
        columns="price"
    )
    first = dovetail.open(folder / "idx").search(rich, "town", target="quarter")[0]
    assert (first.table, first.helps[0].column) == ("income.csv", "income")


def test_from_the_command_line(folder):
    arguments = ("search", folder / "flats.csv", "--on", "town", "--target", "price", "--index", folder / "idx")
    hits = command.dovetail(*arguments, "--json").json["hits"]
    assert hits[0]["helps"][0]["column"] == "income"
    assert "more" in command.dovetail(*arguments).out


def test_targets_that_cannot_be(folder):
    lake = dovetail.open(folder / "idx")
    with pytest.raises(InputError, match="cannot be predicted"):
        lake.search(FLATS.head(5), target="price")
    with pytest.raises(InputError, match="`target` does not go with"):
        lake.search(FLATS, "town", by="semantic", target="price")
    assert command.dovetail("search", folder / "flats.csv", "--target", "pric", "--index", folder / "idx").code == 2
