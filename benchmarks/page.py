"""Writes docs/benchmarks.md: the page of results that a person reads, from page.md and figures.json.

A figure is one line of a table. Where its `pattern` finds numbers in what its benchmark printed, `result` is filled in
with the least, the median and the largest of them, and kept as `measured` with the date and the commit; the others are
kept by hand.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
FIGURES, TEMPLATE = HERE / "figures.json", HERE / "page.md"
PAGE = HERE.parent / "docs" / "benchmarks.md"
TABLE = re.compile(r"^\{\{(\w[\w-]*)\}\}$", re.MULTILINE)
HEAD = "| What | On | Beside | Measured | Bar | Repeat |\n|---|---|---|---|---|---|\n"


def write_page(results: Path) -> None:
    """Take over what the benchmarks have printed, and write the page."""
    figures = json.loads(FIGURES.read_text())
    for figure in figures:
        place = results / f"{figure['benchmark']}.json"
        if "pattern" in figure and place.is_file():
            take_over(figure, json.loads(place.read_text()))
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page())


def take_over(figure: dict[str, Any], result: dict[str, Any]) -> None:
    """The numbers that a benchmark has printed, as the measured figure."""
    found = [float(number.replace(",", "")) for number in re.findall(figure["pattern"], result["output"])]
    if result["code"] == 0 and found:
        figure["measured"] = figure["result"].format(least=min(found), median=median(found), most=max(found))
        figure["when"] = f"{result['date']}, {result['commit']}"


def page() -> str:
    """The page as its template and the figures have it."""
    figures = json.loads(FIGURES.read_text())
    return TABLE.sub(lambda match: table(figures, match[1]), TEMPLATE.read_text())


def table(figures: list[dict[str, Any]], topic: str) -> str:
    return HEAD + "\n".join(line(figure) for figure in figures if figure["topic"] == topic)


def line(figure: dict[str, Any]) -> str:
    measured = f"**{figure['measured']}**" + (f" ({figure['interval']})" if figure.get("interval") else "")
    cells = (
        figure["what"],
        figure["data"],
        figure["peer"] or "–",
        measured,
        verdict(figure),
        f"`{figure['benchmark']}`",
    )
    return f"| {' | '.join(cells)} |"


def verdict(figure: dict[str, Any]) -> str:
    """The bar and whether it was met; without a bar, whether the peer is better."""
    if figure["bar"]:
        return f"{figure['bar']}: {'**missed**' if figure['lost'] else 'met'}"
    return "**behind**" if figure["lost"] else "–"
