"""How long the join itself takes beside SQL written by hand for DuckDB, on the same normalised keys.

    python benchmarks/preference/execution.py --tpch DIR [--threads 1]

Both start from Arrow tables of text in memory and the tokens of the keys, and end with an Arrow table. Ours has its
rows in order; the query is timed without and with ORDER BY. Times are of the processor, so that a busy machine does not
matter.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import dovetail
from dovetail.tables.input_table import InputTable, open_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_JOINS = (
    ("lineitem", "orders", (("l_orderkey", "o_orderkey"),)),
    ("lineitem", "partsupp", (("l_partkey", "ps_partkey"), ("l_suppkey", "ps_suppkey"))),
    ("orders", "customer", (("o_custkey", "c_custkey"),)),
)
_KINDS = {"inner": "INNER", "left": "LEFT", "outer": "FULL"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpch", type=Path, required=True, help="a folder of TPC-H's tables as CSV")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    pa.set_cpu_count(options.threads)
    ratios: list[float] = []
    for left, right, on in _JOINS:
        sides = [open_table(options.tpch / f"{name}.csv", name) for name in (left, right)]
        for place, each in enumerate(sides):
            for pair in on:
                each.column(pair[place]).codes()
        ratios += [_compare(sides, on, how, options) for how in _KINDS]
    record(ratio=ratios)


def _compare(sides: list[InputTable], on: tuple[tuple[str, str], ...], how: str, options: argparse.Namespace) -> float:
    """Our time by that of SQL without an order."""
    ours = _median(lambda: dovetail.join(*sides, on=list(on), how=how).table, options.repeat)
    with duckdb.connect(config={"threads": options.threads}) as connection:
        for place, (name, each) in enumerate(zip("lr", sides, strict=True)):
            keys = {f"k{number}": _tokens(each, pair[place]) for number, pair in enumerate(on)}
            table = each.text.append_column("_row", pa.array(range(each.rows)))
            for key, values in keys.items():
                table = table.append_column(key, values)
            connection.register(name, table)
        equal = " AND ".join(f"l.k{number} = r.k{number}" for number in range(len(on)))
        query = f"SELECT l.*, r.* FROM l {_KINDS[how]} JOIN r ON {equal}"
        plain, ordered = (
            _median(lambda text=text: connection.sql(text).to_arrow_table(), options.repeat)
            for text in (query, f"{query} ORDER BY l._row, r._row")
        )
    name = f"{sides[0].name} – {sides[1].name}, {how}"
    print(
        f"{name:34} ours {ours:6.2f} s   SQL {plain:6.2f} s, in order {ordered:6.2f} s   "
        f"{ours / plain:5.2f} x, {ours / ordered:5.2f} x",
        flush=True,
    )
    return ours / plain


def _tokens(one: InputTable, name: str) -> pa.Array:
    column = one.column(name)
    codes = column.codes()
    return column.tokens.take(pa.array(codes, mask=codes < 0))


def _median(work: Callable[[], Any], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


if __name__ == "__main__":
    main()
