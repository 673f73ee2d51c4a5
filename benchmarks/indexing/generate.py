"""Makes a lake with the shape of a real one: many small tables and a few large, of all kinds of column.

    python benchmarks/indexing/generate.py DIR --tables 10000 --gigabytes 2 --seed 1

Sizes are log-normal. Words come from shared Zipf-distributed vocabularies, so that columns overlap. One table in twenty
has another delimiter than the comma, one in twenty-five is gzipped, as many are Parquet. The same arguments make the
same bytes with the same versions of numpy and pyarrow.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from columns import KINDS, Kind
from reporting import emit, markdown_table
from vocabulary import Vocabulary, make_vocabulary

_SPREAD = 2.0  # of the logarithm of the tables' sizes: the median is an eighth of the mean
_SAMPLE_ROWS = 64
_LEAST_ROWS = 4
# (suffix, delimiter, share of the tables)
_FORMATS = (
    (".csv", ",", 0.86), (".csv", ";", 0.025), (".tsv", "\t", 0.02), (".psv", "|", 0.01), (".csv.gz", ",", 0.04),
    (".parquet", "", 0.045),
)  # fmt: skip
_NULLS = ("", "NA", "NULL", "N/A", "-")
_NULL_SHARES = (0.8, 0.08, 0.05, 0.04, 0.03)
_FOLDERS = ("census", "energy", "finance", "health", "housing", "sales", "schools", "sport", "trade", "transport")
_WEIGHTS = np.array([kind.weight for kind in KINDS]) / sum(kind.weight for kind in KINDS)


@dataclass(frozen=True)
class Task:
    """One table to be made."""

    root: Path
    seed: int
    number: int
    bytes: int


@dataclass(frozen=True)
class Made:
    suffix: str
    rows: int
    columns: int
    bytes: int


def sizes(tables: int, total: int, seed: int) -> list[int]:
    """The bytes of each table: the quantiles of a log-normal distribution, shuffled, that add up to `total`."""
    normal = NormalDist()
    shape = np.exp([_SPREAD * normal.inv_cdf((i + 0.5) / tables) for i in range(tables)])
    np.random.default_rng([seed, 2]).shuffle(shape)
    return [int(size) for size in shape / shape.sum() * total]


class TableMaker:
    """Makes the tables of one seed; every process has its own."""

    def __init__(self, seed: int) -> None:
        self._words: Vocabulary = make_vocabulary(seed)

    def make(self, task: Task) -> Made:
        rng = np.random.default_rng([task.seed, 3, task.number])
        suffix, delimiter, _ = _FORMATS[rng.choice(len(_FORMATS), p=[share for *_, share in _FORMATS])]
        kinds = [KINDS[i] for i in rng.choice(len(KINDS), _column_count(rng), p=_WEIGHTS)]
        kinds.sort(key=lambda kind: kind.may_hold_nulls)  # keys stand first
        names = _names(rng, kinds)
        null = str(rng.choice(_NULLS, p=_NULL_SHARES))
        sample = as_text(self._table(task, names, kinds, _SAMPLE_ROWS), delimiter or ",", null)
        rows = max(_LEAST_ROWS, round(task.bytes * _SAMPLE_ROWS / len(sample)))
        path = _path(task, suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, self._table(task, names, kinds, rows), delimiter, null)
        return Made(suffix, rows, len(kinds), path.stat().st_size)

    def _table(self, task: Task, names: list[str], kinds: list[Kind], rows: int) -> pa.Table:
        arrays = []
        for place, kind in enumerate(kinds):
            rng = np.random.default_rng([task.seed, 4, task.number, place])
            share = rng.beta(0.5, 4) if kind.may_hold_nulls and rng.random() < 0.4 else 0
            values = kind.make(rng, rows, self._words)
            arrays.append(pc.if_else(pa.array(rng.random(rows) < share), None, values) if share else values)
        return pa.table(arrays, names)


def _column_count(rng: np.random.Generator) -> int:
    return int(np.clip(rng.lognormal(2.1, 0.6), 2, 30))


def _names(rng: np.random.Generator, kinds: list[Kind]) -> list[str]:
    """A name for each column; the second of the same name gets a number."""
    seen: Counter[str] = Counter()
    names = []
    for kind in kinds:
        name = str(rng.choice(kind.names))
        seen[name.lower()] += 1
        names.append(name if seen[name.lower()] == 1 else f"{name}_{seen[name.lower()]}")
    return names


def _path(task: Task, suffix: str) -> Path:
    folder = _FOLDERS[task.number % len(_FOLDERS)]
    return task.root / folder / f"{task.number // 500:02d}" / f"{folder}-{task.number:05d}{suffix}"


def as_text(table: pa.Table, delimiter: str, null: str) -> pa.Buffer:
    """The table as delimited text, fields in quotes where they need it."""
    columns = [_quoted(column.combine_chunks().cast(pa.string())) for column in table.columns]
    columns[-1] = pc.binary_join_element_wise(columns[-1], "\n", "", null_handling="replace", null_replacement=null)
    lines = pc.binary_join_element_wise(*columns, delimiter, null_handling="replace", null_replacement=null)
    header = delimiter.join(table.column_names) + "\n"
    # The values of a string array lie one after another in memory: that is the file.
    return pa.py_buffer(header.encode() + memoryview(lines.buffers()[2]))


def _quoted(values: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(values, '[",;|\t\n]')
    if not pc.any(special).as_py():
        return values
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(values, '"', '""'), '"', "")
    return pc.if_else(special, quoted, values)


def write(path: Path, table: pa.Table, delimiter: str, null: str) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    text = as_text(table, delimiter, null)
    path.write_bytes(gzip.compress(text, compresslevel=6, mtime=0) if path.suffix == ".gz" else text)


_maker: TableMaker


def _start(seed: int) -> None:
    global _maker
    pa.set_cpu_count(1)
    _maker = TableMaker(seed)


def _make(task: Task) -> Made:
    return _maker.make(task)


def generate(root: Path, tables: int, total: int, seed: int) -> list[Made]:
    tasks = [Task(root, seed, number, size) for number, size in enumerate(sizes(tables, total, seed))]
    tasks.sort(key=lambda task: -task.bytes)
    with ProcessPoolExecutor(os.cpu_count(), initializer=_start, initargs=(seed,)) as pool:
        return list(pool.map(_make, tasks, chunksize=max(1, min(50, tables // 50))))


def report(made: list[Made], seconds: float) -> str:
    largest = sorted((table.bytes for table in made), reverse=True)
    rows = [
        (suffix, f"{len(chosen):,}", f"{sum(t.bytes for t in chosen) / 1e6:,.1f}", f"{sum(t.rows for t in chosen):,}")
        for suffix in sorted({table.suffix for table in made})
        if (chosen := [table for table in made if table.suffix == suffix])
    ]
    return "\n".join(
        [
            f"{len(made):,} tables, {sum(largest) / 1e6:,.1f} MB, {sum(t.columns for t in made):,} columns, "
            f"in {seconds:.1f} s. Median {largest[len(made) // 2] / 1e3:,.1f} kB, largest {largest[0] / 1e6:,.1f} MB, "
            f"{sum(size > 1e6 for size in largest):,} above 1 MB, {sum(size > 1e7 for size in largest):,} above 10 MB.",
            "",
            markdown_table(("format", "tables", "MB", "rows"), rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path, metavar="DIR", help="where to put the lake; must be empty or not there")
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of the lake on disk, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write the report here")
    options = parser.parse_args()
    if options.dir.exists() and any(options.dir.iterdir()):
        parser.error(f"{options.dir} is not empty")
    begun = time.perf_counter()
    made = generate(options.dir, options.tables, int(options.gigabytes * 1e9), options.seed)
    emit(report(made, time.perf_counter() - begun), options.report)


if __name__ == "__main__":
    main()
