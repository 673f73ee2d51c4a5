"""Partitions on disk, the paper's section IV and Figure 9: time and memory by their number, and by who shares one.

    python benchmarks/semantic/partitions.py INDEX --columns 32549 --report FILE

Columns of a lake in the paper's setting (setting.py), whole columns as queries, T 60 %. Columns share a partition by
divergence, by chance, or by k-means over the means of their vectors, which only this program has. Each clustering and
number has a process that makes the partitions and one that searches. They say how much memory they took at most, mapped
files included, beside what they had with kernels compiled. Times are of the processor; where files are dropped from the
system's memory before each query ("from disk"), by the clock. All answers must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from setting import OneSegment, columns_of, timed

from dovetail._storage.cache import FOLDER_VARIABLE
from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.segment import Segment, SegmentRef
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid
from dovetail.indexes.pexeso.core import Vectors
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.papers.pexeso import column_clusters, partitions
from dovetail.papers.pexeso.column_clusters import ColumnTexts, portions

NUMBERS, CLUSTERINGS = (2, 5, 10, 20), ("divergence", "random", "means")
SHARE, ROUNDS = 0.6, 10


def by_means(texts: ColumnTexts, number: int) -> Any:
    """k-means over the means of the columns' dense vectors, from random columns on."""
    sums, counts = np.zeros((texts.columns, texts.dimension)), np.zeros(texts.columns)
    for part in portions(texts):
        offsets, columns = texts.columns_of(part)
        vectors: Vectors = texts.vectors_of(part)
        np.add.at(sums, columns, np.repeat(np.asarray(vectors), np.diff(offsets), axis=0))
        np.add.at(counts, columns, 1)
    means = sums / np.maximum(counts, 1)[:, None]
    centres = means[np.random.default_rng(1).choice(np.flatnonzero(counts), number, replace=False)]
    for _ in range(ROUNDS):
        cluster = np.argmin((centres**2).sum(axis=1) - 2 * means @ centres.T, axis=1)
        for k in np.unique(cluster):
            centres[k] = means[cluster == k].mean(axis=0)
    return cluster


column_clusters.CLUSTERINGS["means"] = by_means


def answer(folder: Path, clustering: str, number: int, tau: float, making: bool) -> dict[str, Any]:
    """In this process: what one clustering and number takes to make, or to search. Number 0 is one grid in memory."""
    ref = SegmentRef(**json.loads((folder / "ref.json").read_text()))
    reader = PEXESO.open(Segment(folder / "segments", ref))
    asked = pickle.loads((folder / "queries.pickle").read_bytes())
    radius = 2 * tau
    compile_kernels(radius)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest of what follows
    parts: Any = partitions.Partitions(reader, number, clustering) if number else None
    if not number:
        made, parts = timed(lambda: reader.grid(radius))
    elif making:
        made, _ = timed(lambda: ask(parts, asked[0], radius, reader.columns))
    if making:
        return {"made": made, "making": memory("VmHWM") - before}
    times: dict[str, list[float]] = {"cached": [], "disk": []}
    answers, computed = [], 0
    for query in asked:
        for kind, seconds in times.items():
            if kind == "disk":
                forget(folder)
            clock = time.perf_counter if kind == "disk" else time.process_time
            begun = clock()
            found, distances = ask(parts, query, radius, reader.columns)
            seconds.append(clock() - begun)
        answers.append(np.flatnonzero(found).tolist())
        computed += distances
    files = [path.stat().st_size for path in (folder / "cache" / f"{clustering}-{number}").glob("*/*")]
    return {
        "searching": memory("VmHWM") - before, "megabytes": sum(files) / 1e6, "largest": max(files, default=0) / 1e6,
        "texts": int(parts.sizes.sum()) if number else reader.texts,
        "answers": answers, "computed": computed / len(asked),
        **{kind: 1e3 * float(np.mean(seconds)) for kind, seconds in times.items()},
    }  # fmt: skip


