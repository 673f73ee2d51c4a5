"""The peer: DuckDB merely reading the same files into the distinct values of every column.

    python benchmarks/indexing/peer.py LAKE [--all-varchar] [--compare]

Every file that `dovetail index` would try is read once, with DuckDB's own sniffing of dialect and types (or all columns
as text with --all-varchar). Files that DuckDB refuses are counted and listed. Three ways to ask are known here, and
--compare times them all, with one and with two files at a time; the default is the one that was fastest.
"""

from __future__ import annotations

import argparse
import json
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import duckdb
from reporting import emit, machine, markdown_table

from dovetail.lake.formats import format_of
from dovetail.lake.listing import Root
from dovetail.lake.source import list_lake

_SHOWN_FAILURES = 10
_A_QUERY = 40  # columns


@dataclass
class Outcome:
    """What reading a lake came to."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    bytes: int = 0
    files: int = 0
    columns: int = 0
    distinct: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.bytes / 1e6 / self.seconds


def relation(path: str, all_varchar: bool) -> str:
    """The table function that reads a file."""
    name = "'" + path.replace("'", "''") + "'"
    found = format_of(path)
    match found[0] if found else "":
        case "parquet":
            return f"read_parquet({name})"
        case "jsonl":
            return f"read_json({name}, format='newline_delimited')"
        case "delimited":
            return f"read_csv({name}{', all_varchar=true' if all_varchar else ''})"
    raise duckdb.NotImplementedException("DuckDB reads no Arrow files without an extension")


def count_directly(connection: duckdb.DuckDBPyConnection, source: str) -> list[int]:
    """All counts in one pass over the file."""
    rows = connection.execute(f"SELECT count(DISTINCT COLUMNS(*)) FROM {source}").fetchall()
    return list(rows[0])


def count_in_table(connection: duckdb.DuckDBPyConnection, source: str) -> list[int]:
    """Into a temporary table, then all counts in one pass over that."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE held AS FROM {source}")
    return count_directly(connection, "held")


def select_distinct(connection: duckdb.DuckDBPyConnection, source: str) -> list[int]:
    """Into a temporary table, then one query with a SELECT DISTINCT for every column, of a few columns at a time.

    One query over thousands of columns would take DuckDB longer to plan than to run.
    """
    connection.execute(f"CREATE OR REPLACE TEMP TABLE held AS FROM {source}")
    names = [column[0].replace('"', '""') for column in connection.execute("FROM held LIMIT 0").description]
    each = [f'SELECT count(value) FROM (SELECT DISTINCT "{name}" AS value FROM held)' for name in names]
    parts = (" UNION ALL ".join(each[start : start + _A_QUERY]) for start in range(0, len(each), _A_QUERY))
    return [row[0] for part in parts for row in connection.execute(part).fetchall()]


WAYS: dict[str, Callable[[duckdb.DuckDBPyConnection, str], list[int]]] = {
    "select-distinct": select_distinct,
    "count-in-table": count_in_table,
    "count-directly": count_directly,
}


def read_lake(lake: Path, all_varchar: bool, way: str, streams: int, threads: int = 2) -> Outcome:
    """Read every file; `streams` files at a time share the `threads` of one database."""
    files = list(list_lake([Root.of(str(lake))]).values())
    outcome = Outcome()
    left: queue.SimpleQueue[tuple[str, str, int]] = queue.SimpleQueue()
    for file in sorted(files, key=lambda file: -file.bytes):
        left.put((file.table, file.path, file.bytes))
    lock = threading.Lock()

    def work(connection: duckdb.DuckDBPyConnection) -> None:
        while not left.empty():
            try:
                table, path, size = left.get_nowait()
            except queue.Empty:
                return
            try:
                counts = WAYS[way](connection, relation(path, all_varchar))
            except duckdb.Error as error:
                outcome.failed.append((table, str(error).splitlines()[0].replace(path, table)))
                continue
            with lock:
                outcome.files += 1
                outcome.bytes += size
                outcome.columns += len(counts)
                outcome.distinct += sum(counts)

    begun, cpu = time.perf_counter(), time.process_time()
    with duckdb.connect(config={"threads": threads}) as database:
        pool = [threading.Thread(target=work, args=(database.cursor(),)) for _ in range(streams)]
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()
    outcome.seconds, outcome.cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu
    return outcome


def report(outcomes: dict[str, Outcome]) -> str:
    rows = [
        (
            name, f"{o.seconds:.2f}", f"{o.cpu_seconds:.2f}", f"{o.speed:.1f}",
            f"{o.files:,}", f"{len(o.failed):,}", f"{o.columns:,}", f"{o.distinct:,}",
        )
        for name, o in outcomes.items()
    ]  # fmt: skip
    names = ("way", "seconds", "CPU seconds", "MB/s", "files", "failed", "columns", "distinct values")
    failed = {failure for outcome in outcomes.values() for failure in outcome.failed}
    lines = [machine(), "", markdown_table(names, rows), ""]
    lines += [f"- refused {table}: {reason}" for table, reason in sorted(failed)[:_SHOWN_FAILURES]]
    if len(failed) > _SHOWN_FAILURES:
        lines.append(f"- and {len(failed) - _SHOWN_FAILURES:,} more")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", type=Path, metavar="LAKE")
    parser.add_argument("--all-varchar", action="store_true", help="read every column of text files as text")
    parser.add_argument("--way", choices=WAYS, default="select-distinct", help="how distinct values are asked for")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="files read at a time (2)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="DuckDB's threads (2)")
    parser.add_argument("--compare", action="store_true", help="time every way instead of one")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON instead of the report")
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write the report here")
    options = parser.parse_args()
    ways = [(way, n) for way in WAYS for n in (1, 2)] if options.compare else [(options.way, options.streams)]
    outcomes = {
        f"{way}, {streams} at a time": read_lake(options.lake, options.all_varchar, way, streams, options.threads)
        for way, streams in ways
    }
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes.values()]))
    else:
        emit(report(outcomes), options.report)


if __name__ == "__main__":
    main()
