"""The peers: what clevercsv and DuckDB's sniffer make of the same files."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

Shape = tuple[int, int]


def clevercsv_shape(path: Path, encoding: str) -> Shape:
    import clevercsv

    text = path.read_bytes().decode(encoding or "utf-8", errors="replace")
    dialect = clevercsv.Sniffer().sniff(text[:65536])
    rows = list(csv.reader(text.splitlines(keepends=True), dialect.to_csv_dialect()))
    rows = [row for row in rows if row]
    return len(rows) - 1, max(map(len, rows))


def duckdb_shape(path: Path, encoding: str) -> Shape:
    import duckdb

    option = ", encoding='latin-1'" if encoding in ("cp1252", "latin-1") else ""
    with duckdb.connect() as connection:
        connection.execute("set threads=1")
        name = str(path).replace("'", "''")
        read = f"from read_csv('{name}', all_varchar=true{option})"
        found = connection.execute(f"select count(*) {read}").fetchone()
        columns = connection.execute(f"select * {read} limit 0").description
        assert found is not None
        return int(found[0]), len(columns)


def errors_of(name: str) -> tuple[type[Exception], ...]:
    if name == "clevercsv":
        import clevercsv

        return clevercsv.Error, csv.Error, UnicodeError, AttributeError, ValueError
    import duckdb

    return (duckdb.Error,)


PEERS: dict[str, Callable[[Path, str], Shape]] = {"clevercsv": clevercsv_shape, "DuckDB": duckdb_shape}


def compare(files: list[tuple[Path, str, Shape]], give_up_after: float = 10.0) -> list[str]:
    """One line for each peer: the share with the stated shape, and the median and mean milliseconds."""
    lines = []
    for name, shape_of in PEERS.items():
        right, failed, times = 0, 0, []
        for path, encoding, stated in files:
            start = time.perf_counter()
            try:
                right += shape_of(path, encoding) == stated
            except errors_of(name):
                failed += 1
            times.append((time.perf_counter() - start) * 1000)
        times.sort()
        lines.append(
            f"{name}: {right / len(files):.1%} of {len(files)} files right, {failed} refused, "
            f"{times[len(times) // 2]:.1f} ms median, {sum(times) / len(times):.1f} ms mean"
        )
    return lines
