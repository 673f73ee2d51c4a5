"""Kernels give the same answers as Python and as machine code, whatever is asked: which of them runs is chance."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dovetail
from support.both_forms import compare_both_forms
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE

TABLES = (
    "geo/countries.csv", "geo/us-states.csv", "economy/state-population.csv", "transport/airlines.csv",
    "society/heads-of-government.csv",
)  # fmt: skip


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for table in TABLES:
        path = tmp_path / "lake" / table
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SAMPLE_LAKE / table, path)
    (tmp_path / "lake" / "mine.csv").write_text(
        "land,leader,state\n" + "".join(f"{land},x,AL-{n}\n" for n, land in enumerate(("france", "Peru", "Chile")))
    )
    return tmp_path / "lake"


@pytest.mark.full
def test_every_kernel_of_a_walk(lake, tmp_path, monkeypatch):
    for index in ("josie", "lsh_ensemble"):  # their kernels that measure costs run as well
        monkeypatch.setattr(f"dovetail.indexes.{index}.build.WORTH_MEASURING", 0)
    calls = compare_both_forms(monkeypatch)
    with without_spark():
        dovetail.index(lake, tmp_path / "idx")
    opened = dovetail.open(tmp_path / "idx")
    mine = str(lake / "geo/us-states.csv")
    opened.search(mine)
    opened.search(mine, on="name", threshold=0.5)
    opened.search(mine, on="name", threshold=0.5, fast=True)
    opened.search(mine, on=["name", "abbr"])
    for method in ("semantic", "transform", "parts", "through"):
        opened.search(mine, on="name", by=method)
    opened.union(mine)
    opened.inds()
    opened.foreign_keys()
    dovetail.predicates(mine, str(lake / "economy/state-population.csv"))
    for method in (None, "similar", "transform"):
        dovetail.join(mine, str(lake / "economy/state-population.csv"), by=method)
    opened.join(str(lake / "mine.csv"), "geo/countries.csv")
    dovetail.verify(tmp_path / "idx")
    assert len(calls) > 100, sorted(calls)
