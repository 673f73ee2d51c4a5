"""How much processor time commands take that have little to do, with compiled kernels in the cache and with none.

    python benchmarks/startup/run.py                    indexes the sample lake first
    python benchmarks/startup/run.py --index FOLDER     asks an index of the sample lake

Every command runs in a process of its own: once with an empty cache of kernels ("first"), once more so that what is
worth it is compiled, then five times, of which the median counts ("later"). User and system time of the process and
its children. Another process on the same core makes the figures larger: run it alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

SAMPLE_LAKE = Path(__file__).parents[2] / "sample-lake"
RUNS = 5
FIRST = {"join": 3, "search": 5, "search --by semantic": 9, "search --by transform": 9, "search --on a,b": 9}
LATER = {"--help": 0.3, "search": 0.5, "join": 0.5}
"""Bars in seconds, on two cores of a server; the others are shown for comparison."""


def processor_seconds(arguments: list[str], cache: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments, cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run(arguments: list[str], cache: Path) -> None:
    """With byte code on disk, as an installed package has it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    program = [sys.executable, "-c", "from dovetail.cli import main; main()", *arguments]
    environment["NUMBA_CACHE_DIR"] = str(cache)
    subprocess.run(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)


def halves(folder: Path) -> list[str]:
    """Two files of 25 rows that join by name."""
    files = {"states.csv": "geo/us-states.csv", "people.csv": "economy/state-population.csv"}
    for name, table in files.items():
        lines = (SAMPLE_LAKE / table).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:26]), encoding="utf-8")
    return [str(folder / name) for name in files]


def measure(index: Path, folder: Path) -> None:
    countries, airports, counties = (
        str(SAMPLE_LAKE / name) for name in ("geo/countries.csv", "transport/airports.csv", "geo/us-counties.csv")
    )
    asked = ["--index", str(index)]
    commands = {
        "--help": ["--help"],
        "search --help": ["search", "--help"],
        "join": ["join", *halves(folder)],
        "search": ["search", airports, *asked],
        "search --on": ["search", countries, "--on", "Name", *asked],
        "search --on a,b": ["search", airports, "--on", "country,city", *asked],
        "search --by semantic": ["search", countries, "--on", "Name", "--by", "semantic", *asked],
        "search --by transform": ["search", counties, "--on", "name", "--by", "transform", *asked],
        "tables": ["tables", str(index)],
        "info": ["info", str(index)],
    }
    print(f"{'command':24}{'first':>7}{'bar':>5}{'later':>8}{'bar':>6}")
    for name, arguments in commands.items():
        cache = folder / "kernels" / name
        first = processor_seconds(arguments, cache)
        run(arguments, cache)
        later = [processor_seconds(arguments, cache) for _ in range(RUNS)]
        bars = FIRST.get(name, ""), LATER.get(name, "")
        print(f"{name:24}{first:7.2f}{bars[0]:>5}{statistics.median(later):8.2f}{bars[1]:>6}")
        if name == "search":
            record(search_seconds=later)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="an index of the sample lake; without it one is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = options.index or folder / "index"
        if not options.index:
            run(["index", str(SAMPLE_LAKE), "--to", str(index)], folder / "kernels" / "index")
        measure(index, folder)


if __name__ == "__main__":
    main()
