"""Inclusion dependencies on Spark: processor time against the postings of a lake that grows with its segments.

    python benchmarks/segments/inclusions.py --lake DIR [--tables 125 500 2000] [--master 'local[2]']

Every table is a segment. Counted is the time of all processes, Spark's Java among them, from the question to the answer
on disk, after a question to warm up. The answer is compared with that of one process.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from indexes import index_one_by_one, some_tables
from pyspark.sql import SparkSession

import dovetail

_PERIOD = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


class ProcessTree:
    """The processor time of this process and all that it has started, also those that have ended meanwhile."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        threading.Thread(target=self._follow, daemon=True).start()

    def seconds(self) -> float:
        parents, used = {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:  # it has just ended
                    continue
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
        for process, seconds in used.items():
            ancestor = process
            while ancestor not in (os.getpid(), 0):
                ancestor = parents.get(ancestor, 0)
            if ancestor:
                self._seen[process] = seconds
        return sum(self._seen.values())

    def _follow(self) -> None:
        while True:
            self.seconds()
            time.sleep(_PERIOD)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR")
    parser.add_argument("--tables", type=int, nargs="+", default=[125, 500, 2000])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--work", type=Path, metavar="DIR")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(dir=given.work))
    tree = ProcessTree()
    files = some_tables(given.lake, max(given.tables))
    with start_spark(given.master) as spark:
        print("| segments | postings | dependencies | CPU s | of one process, CPU s | s |\n|--:|--:|--:|--:|--:|--:|")
        points = [measure(files[:number], work / str(number), spark, tree) for number in given.tables]
    shutil.rmtree(work)
    (first, few), (last, many) = points[0], points[-1]
    print(f"\nThe exponent of the postings: {math.log(many / few) / math.log(last / first):.2f}")


def start_spark(master: str) -> SparkSession:
    """One session for all questions: its start is not counted."""
    from dovetail._spark.java import java_home

    os.environ.setdefault("JAVA_HOME", str(java_home()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def measure(files: list, index: Path, spark: SparkSession, tree: ProcessTree) -> tuple[int, float]:  # type: ignore[type-arg]
    """The postings of the lake, and the seconds of a question to it."""
    index_one_by_one(files, index)
    lake = dovetail.open(index)
    lake.inds(integers=True, spark=spark).write(index.with_suffix(".warm.parquet"))
    before, begun = tree.seconds(), time.perf_counter()
    found = lake.inds(integers=True, spark=spark)
    found.write(index.with_suffix(".spark.parquet"))
    seconds, elapsed = tree.seconds() - before, time.perf_counter() - begun
    dovetail.open(index).inds(integers=True).write(index.with_suffix(".alone.parquet"))
    before = time.process_time()
    dovetail.open(index).inds(integers=True).write(index.with_suffix(".alone.parquet"))
    alone = time.process_time() - before
    one, other = (index.with_suffix(f".{kind}.parquet").read_bytes() for kind in ("spark", "alone"))
    if one != other:
        raise SystemExit(f"The answers of Spark and of one process differ for {len(files):,} tables.")
    postings = sum(segment.segment.counts["entries"] for segment in lake.segments)
    print(
        f"| {len(files):,} | {postings:,} | {len(found):,} | {seconds:.1f} | {alone:.1f} | {elapsed:.1f} |", flush=True
    )
    return postings, seconds


if __name__ == "__main__":
    main()
