"""The peers: what clevercsv and DuckDB's sniffer make of the same files."""

from __future__ import annotations

import csv
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Shape = tuple[int, int]


def clevercsv_shape(path: Path, encoding: str) -> Shape:
    import clevercsv

    text = path.read_bytes().decode(encoding or "utf-8", errors="replace")
    dialect = clevercsv.Sniffer().sniff(text[:65536])
    rows = list(csv.reader(text.splitlines(keepends=True), dialect.to_csv_dialect()))
    rows = [row for row in rows if row]
    return len(rows) - 1, max(map(len, rows))


@functools.cache
def connection() -> Any:
    """One connection for all files: opening one costs more than sniffing."""
    import duckdb

    opened = duckdb.connect()
    opened.execute("set threads=1")
    return opened


def duckdb_shape(path: Path, encoding: str) -> Shape:
    option = ", encoding='latin-1'" if encoding in ("cp1252", "latin-1") else ""
    name = str(path).replace("'", "''")
    read = f"from read_csv('{name}', all_varchar=true{option})"
    (rows,) = connection().execute(f"select count(*) {read}").fetchone()
    return int(rows), len(connection().execute(f"select * {read} limit 0").description)


def errors_of(name: str) -> tuple[type[Exception], ...]:
    if name == "clevercsv":
        import clevercsv

        return clevercsv.Error, csv.Error, UnicodeError, AttributeError, ValueError
    import duckdb

    return (duckdb.Error,)


PEERS: dict[str, Callable[[Path, str], Shape]] = {"clevercsv": clevercsv_shape, "DuckDB": duckdb_shape}


def compare(files: list[tuple[Path, str, Shape]]) -> list[str]:
    """One line for each peer: the share with the stated shape, and milliseconds of processor time."""
    lines = []
    for name, shape_of in PEERS.items():
        right, failed, times = 0, 0, []
        for path, encoding, stated in files:
            start = time.process_time()
            try:
                right += shape_of(path, encoding) == stated
            except errors_of(name):
                failed += 1
            times.append((time.process_time() - start) * 1000)
        times.sort()
        lines.append(
            f"{name}: {right / len(files):.1%} of {len(files)} files right, {failed} refused, "
            f"{times[len(times) // 2]:.1f} ms median, {sum(times) / len(times):.1f} ms mean"
        )
    return lines
