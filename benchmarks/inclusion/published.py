"""Inclusion dependencies by MANY as published beside ours, in the paper's experiments: one index, one process.

    python benchmarks/inclusion/published.py INDEX --report FILE

Sections 5.2 to 5.5 of the paper: m, k and p; threads; plain and indexed bit vectors; each filter alone. A time is that
of signatures and comparisons, or of posting lists and comparisons, over value sets that both share; these and the
ranking are left out. The least of the repetitions counts. All must find the same number of dependencies.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dovetail.api.lake import Lake
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import NO_FILTERS, InclusionFilters, InclusionFinder, InclusionQuery
from dovetail.graph.value_sets import ValueSets
from dovetail.papers.many import BloomParameters, SignatureFinder, SignatureWork

BITS, HASHES, PASSES = (50, 100, 400, 650, 1000, 1500), (1, 3, 6, 10), (1, 2, 4)
FILTERS = {
    "none": NO_FILTERS,
    "null": replace(NO_FILTERS, null=True),
    "integer": replace(NO_FILTERS, integer=True),
    "non-unique": replace(NO_FILTERS, non_unique=True),
    "coverage 0.2": replace(NO_FILTERS, coverage=Fraction(1, 5)),
    "all": InclusionFilters(),
}
SHOWN = 5


@dataclass(frozen=True)
class Run:
    """Seconds of one search, candidates that were validated, megabytes of signatures, and pairs of sets found."""

    seconds: float
    candidates: int
    megabytes: float
    found: int


class Bench:
    """Runs over the value sets of one question."""

    def __init__(self, columns: LakeColumns, filters: InclusionFilters, repeat: int) -> None:
        self._columns, self._query, self._repeat = columns, InclusionQuery(filters), repeat
        self.sets: ValueSets = InclusionFinder(columns, self._query).sets

    def run(self, signatures: BloomParameters | None, threads: int = 1) -> Run:
        return min((self._once(signatures, threads) for _ in range(self._repeat)), key=lambda run: run.seconds)

    def _once(self, signatures: BloomParameters | None, threads: int) -> Run:
        begun = time.perf_counter()
        finder = (
            SignatureFinder(self._columns, self._query, signatures, threads, sets=self.sets)
            if signatures
            else InclusionFinder(self._columns, self._query, threads, sets=self.sets)
        )
        found = sum(len(pairs) for pairs in finder.set_pairs())
        seconds = time.perf_counter() - begun
        work = finder.work if isinstance(finder, SignatureFinder) else SignatureWork(0, 0)
        return Run(seconds, work.candidates, work.signature_bytes / 1e6, found)


def sweep(bench: Bench) -> Iterator[str]:
    """Section 5.2, Figures 8 and 9: m, k and p, ranked."""
    grid = [BloomParameters(*each) for each in itertools.product(BITS, HASHES, PASSES)]
    runs = sorted(((bench.run(each), each) for each in grid), key=lambda pair: pair[0].seconds)
    yield "| m | k | p | seconds | candidates | MB |"
    yield "|--:|--:|--:|--:|--:|--:|"
    for run, one in (*runs[:SHOWN], *runs[-SHOWN:]):
        yield (
            f"| {one.bits} | {one.hashes} | {one.passes} | {run.seconds:.2f} | {run.candidates:,} "
            f"| {run.megabytes:.0f} |"
        )
    yield f"Best {SHOWN} and worst {SHOWN} of {len(grid)}; {len(bench.sets):,} sets, {runs[0][0].found:,} pairs."
    assert len({run.found for run, _ in runs}) == 1


def compare(bench: Bench) -> Iterator[str]:
    """Sections 5.3 and 5.4, Figures 10 and 11: threads, strategies, bit vectors; and posting lists."""
    searches = {
        "lists": None,
        "dep2refs, indexed": BloomParameters(),
        "dep2refs, plain": BloomParameters(vectors="plain"),
        "ref2deps, indexed": BloomParameters(strategy="ref2deps"),
        "ref2deps, plain": BloomParameters(strategy="ref2deps", vectors="plain"),
    }
    yield "| search | 1 thread | 2 threads | candidates | MB |"
    yield "|---|--:|--:|--:|--:|"
    for name, parameters in searches.items():
        one, two = (bench.run(parameters, threads) for threads in (1, 2))
        yield f"| {name} | {one.seconds:.2f} s | {two.seconds:.2f} s | {one.candidates:,} | {one.megabytes:.0f} |"


def by_filter(columns: LakeColumns, repeat: int) -> Iterator[str]:
    """Section 5.5, Figures 12 and 13: each filter alone."""
    yield "| filter | sets | pairs of sets | lists | signatures | MB |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, filters in FILTERS.items():
        bench = Bench(columns, filters, repeat)
        lists, signatures = bench.run(None), bench.run(BloomParameters())
        assert lists.found == signatures.found
        yield (
            f"| {name} | {len(bench.sets):,} | {lists.found:,} | {lists.seconds:.2f} s | {signatures.seconds:.2f} s "
            f"| {signatures.megabytes:.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--only", choices=["sweep", "compare", "filters"], action="append")
    given = parser.parse_args()
    columns = LakeColumns(Lake(given.index).segments)
    usual = Bench(columns, InclusionFilters(), given.repeat)
    for parameters in (None, BloomParameters()):
        usual.run(parameters)  # compiles what is not compiled yet
    parts = {
        "sweep": ("Parameters, all filters, one thread", sweep(usual)),
        "compare": ("Threads and bit vectors, all filters, m 650, k 6, p 2", compare(usual)),
        "filters": ("Each filter alone, one thread, m 650, k 6, p 2", by_filter(columns, given.repeat)),
    }
    lines = []
    for name, (title, rows) in parts.items():
        if not given.only or name in given.only:
            lines += [f"### {title}", "", *rows, ""]
    print("\n".join(lines))
    if given.report:
        given.report.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
