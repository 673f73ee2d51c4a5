"""What was measured, cell by cell of the grid, and the bars."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dovetail.indexes.josie import kernels
from dovetail.indexes.josie.core import OverlapWork
from dovetail.papers.josie import ALGORITHMS, kernel_of

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

KERNELS = {"ours": kernels.search} | {name: kernel_of(name) for name in ALGORITHMS}
NAMES = {"ours": "ours", "josie": "JOSIE", "merge_list": "MergeList-D", "probe_set": "ProbeSet-D"}


@dataclass
class Cell:
    """Milliseconds of each algorithm for each query of one size and one k, and what they read.

    The peers answer the first few of the queries; beside each of their times stands ours.
    """

    size: int
    k: int
    whole: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in KERNELS})
    search: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in KERNELS})
    work: dict[str, list[OverlapWork]] = field(default_factory=lambda: {name: [] for name in KERNELS})
    peers: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def times_ours(self, peer: str) -> float:
        """How many times as long as we a peer takes, over the queries that it was asked."""
        theirs, ours = np.sum(self.peers[peer], axis=0)
        return float(theirs / ours)

    def to_best(self, times: dict[str, list[float]]) -> float:
        """Our time by that of the best of all algorithms."""
        return float(np.mean(times["ours"]) / min(np.mean(values) for values in times.values()))

    def to_best_of_all(self) -> float:
        """The same with the look-up of values, peers among the others."""
        return max(self.to_best(self.whole), *(1 / self.times_ours(peer) for peer in self.peers), 0.0)


def report(title: str, described: str, cells: list[Cell]) -> str:
    peers = list(cells[0].peers)
    lines = [
        f"## {title}",
        "",
        described,
        "",
        "Whole search, look-up of values included: milliseconds, mean / p99.",
        "",
    ]
    names = [*NAMES.values(), *peers]
    lines += _table(["query", "k", *names, "ours ÷ best", *(f"{peer} ÷ ours" for peer in peers)], cells, _whole)
    lines += ["", "Search alone: milliseconds, mean / p99.", ""]
    lines += _table(["query", "k", *NAMES.values(), "ours ÷ best"], cells, _alone)
    lines += ["", "Read, on average: posting lists, sets, KB.", ""]
    lines += _table(["query", "k", *NAMES.values()], cells, _read)
    return "\n".join([*lines, "", *_bars(cells)]) + "\n"


def keep(cells: list[Cell], sets: int, tables: int | None) -> None:
    """The figures of docs/benchmarks.md: how many times as fast as each peer, by cell."""
    small = _factors(cells, "DuckDB", 1, 10_000)
    large = _factors(cells, "DuckDB", 10_001, 100_000)
    similarity = _factors(cells, "SetSimilaritySearch", 1, 100_000)
    record(
        sets=sets,
        tables=tables,
        duckdb_small_least=min(small, default=None),
        duckdb_small_median=np.median(small) if small else None,
        duckdb_large_least=min(large, default=None),
        duckdb_large_median=np.median(large) if large else None,
        similarity_least=min(similarity, default=None),
        similarity_median=np.median(similarity) if similarity else None,
    )


def _factors(cells: list[Cell], peer: str, least: int, most: int) -> list[float]:
    """How many times as long as we a peer takes, for each cell of these sizes."""
    return [cell.times_ours(peer) for cell in cells if peer in cell.peers and least <= cell.size <= most]


def _table(headings: list[str], cells: list[Cell], row: Callable[[Cell], list[str]]) -> list[str]:
    lines = [f"| {' | '.join(headings)} |", "|" + "--:|" * len(headings)]
    return lines + [f"| {cell.size:,} | {cell.k} | {' | '.join(row(cell))} |" for cell in cells]


def _whole(cell: Cell) -> list[str]:
    theirs = [[time for time, _ in times] for times in cell.peers.values()]
    times = [*map(_mean_and_p99, cell.whole.values()), *map(_mean_and_p99, theirs)]
    return [*times, f"{cell.to_best_of_all():.2f}", *(f"{cell.times_ours(peer):,.0f}" for peer in cell.peers)]


def _alone(cell: Cell) -> list[str]:
    return [*map(_mean_and_p99, cell.search.values()), f"{cell.to_best(cell.search):.2f}"]


def _read(cell: Cell) -> list[str]:
    def means(name: str, works: list[OverlapWork]) -> str:
        lists, sets = (np.mean([getattr(work, read) for work in works]) for read in ("lists", "sets"))
        return f"{lists:,.0f}, {sets:,.0f}, {np.mean([_bytes(name, work) for work in works]) / 1000:,.1f}"

    return [means(*each) for each in cell.work.items()]


def _bytes(name: str, work: OverlapWork) -> int:
    item = 8 if name in ("josie", "probe_set") else 4  # they read positions too
    return 16 * (work.lists + work.sets) + item * work.list_items + 4 * work.set_items


def _mean_and_p99(times: list[float]) -> str:
    return f"{np.mean(times):.3f} / {np.percentile(times, 99):.3f}"


def _bars(cells: list[Cell]) -> list[str]:
    lines = []
    whole = [cell.to_best_of_all() for cell in cells]
    for label, ratios in (("Whole", whole), ("Search alone", [cell.to_best(cell.search) for cell in cells])):
        lines.append(
            f"- {label}: ours ÷ best over the cells: median {np.median(ratios):.2f} (bar 1.1), "
            f"p99 {np.percentile(ratios, 99):.2f} (bar 1.25)."
        )
    bars = (("DuckDB", 1, 10_000, 10), ("DuckDB", 10_001, 100_000, 3), ("SetSimilaritySearch", 1, 100_000, 20))
    for peer, least, most, bar in bars:
        factors = _factors(cells, peer, least, most)
        if factors:
            lines.append(
                f"- {peer} ÷ ours, {least:,} to {most:,} values: least {min(factors):,.1f}, "
                f"median {np.median(factors):,.1f} (bar {bar})."
            )
    return lines
