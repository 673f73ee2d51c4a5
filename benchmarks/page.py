"""Writes docs/benchmarks.md: the page of results that a person reads, from page.md and figures.json.

A figure is one line of a table. Its `values` are what its `benchmark` recorded last (measured.py); `measured` has the
date, the commit and the load of the machine. The texts of the line (`data`, `peer`, `result`, `interval`) are format
strings over these values; the `bar` has conditions, and whether it was met is computed from them:

    "result": "{ratio:.2f} × its time",
    "bar": {"text": "at most {0} ×", "conditions": [{"value": "ratio", "at_most": 4}]}

A limit is a number, or the name of another value, such as that of a peer. A bar without a text says that the peer is
better. `beside` names a second benchmark, where that one measures the peer; `by_hand` says why no program can.
"""

from __future__ import annotations

import json
import operator
import re
from pathlib import Path
from string import Formatter
from typing import Any

from measured import Value

HERE = Path(__file__).resolve().parent
FIGURES, TEMPLATE = HERE / "figures.json", HERE / "page.md"
PAGE = HERE.parent / "docs" / "benchmarks.md"
TABLE = re.compile(r"^\{\{(\w[\w-]*)\}\}$", re.MULTILINE)
HEAD = "| What | On | Beside | Measured | Bar | Repeat |\n|---|---|---|---|---|---|\n"
TEXTS = ("data", "peer", "result", "interval")
CONDITIONS = {"at_least": operator.ge, "above": operator.gt, "at_most": operator.le, "below": operator.lt}

Figure = dict[str, Any]


class Numbers(Formatter):
    """Format strings over values; of a range both ends are formatted."""

    def format_field(self, value: Value, format_spec: str) -> str:
        ends = [format(each, format_spec) for each in (value if isinstance(value, list) else [value])]
        return " to ".join(dict.fromkeys(ends)).replace("-", "−")


def read_figures() -> list[Figure]:
    figures: list[Figure] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return figures


def write_page(results: Path) -> None:
    """Take over what the benchmarks have recorded, and write the page."""
    figures = read_figures()
    for figure in figures:
        places = [results / f"{figure[role]}.json" for role in ("benchmark", "beside") if role in figure]
        if all(place.is_file() for place in places):
            take_over(figure, *(json.loads(place.read_text(encoding="utf-8")) for place in places))
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def take_over(figure: Figure, result: dict[str, Any], *beside: dict[str, Any]) -> None:
    """What a benchmark has recorded, as the values of the figure; a benchmark that ended before it did changes nothing.

    A program that failed may have recorded values before, or fail because of them: they were measured all the same.
    """
    values = {name: value for each in (*beside, result) for name, value in each["values"].items()}
    names = names_of(figure)
    if "by_hand" not in figure and names <= set(values):
        figure["values"] = {name: values[name] for name in sorted(names)}
        figure["measured"] = {key: result[key] for key in ("date", "commit", "load")}


def names_of(figure: Figure) -> set[str]:
    """The values that a figure needs."""
    texts = (figure[text] for text in TEXTS if text in figure)
    found = {name for text in texts for _, name, _, _ in Numbers().parse(text) if name}
    for condition in figure.get("bar", {}).get("conditions", ()):
        found |= {name for name in condition.values() if isinstance(name, str)}
    return found | set(figure.get("plot", {}).get("values", ()))


def page() -> str:
    """The page as its template and the figures have it."""
    figures = read_figures()
    return TABLE.sub(lambda match: table(figures, match[1]), TEMPLATE.read_text(encoding="utf-8"))


def table(figures: list[Figure], topic: str) -> str:
    own = [figure for figure in figures if figure["topic"] == topic]
    return HEAD + "\n".join(map(line, own)) + "\n\n" + when(own)


def line(figure: Figure) -> str:
    measured = f"**{text(figure, 'result')}**" + (f" ({text(figure, 'interval')})" if "interval" in figure else "")
    benchmarks = [f"`{figure[role]}`" for role in ("benchmark", "beside") if role in figure]
    cells = (
        figure["what"],
        text(figure, "data"),
        text(figure, "peer") or "–",
        measured,
        verdict(figure),
        ", ".join(benchmarks),
    )
    return f"| {' | '.join(cells)} |"


def text(figure: Figure, name: str) -> str:
    """One of the texts of a figure, with its values."""
    return Numbers().vformat(figure[name], (), figure["values"])


def verdict(figure: Figure) -> str:
    """The bar and whether it was met; without a text, whether the peer is better."""
    bar = figure.get("bar")
    if bar is None:
        return "–"
    if not bar["text"]:
        return "–" if is_met(figure) else "**behind**"
    limits = [limit for condition in bar["conditions"] for kind, limit in condition.items() if kind in CONDITIONS]
    return f"{bar['text'].format(*limits)}: {'met' if is_met(figure) else '**missed**'}"


def is_met(figure: Figure) -> bool:
    """Whether all conditions of the bar hold, for both ends of a range."""
    return all(
        CONDITIONS[kind](end, bound)
        for condition in figure["bar"]["conditions"]
        for kind, limit in condition.items()
        if kind in CONDITIONS
        for end in ends_of(figure["values"][condition["value"]])
        for bound in ends_of(figure["values"][limit] if isinstance(limit, str) else limit)
    )


def ends_of(value: Value) -> list[float]:
    return value if isinstance(value, list) else [value]


def when(figures: list[Figure]) -> str:
    """When the lines of a table were measured, and which of them no program can repeat."""
    benchmarks: dict[str, dict[str, None]] = {}
    for figure in figures:
        if "by_hand" not in figure:
            benchmarks.setdefault(_stamp(figure["measured"]), {})[f"`{figure['benchmark']}`"] = None
    listed = [stamp if len(benchmarks) == 1 else f"{stamp}: {', '.join(of)}" for stamp, of in benchmarks.items()]
    hand = [figure for figure in figures if "by_hand" in figure]
    sentences = [f"Measured {'; '.join(listed)}."] if listed else []
    sentences += [f"*{figure['what']}*: by hand {_stamp(figure['measured'])}, {figure['by_hand']}." for figure in hand]
    return " ".join(sentences)


def _stamp(measured: dict[str, Any]) -> str:
    if "commit" not in measured:
        return f"in {measured['date']}"
    return f"on {measured['date']} at {measured['commit']}, load {measured['load']}"