def compile_kernels(radius: float) -> None:
    """With a few vectors: compilers take memory, too."""
    few = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    few /= np.linalg.norm(few, axis=1, keepdims=True)
    for frozen in (False, True):
        few.setflags(write=not frozen)
        grid = ColumnGrid.of(few, 8, (np.arange(51), np.arange(50)), radius, 2, 2)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "few"
            with PackWriter(file, "few", 1, "few") as pack:
                partitions._write(pack, grid, few)
            for one in (grid, partitions._read(Pack(file, "few", 1), 8)):
                ask(one, few, radius, 50)


def ask(parts: Any, query: Any, radius: float, columns: int) -> tuple[Any, int]:
    ones, none, every = np.ones(len(query), np.int64), np.zeros(columns, np.int64), np.ones(columns, bool)
    found: tuple[Any, int] = parts.joinable(query, ones, radius, int(np.ceil(SHARE * len(query))), none, every)
    return found


def forget(folder: Path) -> None:
    """Drop the files from the system's memory, where they were written long enough ago."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def memory(name: str) -> float:
    """Megabytes of this process, as Linux counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def in_a_process(folder: Path, clustering: str, number: int, tau: float) -> dict[str, Any]:
    kept = folder / "cache" / f"{clustering}-{number}"
    found: dict[str, Any] = {}
    for step in ("make", "search"):  # each begins with nothing in memory
        command = [sys.executable, __file__, str(folder), "--answer", clustering, str(number), step, "--tau", str(tau)]
        run = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {FOLDER_VARIABLE: str(kept)}
        )
        found |= json.loads(run.stdout)
    return found


def report(folder: Path, numbers: list[int], tau: float) -> Iterator[str]:
    one = in_a_process(folder, "none", 0, tau)
    yield (
        "| partitions | columns by | made, s | MB on disk, largest | texts | MB to make | MB to search | ms a query "
        "| … from disk | distances |"
    )
    yield "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    yield row("one grid in memory", "–", one)
    for number in numbers:
        for clustering in CLUSTERINGS:
            found = in_a_process(folder, clustering, number, tau)
            assert found["answers"] == one["answers"], (clustering, number)
            yield row(str(number), clustering, found)


def row(number: str, clustering: str, found: dict[str, Any]) -> str:
    return (
        f"| {number} | {clustering} | {found['made']:.1f} | {found['megabytes']:.0f}, {found['largest']:.0f} "
        f"| {found['texts']:,} | {found['making']:.0f} | {found['searching']:.0f} | {found['cached']:.1f} "
        f"| {found['disk']:.1f} | {found['computed']:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--columns", type=int, default=32_549, help="of the lake, at most; the paper's number")
    parser.add_argument("--least", type=int, default=5, help="values of a column")
    parser.add_argument("--longest", type=int, default=1000, help="values of a column")
    parser.add_argument("--queries", type=int, default=10, help="columns with at least 20 values")
    parser.add_argument("--numbers", type=int, nargs="*", default=NUMBERS, help="of partitions")
    parser.add_argument("--tau", type=float, default=0.06, help="0.06 is the paper's default")
    parser.add_argument("--embedder", default="glove")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        clustering, number, step = given.answer
        print(json.dumps(answer(given.index, clustering, int(number), given.tau, step == "make")))
        return
    columns = columns_of(given.index, given.columns, given.least, given.longest)
    long_enough = [values for values in columns if len(values) >= 20]
    picked = np.random.default_rng(7).choice(len(long_enough), given.queries, replace=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lake = OneSegment(folder, columns, given.embedder)
        (folder / "ref.json").write_text(json.dumps(lake.ref.to_json()))
        space = lake.texts.space
        queries = [space.dense(pa.array(long_enough[n], pa.large_string())) for n in picked]
        (folder / "queries.pickle").write_bytes(pickle.dumps(queries))
        lines = [
            f"{sum(map(len, columns)):,} vectors, {lake.texts.texts:,} of them distinct, in {len(columns):,} columns, "
            f"{given.embedder}; τ {given.tau:.0%}, T {SHARE:.0%}; {len(queries)} queries of "
            f"{np.mean([len(q) for q in queries]):.0f} values on average.",
            "",
        ]
        for line in report(folder, list(given.numbers), given.tau):
            print(line, flush=True)
            lines.append(line)
    if given.report:
        given.report.write_text("\n".join(lines), encoding="utf-8")
    print(lines[0])


if __name__ == "__main__":
    main()
