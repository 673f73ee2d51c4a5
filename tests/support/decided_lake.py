"""A small lake in which a person may want to decide: flights, games of teams, and people with addresses."""

from __future__ import annotations

import shutil
from pathlib import Path

from dovetail.api.lake import Lake
from support.pipeline import index, without_spark

AIRPORTS = ["ZRH", "BER", "CDG", "LHR", "VIE", "MAD", "FCO", "ARN", "OSL", "HEL", "LIS", "DUB"]
CARRIERS = {"LX": "Swiss", "LH": "Lufthansa", "AF": "France", "BA": "British", "OS": "Austria", "IB": "Iberia"}
SEASONS = [(year, f"club {n}") for year in range(1990, 2000) for n in range(8) if (year + n) % 5]
PEOPLE = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth",
          "Niklaus Wirth", "Tony Hoare", "John Backus", "Frances Allen"]  # fmt: skip


def _csv(header: str, rows: list[tuple[object, ...]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


FILES = {
    "flights.csv": _csv(
        "flight,origin,dest,carrier",
        [(f"F{100 + 7 * n}", AIRPORTS[n % 12], AIRPORTS[(5 * n + 3) % 12], list(CARRIERS)[n % 6]) for n in range(60)],
    ),
    "airports.csv": _csv("code,city", [(code, f"City of {code}") for code in AIRPORTS]),
    "carriers.csv": _csv("carrier,airline", list(CARRIERS.items())),
    "teams.csv": _csv("year,team,coach", [(y, t, f"Coach {y % 3} of {t}") for y, t in SEASONS]),
    "games.csv": _csv("game,year,team", [(f"g{n}", y, t) for n, (y, t) in enumerate(SEASONS * 2)]),
    "staff.csv": _csv("name,room", [(name, f"R{n}") for n, name in enumerate(PEOPLE)]),
    "emails.csv": _csv("email,quota", [(f"{n.lower().replace(' ', '.')}@lab.org", n.count("a")) for n in PEOPLE]),
    "letters.csv": _csv("addressee,pages", [(name.replace("a", "aa"), 3 * n % 7) for n, name in enumerate(PEOPLE)]),
}


def make_index(folder: Path) -> Path:
    (folder / "lake").mkdir()
    for name, text in FILES.items():
        (folder / "lake" / name).write_text(text, encoding="utf-8")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


def copied(made: Path, folder: Path) -> Lake:
    """The index in another folder, to decide something in it."""
    return Lake(shutil.copytree(made, folder / "idx"))
