"""A small shop: three tables that refer to each other, one that only looks so, in as many segments as asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dovetail.api.lake import Lake
from support.pipeline import UNMERGED, index, without_spark

COUNTRIES = {"CH": "Switzerland", "DE": "Germany", "FR": "France", "IT": "Italy", "AT": "Austria", "ES": "Spain"}
SHOP = {
    "customers.csv": "customer_id,name,country\n"
    + "".join(f"{100 + 7 * n},Customer {n} of ours,{code}\n" for n, code in enumerate([*COUNTRIES, "CH", "DE", "FR"])),
    "countries.csv": "code,country name\n" + "".join(f"{code},{name}\n" for code, name in COUNTRIES.items()),
    "orders.csv": "order_id,customer_id,total\n"
    + "".join(f"{5000 + 3 * n},{100 + 7 * (n % 9)},{n}.50\n" for n in range(30)),
    "notes.csv": "id,stars\n" + "".join(f"{n},{n % 5}\n" for n in range(40)),
}


def make_lake(folder: Path, files: Mapping[str, str], one_by_one: bool = False) -> Lake:
    """With `one_by_one`, every table has a segment of its own."""
    (folder / "lake").mkdir()
    with without_spark():
        for name, text in files.items():
            (folder / "lake" / name).write_text(text, encoding="utf-8")
            if one_by_one:
                index(folder / "lake", folder / "idx", settings=UNMERGED)
        index(folder / "lake", folder / "idx", settings=UNMERGED)
    return Lake(folder / "idx")


@pytest.fixture
def lake_of(tmp_path: Path) -> Callable[..., Lake]:
    """A lake of files by name."""

    def make(files: Mapping[str, str], folder: str = ".", **options: bool) -> Lake:
        (tmp_path / folder).mkdir(exist_ok=True)
        return make_lake(tmp_path / folder, files, **options)

    return make


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return make_lake(tmp_path_factory.mktemp("shop"), SHOP)
