"""Containment search: how fast, how complete, with how much memory. One command for each table of numbers.

    python benchmarks/containment/run.py peer       # 50,000 columns, beside datasketch's MinHashLSHEnsemble
    python benchmarks/containment/run.py plans      # long posting lists: where sketches are quicker
    python benchmarks/containment/run.py million    # 1,000,000 columns: memory, opening, bytes a value

Sets are made by generate.py, the same for the same seed. Each side runs in processes of its own, one after another. The
truth is counted anew from the sets. Times are CPU seconds, means over the queries of the median of three rounds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from generate import Sets, generate

from dovetail.indexes.lsh_ensemble.build import MOST_PARTITIONS

HERE = Path(__file__).parent
sys.path += [str(HERE.parent), str(HERE.parent / "indexing")]

from reporting import emit, machine, markdown_table  # noqa: E402

from measured import record  # noqa: E402


class Lake(NamedTuple):
    """The sets of a table of numbers."""

    like: str
    columns: int
    largest: int


LAKES = {
    "peer": Lake("domains", 50_000, 100_000),
    "plans": Lake("ids", 6_000, 50_000),
    "million": Lake("domains", 1_000_000, 100_000),
}


def child(program: str, *arguments: object) -> Any:
    """What a program of this folder prints, in a process of its own."""
    command = [sys.executable, str(HERE / program), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def truths(sets: Sets, thresholds: list[str]) -> dict[str, list[set[int]]]:
    """For every threshold and query the columns that are to be found."""
    queries = sets.queries()
    overlaps = [sets.overlaps(query) for query in queries]
    found = {}
    for threshold in thresholds:
        ratio = Fraction(threshold)
        found[threshold] = [
            set(np.flatnonzero(shared * ratio.denominator >= ratio.numerator * len(query)).tolist())
            for query, shared in zip(queries, overlaps, strict=True)
        ]
    return found


def recall(answers: list[list[int]], expected: list[set[int]]) -> float:
    shares = [len(right & set(given)) / len(right) for given, right in zip(answers, expected, strict=True) if right]
    return float(np.mean(shares)) if shares else 1.0


def precision(answers: list[list[int]], expected: list[set[int]]) -> float:
    """Over the queries that got an answer, as in the paper."""
    shares = [len(right & set(given)) / len(given) for given, right in zip(answers, expected, strict=True) if given]
    return float(np.mean(shares)) if shares else 1.0


def milliseconds(seconds: list[float], quantile: float | None = None) -> str:
    return f"{1000 * (np.mean(seconds) if quantile is None else np.quantile(seconds, quantile)):.3f}"


def times(one: list[float], other: list[float]) -> str:
    return f"{np.mean(one) / np.mean(other):.1f}"


def describe(sets: Sets, built: Any, ours: Any) -> str:
    columns, values = len(sets.offsets) - 1, len(sets.values)
    size = built["tokens_bytes"] + built["sketch_bytes"]
    return "\n".join([
        f"{columns:,} columns, {values:,} values, {len(sets.queries())} queries of "
        f"{min(map(len, sets.queries())):,} to {max(map(len, sets.queries())):,} values. Seconds are those of the CPU.",
        "",
        f"- build: tokens {built['tokens_seconds']:.2f} s, sketches {built['sketch_seconds']:.2f} s, "
        f"{built['memory_bytes'] / 1e9:.2f} GB at most beside its input",
        f"- index: {size / values:.1f} bytes a value; sketches {built['sketch_bytes'] / columns:.0f} bytes a column "
        f"({built['sketched']:,} columns have one), tokens {built['tokens_bytes'] / columns:.0f}",
        f"- open: {1000 * ours['open_seconds']:.1f} ms; memory {ours['pss_open'] / 1e6:.0f} MB, after all queries "
        f"{ours['pss'] / 1e6:.0f} MB (PSS)",
    ])  # fmt: skip


class Run:
    """One lake, built; and what is asked of it."""

    def __init__(self, file: Path, thresholds: list[str], work: Path) -> None:
        self.file, self.thresholds, self.work = file, thresholds, work
        self.sets = Sets.load(file)
        self.built = child("ours.py", "build", file, work)
        self.ask("--thresholds", "0.5")  # kernels are compiled once after installing
        self.ours = self.ask("--thresholds", *thresholds)
        self.expected = truths(self.sets, thresholds)

    def ask(self, *options: str) -> Any:
        return child("ours.py", "ask", self.file, self.work, *options)

    def forced(self, *options: str) -> Any:
        return self.ask(*options, "--thresholds", *self.thresholds)

    def rows(self, row: Callable[..., list[str]], *sides: Any) -> list[list[str]]:
        """A row for every threshold, from what each side says of it."""
        return [
            [threshold, *row(right, *(side["thresholds"][threshold] for side in sides))]
            for threshold, right in self.expected.items()
        ]


def report_peer(run: Run) -> list[str]:
    loose = run.forced("--plan", "sketches", "--unverified")
    peer = child("peer.py", run.file, "--partitions", MOST_PARTITIONS, "--thresholds", *run.thresholds)
    sketching = peer["query_sketch_seconds"]

    def quality(right: list[set[int]], own: Any, unverified: Any, other: Any) -> list[str]:
        return [
            f"{np.mean([len(columns) for columns in right]):.1f}",
            f"{recall(own['answers'], right):.3f}", f"{recall(other['answers'], right):.3f}",
            f"{precision(unverified['answers'], right):.2f}", f"{precision(other['candidates'], right):.2f}",
        ]  # fmt: skip

    def speed(right: list[set[int]], own: Any, other: Any) -> list[str]:
        whole = np.add(other["verified_seconds"], sketching)
        return [
            milliseconds(own["seconds"]), milliseconds(whole), times(whole, own["seconds"]),
            milliseconds(own["prepared_seconds"]), milliseconds(other["seconds"]),
            times(other["seconds"], own["prepared_seconds"]), milliseconds(other["verified_seconds"]),
            times(other["verified_seconds"], own["prepared_seconds"]),
            times(other["seconds"], own["seconds"]), times(other["verified_seconds"], own["seconds"]),
        ]  # fmt: skip

    keep_peer(run, peer)
    return [
        compare(run.built, run.ours, peer),
        "Recall of verified answers, and precision of unverified ones (ours: all by sketches).",
        markdown_table(
            ["t", "answers", "our recall", "its recall", "our precision", "its precision"],
            run.rows(quality, run.ours, loose, peer),
        ),
        "Milliseconds a query. *From values*: ours looks strings up, its are sketched, both verify. *Prepared*: "
        "ours begins with looked-up groups and verifies, its begins with a sketch. The last two columns are its "
        "prepared query against ours from values.",
        markdown_table(
            [
                "t", "ours from values", "its", "times", "ours prepared", "its bare", "times", "its verified", "times",
                "bare / ours from values", "verified / ours from values",
            ],
            run.rows(speed, run.ours, peer),
        ),
    ]  # fmt: skip


def keep_peer(run: Run, peer: Any) -> None:
    """The figures of docs/benchmarks.md: how many times as fast, from values."""
    ours, theirs = run.ours["thresholds"], peer["thresholds"]
    verified, bare = {}, {}
    for threshold in run.thresholds:
        own = np.mean(ours[threshold]["seconds"])
        verified[threshold] = np.mean(np.add(theirs[threshold]["verified_seconds"], peer["query_sketch_seconds"])) / own
        bare[threshold] = np.mean(theirs[threshold]["seconds"]) / own
    recalls = [[recall(side[t]["answers"], right) for t, right in run.expected.items()] for side in (ours, theirs)]
    record(
        columns=len(run.sets.offsets) - 1,
        to_070=[times for threshold, times in verified.items() if float(threshold) <= 0.7],
        at_100=verified.get("1.0"),
        bare_at_100=bare.get("1.0"),
        recall=recalls[0],
        its_recall=recalls[1],
        megabytes=run.ours["pss"] / 1e6,
        its_gigabytes=peer["pss"] / 1e9,
        part=run.ours["pss"] / peer["pss"],
    )


def compare(built: Any, ours: Any, peer: Any) -> str:
    seconds = built["tokens_seconds"] + built["sketch_seconds"]
    builds = [peer["sketch_seconds"] + side["build_seconds"] for side in peer["thresholds"].values()]
    return "\n".join([
        f"- build, for one threshold: datasketch sketches {peer['sketch_seconds']:.1f} s and index "
        f"{np.mean(builds) - peer['sketch_seconds']:.1f} s (mean over the thresholds), ours {seconds:.2f} s for all: "
        f"**{np.mean(builds) / seconds:.0f} times faster** (at least {min(builds) / seconds:.0f}); sketches alone "
        f"{np.mean(builds) / built['sketch_seconds']:.0f} times",
        f"- memory at query: datasketch {peer['pss'] / 1e6:.0f} MB without the sets, ours {ours['pss'] / 1e6:.0f} MB "
        f"with them: **1/{peer['pss'] / ours['pss']:.1f}**",
    ])  # fmt: skip


def report_plans(run: Run) -> list[str]:
    """What the plan chose, beside what each would have taken."""
    lists, sketches = run.forced("--plan", "postings"), run.forced("--plan", "sketches")

    def row(right: list[set[int]], own: Any, by_lists: Any, by_sketches: Any) -> list[str]:
        mine, one, other = (side["prepared_seconds"] for side in (own, by_lists, by_sketches))
        return [
            milliseconds(mine), milliseconds(one), milliseconds(other), milliseconds(np.minimum(one, other)),
            f"{sum('sketches' in plans for plans in own['plans'])}/{len(mine)}",
            f"{np.sum(np.less(other, one))}/{len(mine)}",
            f"{recall(own['answers'], right):.3f}", f"{recall(by_sketches['answers'], right):.3f}",
        ]  # fmt: skip

    names = [
        "t", "ms as planned", "all by posting lists", "all by sketches", "the quicker for each query", "by sketches",
        "sketches quicker", "recall as planned", "by sketches",
    ]  # fmt: skip
    return ["Prepared queries, verified.", markdown_table(names, run.rows(row, run.ours, lists, sketches))]


def report_million(run: Run) -> list[str]:
    def row(right: list[set[int]], own: Any) -> list[str]:
        return [
            f"{np.mean([len(columns) for columns in right]):.1f}",
            milliseconds(own["seconds"]), milliseconds(own["seconds"], 0.99), milliseconds(own["prepared_seconds"]),
            f"{recall(own['answers'], right):.3f}", f"{precision(own['answers'], right):.2f}",
        ]  # fmt: skip

    names = ["t", "answers", "ms from values", "p99", "ms prepared", "recall", "precision"]
    return [markdown_table(names, run.rows(row, run.ours))]


REPORTS = {"peer": report_peer, "plans": report_plans, "million": report_million}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(REPORTS))
    parser.add_argument("--columns", type=int, help="fewer or more than usual")
    parser.add_argument("--queries", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thresholds", nargs="*", default=[f"{tenths / 10}" for tenths in range(1, 11)])
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    lake = LAKES[options.what]
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / "sets.npz"
        generate(file, lake.like, options.columns or lake.columns, lake.largest, options.queries, options.seed)
        run = Run(file, options.thresholds, Path(work) / "segments")
        title = f"# Containment search: {options.what}, seed {options.seed}"
        parts = [title, machine(), describe(run.sets, run.built, run.ours), *REPORTS[options.what](run)]
        emit("\n\n".join(parts), options.report)


if __name__ == "__main__":
    main()
