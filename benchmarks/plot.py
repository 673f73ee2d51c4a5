"""Draws the pictures of docs/benchmarks.md from figures.json: how fast beside the peer, and how often right.

A figure is drawn if it has a `plot`: its kind, its label, and the values that are shown; the bar is that of the first.
The same values give the same picture, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page import CONDITIONS, PAGE, Figure, ends_of, is_met, read_figures

IMAGES = PAGE.parent / "images"
BAR = "#555555"
STYLES = {True: {"color": "#2f6f9f", "marker": "o"}, False: {"color": "#c2541b", "marker": "D"}}
"""Of figures that met their bar, and of those that did not: by shape as well as by colour."""
_ROW = 0.27  # inches for each line of a picture
_TICKS = {"speed": (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 300, 1000), "quality": (0, 0.2, 0.4, 0.6, 0.8, 1.0)}


@dataclass(frozen=True)
class Line:
    """One figure: where its dot is, how far it reaches, and where its bar is."""

    label: str
    dot: float
    low: float
    high: float
    bar: float | None
    met: bool


@dataclass(frozen=True)
class Picture:
    file: Path
    kinds: tuple[str, ...]
    scale: str
    title: str


PICTURES = (
    Picture(IMAGES / "benchmarks-speed.svg", ("speed", "time"), "log", "Times as fast as the peer"),
    Picture(IMAGES / "benchmarks-quality.svg", ("quality",), "linear", "Share that is right (1 is perfect)"),
)


def lines_of(picture: Picture, figures: list[Figure]) -> list[Line]:
    return [line_of(figure) for figure in figures if figure.get("plot", {}).get("kind") in picture.kinds]


def line_of(figure: Figure) -> Line:
    plot, values = figure["plot"], figure["values"]
    ends = [end for name in plot["values"] for end in ends_of(values[name])]
    first = ends_of(values[plot["values"][0]])
    dot, bar = first[0], _bar_of(figure, plot["values"][0])
    if plot["kind"] == "time":  # times its time: the other way round
        dot, bar, ends = 1 / first[-1], 1 / bar if bar else None, [1 / end for end in ends]
    return Line(plot["label"], dot, min(ends), max(ends), bar, "bar" not in figure or is_met(figure))


def _bar_of(figure: Figure, name: str) -> float | None:
    """The limit of a value, where it has one."""
    for condition in figure.get("bar", {}).get("conditions", ()):
        if condition["value"] == name:
            (limit,) = (limit for kind, limit in condition.items() if kind in CONDITIONS)
            return float(figure["values"][limit] if isinstance(limit, str) else limit)
    return None


def digest(picture: Picture, figures: list[Figure]) -> str:
    """What a picture was drawn from; it is written into the file, so that a test can tell an old one."""
    drawn: list[Any] = [picture.kinds, picture.scale, picture.title]
    drawn += [list(vars(line).values()) for line in lines_of(picture, figures)]
    return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()[:16]


def draw() -> None:
    """All pictures; without matplotlib they stay as they are, and that is said."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        print("The pictures were not drawn: they need matplotlib (pip install -e '.[benchmarks]').")
        return
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "dovetail", "svg.fonttype": "none", "font.size": 9}
    figures = read_figures()
    for picture in PICTURES:
        _draw(picture, lines_of(picture, figures), digest(picture, figures))


def _draw(picture: Picture, lines: list[Line], mark: str) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    figure, axes = plt.subplots(figsize=(8, 1.1 + _ROW * len(lines)), layout="constrained")
    for place, line in enumerate(lines):
        style = STYLES[line.met]
        axes.plot([line.low, line.high], [place, place], color=style["color"], linewidth=2.2, solid_capstyle="round")
        axes.plot(line.dot, place, **style, markersize=5.5)
        if line.bar is not None:
            axes.plot(line.bar, place, "|", color=BAR, markersize=11, markeredgewidth=1.6)
    axes.set(xscale=picture.scale, ylim=(len(lines) - 0.4, -0.6), xlabel=picture.title)
    ticks = _TICKS[picture.kinds[0]]
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(lines)), [line.label for line in lines])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    if picture.scale == "log":
        axes.axvline(1, color="#999999", linewidth=1)
    axes.spines[["top", "right", "left"]].set_visible(False)
    handles = [
        Line2D([], [], **STYLES[True], linewidth=2.2, label="bar met"),
        Line2D([], [], **STYLES[False], linewidth=2.2, label="bar missed, or behind"),
        Line2D([], [], color=BAR, marker="|", markersize=11, markeredgewidth=1.6, linewidth=0, label="bar"),
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=3, frameon=False)
    figure.savefig(picture.file, metadata={"Date": None, "Description": mark})
    plt.close(figure)
