"""A made-up lake in which several tables know the capitals of countries, and some know something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.api.lake import Lake
from support.pipeline import index, without_spark

CAPITALS = {
    "Arvania": "Port Sable", "Belgonia": "Grünfeld", "Corvia": "Santa Mira", "Dorland": "Westholm",
    "Estavia": "Kirkowo", "Fenwick": "Old Harbour", "Gaspar": "Villanova", "Hestia": "Nordmark",
}  # fmt: skip
PARTS = {name: "North" if place < 3 else "South" for place, name in enumerate(CAPITALS)}


def write(path: Path, header: str, rows: list[tuple[object, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def lake_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("through")
    names = list(CAPITALS)
    lake = folder / "lake"
    write(lake / "atlas/capitals.csv", "country,capital,area", [(n, CAPITALS[n], 10 + i) for i, n in enumerate(names)])
    write(lake / "news/embassies.csv", "nation,seat", [(n, CAPITALS[n]) for n in names[:5]])
    write(lake / "travel/airports.csv", "land,town", [(n.upper(), CAPITALS[n].lower()) for n in names[3:]])
    # A table that is wrong about one country, and one that holds both columns without a relation.
    wrong = [(n, CAPITALS["Corvia"] if n == "Dorland" else CAPITALS[n]) for n in names[:6]]
    write(lake / "quiz/answers.csv", "question,answer", wrong)
    write(lake / "sport/fixtures.csv", "home,venue", [(a, b) for a in names for b in CAPITALS.values()])
    write(lake / "atlas/parts.csv", "country,part", [(n, PARTS[n]) for n in names])
    # Daily reports that repeat one mistake: near-copies vote once.
    for day in range(9):
        write(lake / f"daily/{day}.csv", "state,main city", [("Fenwick", "Westholm"), ("Gaspar", "Villanova")])
    with without_spark():
        index(lake, folder / "idx")
    return folder


@pytest.fixture(scope="session")
def lake(lake_folder: Path) -> Lake:
    return Lake(lake_folder / "idx")
