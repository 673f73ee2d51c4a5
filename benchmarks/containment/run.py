"""Containment search beside datasketch's MinHashLSHEnsemble: building, memory, time, recall and precision.

    python benchmarks/containment/run.py SETS.npz [--thresholds 0.1 … 1.0] [--without-peer] [--report FILE]

SETS.npz comes from generate.py. Each side runs in processes of its own, one after another. The truth is counted anew
from the sets. Times are CPU seconds, means over the queries; ours begin with the query's strings, the peer's with its
sketch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from generate import Sets

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "indexing"))

from reporting import emit, machine, markdown_table  # noqa: E402


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


def our_rows(ours: Any, sketched: Any, loose: Any, expected: dict[str, list[set[int]]]) -> list[list[str]]:
    rows = []
    for threshold, right in expected.items():
        own, forced, unverified = (side["thresholds"][threshold] for side in (ours, sketched, loose))
        plans = own["plans"]
        rows.append([
            threshold, f"{np.mean([len(columns) for columns in right]):.0f}",
            milliseconds(own["seconds"]), milliseconds(own["seconds"], 0.99),
            f"{recall(own['answers'], right):.3f}", f"{precision(own['answers'], right):.2f}",
            f"{plans.count('sketches')}/{len(plans)}",
            milliseconds(forced["seconds"]), f"{recall(forced['answers'], right):.3f}",
            f"{precision(unverified['answers'], right):.2f}",
        ])  # fmt: skip
    return rows


def peer_rows(ours: Any, loose: Any, peer: Any, expected: dict[str, list[set[int]]]) -> list[list[str]]:
    rows = []
    for threshold, right in expected.items():
        own, unverified, other = (side["thresholds"][threshold] for side in (ours, loose, peer))
        mean = np.mean(own["seconds"])
        rows.append([
            threshold, milliseconds(own["seconds"]), milliseconds(other["seconds"]),
            milliseconds(other["verified_seconds"]),
            f"{np.mean(other['seconds']) / mean:.1f}", f"{np.mean(other['verified_seconds']) / mean:.1f}",
            f"{recall(own['answers'], right):.3f}", f"{recall(other['answers'], right):.3f}",
            f"{precision(unverified['answers'], right):.2f}", f"{precision(other['candidates'], right):.2f}",
        ])  # fmt: skip
    return rows


def milliseconds(seconds: list[float], quantile: float | None = None) -> str:
    return f"{1000 * (np.mean(seconds) if quantile is None else np.quantile(seconds, quantile)):.2f}"


def describe(sets: Sets, built: Any, ours: Any) -> str:
    columns, values = len(sets.offsets) - 1, len(sets.values)
    size = built["tokens_bytes"] + built["sketch_bytes"]
    return "\n".join([
        f"{columns:,} columns, {values:,} values, {len(sets.queries())} queries of "
        f"{min(map(len, sets.queries())):,} to {max(map(len, sets.queries())):,} values. Seconds are those of the CPU.",
        "",
        f"- build: tokens {built['tokens_seconds']:.2f} s, sketches {built['sketch_seconds']:.2f} s",
        f"- index: {size / values:.1f} bytes a value; sketches {built['sketch_bytes'] / columns:.0f} bytes a column "
        f"({built['sketched']:,} columns have one), tokens {built['tokens_bytes'] / columns:.0f}",
        f"- open: {1000 * ours['open_seconds']:.1f} ms; memory {ours['pss_open'] / 1e6:.0f} MB, after all queries "
        f"{ours['pss'] / 1e6:.0f} MB (PSS)",
    ])  # fmt: skip


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
        f"- sketching a query, not in its times below: {1000 * peer['query_sketch_seconds']:.2f} ms",
    ])  # fmt: skip


def report(options: argparse.Namespace, work: Path) -> str:
    sets, thresholds = Sets.load(options.sets), options.thresholds
    built = child("ours.py", "build", options.sets, work)
    child("ours.py", "ask", options.sets, work, "--thresholds", "0.5")  # kernels are compiled once after installing
    ours, sketched, loose = (
        child("ours.py", "ask", options.sets, work, *extra, "--thresholds", *thresholds)
        for extra in ([], ["--plan", "sketches"], ["--plan", "sketches", "--unverified"])
    )
    expected = truths(sets, thresholds)
    names = [
        "t", "answers", "ms", "p99 ms", "recall", "precision", "by sketches", "all by sketches, ms", "recall",
        "unverified precision",
    ]  # fmt: skip
    parts = ["# Containment search", machine(), describe(sets, built, ours)]
    parts.append(markdown_table(names, our_rows(ours, sketched, loose, expected)))
    if not options.without_peer:
        peer = child("peer.py", options.sets, "--thresholds", *thresholds)
        names = [
            "t", "ours, verified ms", "datasketch bare ms", "verified ms", "bare / ours", "verified / ours",
            "our recall", "its recall", "our unverified precision", "its",
        ]  # fmt: skip
        parts += ["## Beside datasketch", compare(built, ours, peer)]
        parts.append(markdown_table(names, peer_rows(ours, loose, peer, expected)))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--thresholds", nargs="*", default=[f"{tenths / 10}" for tenths in range(1, 11)])
    parser.add_argument("--without-peer", action="store_true")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        emit(report(options, Path(work) / "segments"), options.report)


if __name__ == "__main__":
    main()
