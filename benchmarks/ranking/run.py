"""Search as a person meets it: how soon the first and the exact answer come, and what near-copies would take away.

    python benchmarks/ranking/run.py INDEX [--queries N] [--seed S]

INDEX is that of a lake. N of its tables, drawn at random, are searched with, none of their columns named. Each is asked
once before it is measured, so that files are in memory and code is compiled: "warm". Reported are

- the wall time and the processor time of the approximate answer and of the exact one, each from the question on,
  reading the query from the index included;
- the recall of the approximate answer: the share of the exact hits that it has, and of the best exact hit;
- how many different tables are among the first ten lines, near-copies counted once, with and without folding them; and
  how many near-copies the folded lines stand for;
- how many of the exact answers have a hit on several columns.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles

import dovetail
from dovetail.catalog.near_copies import CopyGroups, outlines
from dovetail.indexes.open_segment import find_table
from dovetail.search.hits import Hits

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record


@dataclass(frozen=True)
class Timed:
    hits: Hits
    wall: float
    processor: float


def timed(search: Callable[[], Hits]) -> Timed:
    begun, spent = time.perf_counter(), time.process_time()
    hits = search()
    return Timed(hits, time.perf_counter() - begun, time.process_time() - spent)


def distinct_tables(lake: dovetail.Lake, hits: Hits) -> int:
    """Tables among the hits, near-copies counted once."""
    groups = CopyGroups()
    for hit in hits:
        segment, number = find_table(lake.segments, hit.table, "There is no table")
        groups.add(outlines(segment.catalog, [number])[0], hit.columns)
    return len(groups)


def times(title: str, answers: Iterable[Timed]) -> None:
    answers = list(answers)
    for name in ("wall", "processor"):
        found = [1000 * getattr(answer, name) for answer in answers]
        print(
            f"{title}, {name} time: median {median(found):.0f} ms, 90 % {quantiles(found, n=10)[-1]:.0f} ms, "
            f"most {max(found):.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lake = dovetail.Lake(options.index)
    tables = [line.table for line in lake.tables() if not line.error and line.rows]
    queries = random.Random(options.seed).sample(tables, min(options.queries, len(tables)))
    first, exact, opened = [], [], []
    for query in queries:
        for _ in range(2):  # the second is measured
            fast = timed(lambda query=query: lake.search(query, fast=True))
            whole = timed(lambda query=query: lake.search(query))
        first.append(fast)
        exact.append(whole)
        opened.append(lake.search(query, copies=True))
    print(f"{len(tables):,} tables, {len(queries)} queries")
    record(
        tables=len(tables),
        first_ms=1000 * median(answer.wall for answer in first),
        exact_ms=1000 * median(answer.wall for answer in exact),
    )
    times("approximate answer", first)
    times("exact answer", exact)
    answered = [(a.hits, b.hits) for a, b in zip(first, exact, strict=True) if b.hits]
    recalls = [len({h.table for h in a} & {h.table for h in b}) / len(b) for a, b in answered]
    best = [b[0].table in {hit.table for hit in a} for a, b in answered]
    print(f"recall of the approximate answer: {mean(recalls):.3f} of the exact hits, {mean(best):.3f} of the best ones")
    folded = [answer.hits for answer in exact]
    print(
        f"different tables among the first ten lines: {mean(distinct_tables(lake, hits) for hits in folded):.2f}, "
        f"{mean(distinct_tables(lake, hits) for hits in opened):.2f} unfolded; lines: "
        f"{mean(map(len, folded)):.2f} and {mean(map(len, opened)):.2f}; "
        f"near-copies behind the lines: {mean(sum(len(hit.copies) for hit in hits) for hits in folded):.2f}"
    )
    several = sum(any(len(hit.on) > 1 for hit in hits) for hits in folded)
    print(f"answers with a hit on several columns: {several} of {len(folded)}")


if __name__ == "__main__":
    main()
