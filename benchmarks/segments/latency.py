"""How the time of a search grows with the number of segments that the same tables lie in, and what merging gives back.

    python benchmarks/segments/latency.py --lake DIR [--tables 2000] [--plot latency.svg]

Tables are indexed one by one, a segment each, and then merged into fewer; `compact` merges as it does for a user. Every
index is asked the same questions, tables of the lake: the first round opens what it needs and is not timed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from indexes import index_one_by_one, merge_into, some_tables

import dovetail

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_QUESTIONS = 40
_ROUNDS = 3


def latencies(index: Path, questions: list[str]) -> list[float]:
    """Of each question the least processor time of some rounds, in milliseconds: what else runs counts least so."""
    lake = dovetail.open(index)
    for question in questions:
        lake.search(question)
    best = [float("inf")] * len(questions)
    for _ in range(_ROUNDS):
        for place, question in enumerate(questions):
            begun = time.process_time()
            lake.search(question)
            best[place] = min(best[place], 1000 * (time.process_time() - begun))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR")
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--segments", type=int, nargs="+", default=[1, 4, 16, 60, 250])
    parser.add_argument("--work", type=Path, metavar="DIR")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a plot, as .svg or .png")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(dir=given.work))
    files = some_tables(given.lake, given.tables)
    questions = [file.table for file in files[:: max(1, len(files) // _QUESTIONS)]][:_QUESTIONS]
    index_one_by_one(files, work / "many")
    points = {}
    for number in given.segments:
        merge_into(work / "many", number, work / "some")
        points[number] = latencies(work / "some", questions)
        shutil.rmtree(work / "some")
        say(f"{number:,}", points[number])
    points[len(files)] = latencies(work / "many", questions)
    say(f"{len(files):,}", points[len(files)])
    begun = time.perf_counter()
    done = dovetail.compact(work / "many")
    seconds = time.perf_counter() - begun
    after = latencies(work / "many", questions)
    say(f"{done.segments_after:,}, after `compact`", after)
    ratio = statistics.median(after) / statistics.median(points[min(points)])
    print(f"\nAfter `compact` ({seconds:.0f} s with Spark's start): {ratio:.2f} times one segment's median.")
    record(tables=len(files), ratio=ratio)
    if given.plot:
        draw(points, done.segments_after, after, given.plot)
    shutil.rmtree(work)


def say(label: str, found: list[float]) -> None:
    deciles = statistics.quantiles(found, n=10)
    print(f"| {label} | {statistics.median(found):.1f} | {deciles[-1]:.1f} |", flush=True)


def draw(points: dict[int, list[float]], segments: int, after: list[float], file: Path) -> None:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise SystemExit("--plot needs matplotlib: pip install -e '.[benchmarks]'") from error
    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    axes.loglog(list(points), [statistics.median(found) for found in points.values()], "o-", label="median")
    axes.loglog([segments], [statistics.median(after)], "s", label="after compact")
    axes.set(title="CPU milliseconds a search", xlabel="segments of the same tables")
    axes.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


if __name__ == "__main__":
    main()
