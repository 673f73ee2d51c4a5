"""Draws how costs grow with the number of tables: one search of each kind, and whole commands, each on two logarithms.

python benchmarks/growth/picture.py DIR/growth.jsonl --shape web -o growth.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

SEARCHES = {
    "one column": "by one column", "several columns": "by several columns", "semantic": "by similar values",
    "transform": "after a transformation", "nothing said": "with nothing said", "through": "through the lake",
}  # fmt: skip
COMMANDS = {step: step for step in ("index", "compact", "inds", "keys")}


def draw(found: list[dict[str, Any]], file: Path) -> None:
    """Two panels: CPU milliseconds of a search, CPU seconds of a command; a dashed line grows as the tables do."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "dovetail", "svg.fonttype": "none", "font.size": 9}
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    panels = (
        (left, SEARCHES, "median_ms", "CPU ms of a search, median"),
        (right, COMMANDS, "cpu_seconds", "CPU seconds of a command"),
    )
    for axes, steps, key, title in panels:
        for step, label in steps.items():
            points = sorted((line["tables"], line[key]) for line in found if line["step"] == step)
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, linewidth=1.6, label=label)
        sizes = sorted({line["tables"] for line in found})
        floor = axes.get_ylim()[1] / sizes[-1]
        axes.plot(sizes, [floor * size for size in sizes], "--", color="#999999", linewidth=1, label="as the tables")
        axes.set(xscale="log", yscale="log", xlabel="tables", title=title)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the growth.jsonl of run.py")
    parser.add_argument("--shape", default="web")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    found = [json.loads(line) for line in given.results.read_text().splitlines()]
    draw([line for line in found if line["shape"] == given.shape], given.output)


if __name__ == "__main__":
    main()
