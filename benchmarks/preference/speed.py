"""The best predicate of pairs of TPC-H's tables: ours, beside SQL in DuckDB that scores predicates one by one.

    python benchmarks/preference/speed.py --tpch DIR [--tables lineitem-orders,…] [--threads 1]

Both read the same CSV files. The script in SQL loads each table as text, tries every pair of columns and extends each
predicate that joins anything by every later pair that does, up to --size pairs: what one would write without the paper.
Times are of the processor, with one thread each, so that a busy machine does not matter. `--prunings`: our search
without each pruning, as in the paper's Figure 5.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path
from typing import NamedTuple

import duckdb
import numba
from databases import TPCH

from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.groups import TwoCoded
from dovetail.join.best_predicate.scores import PREFERENCES
from dovetail.join.best_predicate.search import Search
from dovetail.tables.input_table import open_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_FEW = 100  # rows of the larger table, below which starting and compiling are all that is measured
_STATISTICS = """
WITH l AS (SELECT {left}, count(*) AS n FROM l WHERE {left_filled} GROUP BY ALL),
     r AS (SELECT {right}, count(*) AS n FROM r WHERE {right_filled} GROUP BY ALL)
SELECT sum(l.n), sum(r.n), sum(l.n::HUGEINT * r.n), count(*), sum(l.n * r.n * log2(l.n * r.n))
FROM l JOIN r ON {equal}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpch", type=Path, required=True, help="a folder of TPC-H's tables as CSV")
    parser.add_argument("--tables", default="", help="pairs such as lineitem-orders; all without it")
    parser.add_argument("--prefer", default="groups", choices=list(PREFERENCES))
    parser.add_argument("--size", type=int, default=1, help="pairs of columns of a predicate in SQL, at most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="of a search without a pruning")
    parser.add_argument("--prunings", action="store_true")
    options = parser.parse_args()
    numba.set_num_threads(options.threads)
    named = [tuple(each.split("-")) for each in options.tables.split(",") if each] or list(TPCH)
    compared = []
    for left, right in named:
        paths = options.tpch / f"{left}.csv", options.tpch / f"{right}.csv"
        if options.prunings:
            _prunings(paths, options.seconds)
        else:
            compared.append(_compare(paths, options))
    worth = [each for each in compared if each.rows >= _FEW]
    record(in_all=[each.in_all for each in worth], without_reading=[each.without_reading for each in worth])


class Compared(NamedTuple):
    """How many times as fast as SQL, and the rows of the larger table."""

    rows: int
    in_all: float
    without_reading: float


def _compare(paths: tuple[Path, Path], options: argparse.Namespace) -> Compared:
    begun = time.process_time()
    tables = [open_table(path) for path in paths]
    read = time.process_time()
    coded = code_tables(tables)
    best = Search(TwoCoded(coded), PREFERENCES[options.prefer], 1, options.seconds).run()
    ours = time.process_time()
    name = " – ".join(path.stem for path in paths)
    print(f"{name:24} ours: read {read - begun:6.2f} s, best {ours - read:6.2f} s", end="", flush=True)
    loading, scoring, queries = _in_sql(paths, options)
    rows = max(table.rows for table in tables)
    found = Compared(rows, (loading + scoring) / (ours - begun), scoring / (ours - read))
    print(
        f"   SQL: read {loading:6.2f} s, {queries} queries {scoring:7.2f} s   "
        f"{found.in_all:5.1f} x in all, {found.without_reading:5.1f} x without reading"
        + ("" if best.complete else "   cut short"),
        flush=True,
    )
    return found


def _in_sql(paths: tuple[Path, Path], options: argparse.Namespace) -> tuple[float, float, int]:
    begun = time.process_time()
    with duckdb.connect(config={"threads": options.threads}) as connection:
        for name, path in zip("lr", paths, strict=True):
            connection.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}', all_varchar = true)")
        loaded = time.process_time()
        columns = [[row[0] for row in connection.execute(f"DESCRIBE {name}").fetchall()] for name in "lr"]
        pairs = list(itertools.product(*columns))
        level = [(pair,) for pair in pairs]
        queries = 0
        alone: list[tuple[str, str]] = []  # pairs that join anything by themselves
        for size in range(options.size):
            joining = []
            for predicate in level:
                queries += 1
                if connection.execute(_query(predicate)).fetchone()[3]:
                    joining.append(predicate)
            alone = alone if size else [predicate[0] for predicate in joining]
            level = [(*p, pair) for p in joining for pair in alone if pairs.index(pair) > pairs.index(p[-1])]
            if not level:
                break
        return loaded - begun, time.process_time() - loaded, queries


def _query(predicate: tuple[tuple[str, str], ...]) -> str:
    sides = [[f'"{pair[side]}"' for pair in predicate] for side in (0, 1)]
    return _STATISTICS.format(
        left=", ".join(f"{name} AS k{place}" for place, name in enumerate(sides[0])),
        right=", ".join(f"{name} AS k{place}" for place, name in enumerate(sides[1])),
        left_filled=" AND ".join(f"{name} IS NOT NULL" for name in sides[0]),
        right_filled=" AND ".join(f"{name} IS NOT NULL" for name in sides[1]),
        equal=" AND ".join(f"l.k{place} = r.k{place}" for place in range(len(predicate))),
    )


def _prunings(paths: tuple[Path, Path], seconds: float) -> None:
    coded = code_tables([open_table(path) for path in paths])
    print(" – ".join(path.stem for path in paths))
    for preference in PREFERENCES.values():
        line = f"  {preference.name:10}"
        for title, closed, bounded in (
            ("both", True, True),
            ("no closed", False, True),
            ("no bound", True, False),
            ("neither", False, False),
        ):
            begun = time.process_time()
            best = Search(TwoCoded(coded), preference, 1, seconds, closed, bounded).run()
            late = "" if best.complete else "+"
            line += f"   {title}: {time.process_time() - begun:6.2f}{late} s, {best.visited}{late} visited"
        print(line, flush=True)


if __name__ == "__main__":
    main()
