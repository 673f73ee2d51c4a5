"""How time and memory grow with the lake: shares of its tables over a hundredfold, and the lake twice.

    python benchmarks/indexing/growth.py --lake DIR [--sizes 5] [--plot growth.svg] [--report FILE]

Each share holds tables of all sizes, as the whole does. Time is that of the command without Spark's start.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lakes import copies, lake_bytes, share, warm
from reporting import emit, machine, markdown_table
from sides import Build, add_common_options, index, settings_options

_SMALLEST = 0.01


@dataclass(frozen=True)
class Point:
    """One size of lake, and what indexing it took."""

    label: str
    bytes: int
    build: Build

    @property
    def megabytes(self) -> float:
        return self.bytes / 1e6

    @property
    def seconds(self) -> float:
        return self.build.own_seconds

    @property
    def peak_megabytes(self) -> float:
        return self.build.usage.peak_bytes / 1e6


def shares(number: int) -> list[float]:
    """`number` shares from a hundredth to the whole, each the same factor larger: 1%, 3%, 10%, 32%, 100%."""
    return [_SMALLEST ** (1 - step / (number - 1)) for step in range(number)]


def measure(command: str, lake: Path, work: Path, sizes: int, options: tuple[str, ...]) -> list[Point]:
    warm(lake)
    place = work / "lake"
    points = [_point(command, f"{part:.0%}", share(lake, part, place), work, options) for part in shares(sizes)]
    points.append(_point(command, "200%", copies(lake, 2, place), work, options))
    return points


def _point(command: str, label: str, lake: Path, work: Path, options: tuple[str, ...]) -> Point:
    """Index a lake that is there for this only; it is removed afterwards."""
    to = work / "index"
    point = Point(label, lake_bytes(lake), index(command, lake, to, options))
    shutil.rmtree(lake)
    shutil.rmtree(to)
    return point


def line(points: list[Point]) -> tuple[float, float]:
    """(seconds whatever the size, seconds for a megabyte) that fit best, by least squares of relative errors."""
    seconds = np.array([point.seconds for point in points])
    megabytes = np.array([point.megabytes for point in points])
    found = np.linalg.lstsq(np.stack([1 / seconds, megabytes / seconds], axis=1), np.ones(len(points)))[0]
    return float(found[0]), float(found[1])


def farthest(points: list[Point]) -> float:
    """The largest relative distance of a measured time from the line."""
    fixed, each = line(points)
    return max(abs(point.seconds / (fixed + each * point.megabytes) - 1) for point in points)


def report(name: str, points: list[Point], plot: Path | None) -> str:
    rows = [
        (
            p.label, f"{p.build.report['tables']:,}", f"{p.megabytes:,.1f}", f"{p.seconds:.1f}",
            f"{p.megabytes / p.seconds:.1f}", f"{p.build.report['spark_start_seconds']:.1f}",
            f"{p.peak_megabytes:,.0f}",
        )
        for p in points
    ]  # fmt: skip
    names = ("share", "tables", "MB", "seconds", "MB/s", "Spark's start, s", "peak PSS, MB")
    whole, twice = points[-2:]
    fixed, each = line(points)
    sections = [
        f"## Growth over {name}",
        machine(),
        markdown_table(names, rows),
        f"The line that fits: **{fixed:.1f} s + {100 * each:.2f} s for every 100 MB**; the farthest point is "
        f"{farthest(points):.0%} off. The lake twice (two copies): "
        f"{twice.seconds / whole.seconds:.2f} times the time, "
        f"**{twice.peak_megabytes / whole.peak_megabytes:.2f}** times the peak memory.",
    ]
    if plot:
        sections.append(f"![time and memory against lake size]({plot.name})")
    return "\n\n".join(sections)


def draw(points: list[Point], name: str, file: Path) -> None:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise SystemExit("--plot needs matplotlib: pip install -e '.[benchmarks]'") from error
    size = [point.megabytes for point in points]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.loglog(size, [point.seconds for point in points], "o-", label="measured")
    fixed, each = line(points)
    left.loglog(size, [fixed + each * megabytes for megabytes in size], ":", color="grey", label="the line that fits")
    left.set(title="Seconds, without Spark's start", xlabel=f"MB of {name}")
    left.legend()
    right.semilogx(size, [point.peak_megabytes for point in points], "o-")
    right.set(title="Peak memory of all processes, MB (PSS)", xlabel=f"MB of {name}", ylim=(0, None))
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_options(parser)
    parser.add_argument("--sizes", type=int, default=5, metavar="N", help="how many sizes up to the whole (5)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a plot, as .svg or .png")
    options = parser.parse_args()
    if options.sizes < 2:
        parser.error("--sizes must be at least 2")
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        settings = settings_options(options.set)
        points = measure(options.dovetail, options.lake, Path(folder), options.sizes, settings)
    if options.plot:
        draw(points, options.lake.name, options.plot)
    emit(report(options.lake.name, points, options.plot), options.report)


if __name__ == "__main__":
    main()
