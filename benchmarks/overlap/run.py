"""Exact top-k overlap search: ours against JOSIE as published, MergeList-D, ProbeSet-D, and peers: DuckDB and
SetSimilaritySearch.

    python benchmarks/overlap/run.py open_data --seed 7 --report FILE      a scaled-down Open Data: few huge sets
    python benchmarks/overlap/run.py web_tables --seed 7 --report FILE     a scaled-down Web Tables: a million tiny sets
    python benchmarks/overlap/run.py INDEX --seed 7 --report FILE          a real lake, with and without numbers

A grid of query sizes and k. Queries are drawn from columns of the lake, with a tenth of foreign values. The sets are
built into one segment, from all segments where there is an index, and everybody searches them. All algorithms answer
every query in turns, in processor time; the least of the repetitions counts. The peers answer the first queries of each
size, and we the same beside them, by the clock: they use all cores. All answers are compared.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from generate import KINDS, draw_sets
from peers import DuckDB, SetSimilaritySearch
from queries import SIZES, draw_queries
from report import KERNELS, Cell, keep, report
from sets import build, sets_of

import dovetail
from dovetail.indexes.josie.query import JosieReader

KS = (5, 10, 20)
_LESS = "without columns of numbers"
COLUMNS = {"open_data": 20_000, "web_tables": 1_000_000}


def milliseconds(call: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    call()
    return (clock() - start) * 1000


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
    answers = {name: reader.search(query, cell.k, kernel=kernel) for name, kernel in KERNELS.items()}
    whole: dict[str, list[float]] = {name: [] for name in KERNELS}
    search: dict[str, list[float]] = {name: [] for name in KERNELS}
    for turn in range(repeat):
        # Who goes first brings the lists into the caches for the others: everybody does once.
        names = list(KERNELS)
        order = names[turn % len(names) :] + names[: turn % len(names)]
        for name in order:
            call = partial(reader.search, query, cell.k, kernel=KERNELS[name])
            whole[name].append(milliseconds(call, time.thread_time))
        for name in order:
            alone = partial(reader.search_groups, groups, weights, cell.k, kernel=KERNELS[name])
            search[name].append(milliseconds(alone, time.thread_time))
    for name in KERNELS:
        if not np.array_equal(answers[name].columns, answers["merge_list"].columns):
            raise AssertionError(f"{name} answers differently: {cell.size} values, k = {cell.k}")
        cell.whole[name].append(min(whole[name]))
        cell.search[name].append(min(search[name]))
        cell.work[name].append(answers[name].work)


def measure_peers(reader: JosieReader, cells: list[Cell], queries: dict[int, list[pa.Array]], number: int) -> None:
    """One after the other, so that only one is in memory; the slower one answers fewer queries."""

    def best(query: pa.Array, k: int) -> list[int]:
        overlaps: list[int] = reader.search(query, k).overlaps[:k].tolist()
        return overlaps

    def ask(peer: DuckDB | SetSimilaritySearch, cell: Cell, asked: list[pa.Array]) -> list[tuple[float, float]]:
        """Milliseconds of the peer and of ours."""
        times = []
        for query in asked:
            search = partial(reader.search, query, cell.k)
            ours = min(milliseconds(search, time.perf_counter) for _ in range(3))
            times.append((peer.milliseconds(query, best(query, cell.k)), ours))
        return times

    database = DuckDB(reader)
    for cell in cells:
        cell.peers["DuckDB"] = ask(database, cell, queries[cell.size][:number])
    del database
    peer = SetSimilaritySearch(reader)
    for cell in cells:  # fewer: it takes seconds
        cell.peers["SetSimilaritySearch"] = ask(peer, cell, queries[cell.size][: -(-number // 2)])


def table(title: str, sets: Iterable[pa.LargeStringArray], arguments: argparse.Namespace) -> str:
    """One table of the report: build, ask, compare."""
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        reader, described = build(Path(scratch), sets)
        queries = draw_queries(reader, arguments.largest, arguments.queries, arguments.seed)
        cells = measure(reader, queries, arguments.repeat)
        if arguments.peers:
            measure_peers(reader, cells, queries, arguments.peers)
        if not title.endswith(_LESS):
            keep(cells, reader.tokens.arrays.columns, arguments.tables)
        return report(f"{title}, seed {arguments.seed}", described, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", help=f"{' or '.join(KINDS)}, or the path of an index that `dovetail index` made")
    parser.add_argument("--columns", type=int, help=f"of a generated lake; {COLUMNS}")
    parser.add_argument("--seed", type=int, default=1, help="of the sets and of the queries")
    parser.add_argument("--queries", type=int, default=30, help="for each size")
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument(
        "--peers",
        type=int,
        default=6,
        help="queries of each size that the peers answer; 0: none",
    )
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest query")
    parser.add_argument("--scratch", type=Path, help="a folder on a disk with room for the sets")
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    if arguments.lake in KINDS:
        columns = arguments.columns or COLUMNS[arguments.lake]
        arguments.tables = None
        tables = {arguments.lake: draw_sets(KINDS[arguments.lake], columns, arguments.seed)}
    else:
        index = Path(arguments.lake)
        arguments.tables = len(dovetail.open(index).tables())
        tables = {
            f"{index.name}, all columns": sets_of(index, numbers=True),
            f"{index.name}, {_LESS}": sets_of(index, numbers=False),
        }
    text = "\n".join(table(title, sets, arguments) for title, sets in tables.items())
    print(text)
    if arguments.report:
        arguments.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
