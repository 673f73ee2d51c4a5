"""How many of the first n likely foreign keys are true, where n is the number of declared ones.

Takes a folder of databases, each with `tables/*.csv` and a `truth.json` that lists `foreign_keys` with `from_table`,
`from_columns`, `to_table` and `to_columns`; and, with --tpch, a folder of TPC-H's tables as CSV files with a header
(`tpchgen-cli csv -s 0.02`). Each database is a lake; then all of them are one, in folders, and with their names before
those of the files in a single folder. Beside it, the same share for dependencies that only pass the filters, in the
order of their coverage: MANY's four, and all but that of whole numbers.

The stored models were fitted to the databases of `benchmarks/judgement/fit_keys.py`: what it reports of databases that
were left out is what counts for these, this program for others.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import dovetail

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

Key = tuple[str, frozenset[tuple[str, str]], str]

TPCH = (
    "lineitem l_orderkey orders o_orderkey",
    "lineitem l_partkey part p_partkey",
    "lineitem l_suppkey supplier s_suppkey",
    "lineitem l_partkey,l_suppkey partsupp ps_partkey,ps_suppkey",
    "partsupp ps_partkey part p_partkey",
    "partsupp ps_suppkey supplier s_suppkey",
    "orders o_custkey customer c_custkey",
    "customer c_nationkey nation n_nationkey",
    "supplier s_nationkey nation n_nationkey",
    "nation n_regionkey region r_regionkey",
)
"""The keys that section 1.4 of the specification names."""


def tpch_keys() -> Iterator[Key]:
    for line in TPCH:
        table, columns, other, others = line.split()
        pairs = zip(columns.split(","), others.split(","), strict=True)
        yield f"{table}.csv", frozenset(pairs), f"{other}.csv"


def declared(database: Path, prefix: str = "") -> Iterator[Key]:
    for key in json.loads((database / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]:
        pairs = zip(key["from_columns"], key["to_columns"], strict=True)
        yield f"{prefix}{key['from_table']}.csv", frozenset(pairs), f"{prefix}{key['to_table']}.csv"


def found_keys(rows: Iterable[dict[str, Any]]) -> list[Key]:
    return [
        (
            row["dependent_table"],
            frozenset(zip(row["dependent_columns"], row["referenced_columns"], strict=True)),
            row["referenced_table"],
        )
        for row in rows
    ]


def by_coverage(lake: dovetail.Lake, number: int, integers: bool) -> list[Key]:
    rows = lake.inds(integers=integers).to_dicts()
    return found_keys(sorted(rows, key=lambda row: -row["coverage"])[:number])


def measure(name: str, folder: Path, index: Path, truth: set[Key], misses: bool) -> list[int]:
    """Declared, and true among the first ones of ours, of the filters, and of the filters with whole numbers.

    Precision, recall and F1 at the number of true keys are all true ones by declared ones.
    """
    if not index.exists():
        dovetail.index(folder, index)
    lake = dovetail.open(index)
    number = len(truth)
    ours = found_keys(lake.foreign_keys(min_score=0).to_dicts(number))
    rankings = [ours, by_coverage(lake, number, integers=False), by_coverage(lake, number, integers=True)]
    line(name, [number, *(len(set(keys) & truth) for keys in rankings)])
    if misses:
        for what, keys in (("missed", truth - set(ours)), ("false", set(ours) - truth)):
            for table, pairs, other in sorted(keys, key=str):
                print(f"    {what}: {table} {sorted(pairs)} {other}")
    return [number, *(len(set(keys) & truth) for keys in rankings)]


def line(name: str, counts: list[int]) -> None:
    shares = " | ".join(f"{count / counts[0]:.2f}" for count in counts[1:])
    print(f"| {name} | {counts[0]} | {counts[1]} | {shares} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--tpch", type=Path, metavar="FOLDER", help="TPC-H's tables")
    parser.add_argument("--work", type=Path, required=True, help="where to put lakes and indexes, a new folder")
    parser.add_argument("--misses", action="store_true", help="list what is missed, and what is found instead")
    given = parser.parse_args()
    databases = sorted(path.parent for path in given.databases.glob("*/truth.json"))
    print("| lake | declared | found | F1 | filters, by coverage | … with whole numbers |\n|:--|--:|--:|--:|--:|--:|")
    within: list[list[int]] = []
    for database in databases:
        index = given.work / f"{database.name}.idx"
        within.append(measure(database.name, database / "tables", index, set(declared(database)), given.misses))
    totals = [sum(counts) for counts in zip(*within, strict=True)]
    line("**within a database**", totals)
    in_one = {}
    if given.tpch:
        measure("TPC-H", given.tpch, given.work / "tpch.idx", set(tpch_keys()), given.misses)
    for name, mark in (("folders", "/"), ("flat", "__")):
        lake = given.work / name
        for database in databases:
            for file in (database / "tables").glob("*.csv"):
                target = lake / f"{database.name}{mark}{file.name}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
        truth = {key for database in databases for key in declared(database, f"{database.name}{mark}")}
        in_one[name] = measure(f"one lake, {name}", lake, given.work / f"{name}.idx", truth, given.misses)
    record(filters_within=totals[2] / totals[0], filters_one_lake=in_one["folders"][2] / in_one["folders"][0])


if __name__ == "__main__":
    main()
