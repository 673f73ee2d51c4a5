"""Exact top-k overlap search: JOSIE against MergeList-D, ProbeSet-D, DuckDB and SetSimilaritySearch.

    python benchmarks/overlap/run.py --generated DIR [--peers] [--report FILE]
    python benchmarks/overlap/run.py --index DIR

A grid of query sizes and k. Queries are drawn from columns of the lake, with a tenth of foreign values. All ways answer
the same queries in turns; the least of the repetitions counts. Of an index, the largest segment is asked.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from generate import open_generated
from peers import DuckDB, SetSimilaritySearch

from dovetail._storage.directory import open_snapshot
from dovetail.indexes.josie import JosieReader, Work
from dovetail.indexes.josie.query import HOW

SIZES = (10, 100, 1_000, 10_000, 100_000)
KS = (5, 10, 20)


@dataclass
class Cell:
    """Milliseconds of each way for each query of one size and one k, and what they read."""

    size: int
    k: int
    whole: dict[str, list[float]] = field(default_factory=lambda: {how: [] for how in HOW})
    search: dict[str, list[float]] = field(default_factory=lambda: {how: [] for how in HOW})
    work: dict[str, list[Work]] = field(default_factory=lambda: {how: [] for how in HOW})
    duckdb: list[float] = field(default_factory=list)
    peer: list[tuple[float, float]] = field(default_factory=list)

    def ratio(self, times: dict[str, list[float]]) -> float:
        """Ours over the best of all."""
        return float(np.mean(times["josie"]) / min(np.mean(values) for values in times.values()))


def draw_query(reader: JosieReader, size: int, pool: npt.NDArray[np.int64], random: np.random.Generator) -> pa.Array:
    """Tokens of one column of the pool, or of several together, and a tenth that no column has."""
    wanted = size - size // 10
    ids = np.empty(0, np.int64)
    while len(ids) < wanted:
        ids = np.union1d(ids, reader.tokens.set_of(int(random.choice(pool)))[0])
    known = reader.tokens.tokens(random.permutation(ids)[:wanted])
    foreign = pa.array([f"foreign {i}" for i in range(size - len(known))], pa.large_string())
    return pa.concat_arrays([known, foreign])


def draw_queries(reader: JosieReader, largest: int, number: int, seed: int) -> dict[int, list[pa.Array]]:
    """From columns that are large enough for a size; where there are none, from the largest, several together."""
    random = np.random.default_rng(seed)
    sizes = reader.tokens.set_sizes()
    queries = {}
    for size in SIZES:
        if size <= min(largest, reader.tokens.arrays.tokens):
            pool = np.flatnonzero((sizes >= size) & (sizes < 20 * size))
            pool = pool if len(pool) else np.argsort(sizes)[-max(100, len(sizes) // 20) :]
            queries[size] = [draw_query(reader, size, pool, random) for _ in range(number)]
    return queries


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def measure(reader: JosieReader, queries: dict[int, list[pa.Array]], repeat: int) -> list[Cell]:
    cells = []
    for size, k in ((size, k) for size in queries for k in KS):
        cell = Cell(size, k)
        for query in queries[size]:
            measure_query(reader, query, cell, repeat)
        cells.append(cell)
    return cells


def measure_query(reader: JosieReader, query: pa.Array, cell: Cell, repeat: int) -> None:
    groups, weights, _ = reader.query_groups(query)
    answers = {how: reader.search(query, cell.k, how=how) for how in HOW}
    whole: dict[str, list[float]] = {how: [] for how in HOW}
    search: dict[str, list[float]] = {how: [] for how in HOW}
    for turn in range(repeat):
        # Who goes first brings the lists into the caches for the others: everybody does once.
        order = HOW[turn % len(HOW) :] + HOW[: turn % len(HOW)]
        for how in order:
            whole[how].append(milliseconds(partial(reader.search, query, cell.k, how=how)))
        for how in order:
            search[how].append(milliseconds(partial(reader.search_groups, groups, weights, cell.k, how=how)))
    for how in HOW:
        if not np.array_equal(answers[how].columns, answers["merge_list"].columns):
            raise AssertionError(f"{how} answers differently: {cell.size} values, k = {cell.k}")
        cell.whole[how].append(min(whole[how]))
        cell.search[how].append(min(search[how]))
        cell.work[how].append(answers[how].work)


def measure_peers(reader: JosieReader, cells: list[Cell], queries: dict[int, list[pa.Array]], slow: int) -> None:
    """DuckDB on every cell; SetSimilaritySearch on `slow` queries of each size at k = 10."""
    database = DuckDB(reader)
    for cell in cells:
        cell.duckdb = [database.milliseconds(query, cell.k, repeat=2) for query in queries[cell.size][:5]]
    del database
    if not slow:
        return
    peer = SetSimilaritySearch(reader)
    for cell in cells:
        for query, ours in zip(queries[cell.size][:slow], cell.whole["josie"], strict=False):
            if cell.k == 10:
                kth = int(reader.search(query, cell.k).overlaps[: cell.k][-1])
                cell.peer.append((peer.milliseconds(query, kth), ours))


def report(name: str, reader: JosieReader, cells: list[Cell]) -> str:
    arrays = reader.tokens.arrays
    lines = [
        f"## {name}",
        "",
        f"{arrays.columns:,} sets, {arrays.tokens:,} tokens in {arrays.groups:,} groups, "
        f"{len(arrays.set_counts):,} pairs. Costs in ns: "
        + ", ".join(f"{key} {value:.2f}" for key, value in reader.costs._asdict().items())
        + ".",
        "",
        "Milliseconds, mean / p99, of search without the look-up of values; `whole` with it.",
        "",
        "| query | k | JOSIE | MergeList-D | ProbeSet-D | ours ÷ best | whole | ÷ best | DuckDB ÷ whole | SSS ÷ whole|",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for cell in cells:
        times = " | ".join(f"{np.mean(t):.3f} / {np.percentile(t, 99):.3f}" for t in cell.search.values())
        whole = np.mean(cell.whole["josie"])
        duckdb = f"{np.mean(cell.duckdb) / np.mean(cell.whole['josie'][: len(cell.duckdb)]):.0f}" if cell.duckdb else ""
        peer = f"{sum(p for p, _ in cell.peer) / sum(o for _, o in cell.peer):.0f}" if cell.peer else ""
        lines.append(
            f"| {cell.size:,} | {cell.k} | {times} | {cell.ratio(cell.search):.2f} | {whole:.3f} | "
            f"{cell.ratio(cell.whole):.2f} | {duckdb} | {peer} |"
        )
    lines += ["", "| query | k | way | lists | items | sets | set items | KB |", "|--:|--:|:--|--:|--:|--:|--:|--:|"]
    for cell in cells:
        for how, works in cell.work.items():
            means = [np.mean([getattr(w, f) for w in works]) for f in ("lists", "list_items", "sets", "set_items")]
            kilobytes = np.mean([work.bytes for work in works]) / 1000
            numbers = " | ".join(f"{value:,.0f}" for value in means)
            lines.append(f"| {cell.size:,} | {cell.k} | {how} | {numbers} | {kilobytes:,.1f} |")
    for label, ratios in (
        ("Search", [cell.ratio(cell.search) for cell in cells]),
        ("Whole", [cell.ratio(cell.whole) for cell in cells]),
    ):
        lines += [
            "",
            f"{label}: ours ÷ best over the cells: median {np.median(ratios):.2f} (bar 1.1), "
            f"p99 {np.percentile(ratios, 99):.2f} (bar 1.25).",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--generated", type=Path, help="a folder that generate.py made")
    source.add_argument("--index", type=Path, help="an index that `dovetail index` made")
    parser.add_argument("--queries", type=int, default=30, help="for each size")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="ask DuckDB and SetSimilaritySearch too")
    parser.add_argument(
        "--slow", type=int, default=3, help="queries of each size for SetSimilaritySearch; 0: leave out"
    )
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest query")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if arguments.generated:
        segment = open_generated(arguments.generated)
    else:
        segment = max(open_snapshot(arguments.index).segments, key=lambda one: one.counts["entries"])
    reader = JosieReader(segment)
    queries = draw_queries(reader, arguments.largest, arguments.queries, arguments.seed)
    cells = measure(reader, queries, arguments.repeat)
    if arguments.peers:
        measure_peers(reader, cells, queries, arguments.slow)
    text = report((arguments.generated or arguments.index).name, reader, cells)
    print(text)
    if arguments.report:
        arguments.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
