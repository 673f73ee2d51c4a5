"""How much processor time commands take that have little to do: start, imports and compiled code from the cache.

    python benchmarks/startup/run.py                    indexes the sample lake first
    python benchmarks/startup/run.py --index FOLDER     asks an index of the sample lake

Every command runs in a process of its own, once so that its kernels are compiled, then five times; the median of user
and system time counts. Another process on the same core makes the figures larger: run it alone.
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
BARS = {"--help": 0.3, "search": 0.8}  # seconds, on two cores of a server; the others are shown for comparison


def processor_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run(arguments: list[str]) -> None:
    """With byte code on disk, as an installed package has it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    program = [sys.executable, "-c", "from dovetail.cli import main; main()", *arguments]
    subprocess.run(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)


def measure(index: Path) -> None:
    table = str(SAMPLE_LAKE / "geo" / "countries.csv")
    commands = {
        "--help": ["--help"],
        "search --help": ["search", "--help"],
        "search": ["search", table, "--index", str(index)],
        "search --on": ["search", table, "--on", "Name", "--index", str(index)],
        "tables": ["tables", str(index)],
        "info": ["info", str(index)],
    }
    print(f"{'command':15}{'seconds':>9}{'bar':>7}")
    for name, arguments in commands.items():
        run(arguments)
        every = [processor_seconds(arguments) for _ in range(RUNS)]
        seconds = statistics.median(every)
        bar = f"{BARS[name]:.1f}" if name in BARS else ""
        print(f"{name:15}{seconds:9.2f}{bar:>7}")
        if name == "search":
            record(search_seconds=every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="an index of the sample lake; without it one is made")
    options = parser.parse_args()
    if options.index:
        measure(options.index)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(["index", str(SAMPLE_LAKE), "--to", f"{folder}/index"])
        measure(Path(folder) / "index")


if __name__ == "__main__":
    main()
