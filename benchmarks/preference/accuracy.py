"""How often is the best predicate the declared key, and in what time? Tables III and IV of the paper, with its numbers.

    python benchmarks/preference/accuracy.py --relational DIR --tpch DIR [--pairs]

DIR of --relational has a folder for each database with `tables/*.csv` and `truth.json`; that of --tpch the CSV files
that `tpchgen-cli csv` writes. F1 and seconds are averages over pairs of tables with a declared key between them; the
seconds are those of the processor for reading and coding the two tables, then for the search by each preference.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from databases import TablePair, declared, f1, tpch

from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.scores import DEFAULT, PREFERENCES
from dovetail.join.best_predicate.search import best_predicates
from dovetail.tables.input_table import open_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

PAPER = {
    "TPC-H": ((0.958, 1, 1, 1, 1), (35.1, 62.2, 61.8, 90.4, 134.3)),
    "employees": ((0.833, 1, 1, 1, 0.833), (3.9, 5.2, 5.3, 5.9, 9.6)),
}
"""F1 and seconds of h1 to h5: TPC-H at scale 1, and the whole of Employees (300,024 of them), in PyPy."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relational", type=Path, help="a folder of databases with truth.json")
    parser.add_argument("--tpch", type=Path, help="a folder of TPC-H's tables as CSV")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each search")
    parser.add_argument("--pairs", action="store_true", help="print every pair of tables")
    options = parser.parse_args()
    databases = {"TPC-H": tpch(options.tpch)} if options.tpch else {}
    for folder in sorted(options.relational.glob("*/")) if options.relational else ():
        databases[folder.name] = declared(folder)
    heads = " | ".join(f"{each.name} ({each.symbol})" if each.symbol else each.name for each in PREFERENCES.values())
    print(f"| database | pairs | measure | {heads} | stopped |\n" + "|---" * (len(PREFERENCES) + 4) + "|")
    found = [_measure(name, pairs, options.seconds, options.pairs) for name, pairs in databases.items() if pairs]
    means = {preference: statistics.mean(each[preference] for each in found) for preference in PREFERENCES}
    print(_line("mean", "", "F1", [f"{mean:.3f}" for mean in means.values()], ""))
    record(
        databases=len(found),
        key=means.pop(DEFAULT),
        preferences=means.values(),
    )


def _measure(name: str, pairs: list[TablePair], seconds: float, shown: bool) -> dict[str, float]:
    """Print the figures of a database; returns the F1 of each preference."""
    scores: dict[str, list[float]] = {preference: [] for preference in PREFERENCES}
    times: dict[str, list[float]] = {preference: [] for preference in PREFERENCES}
    read, stopped = [], 0
    for pair in pairs:
        begun = time.process_time()
        tables = [open_table(pair.left), open_table(pair.right)]
        coded = code_tables(tables)
        read.append(time.process_time() - begun)
        names = [
            [table.names[place] for place in each.columns] for table, each in zip(tables, coded.tables, strict=True)
        ]
        for preference in PREFERENCES.values():
            begun = time.process_time()
            best = best_predicates(coded, preference, 1, seconds)
            times[preference.name].append(time.process_time() - begun)
            stopped += not best.complete
            found = {(names[0][a], names[1][b]) for each in best.predicates for _, a, _, b in each.pairs}
            scores[preference.name].append(f1(frozenset(found), pair.truths))
            if shown and scores[preference.name][-1] < 1:
                print(f"  {pair.name}, {preference.name}: {scores[preference.name][-1]:.2f} {sorted(found)[:4]}")
    reading = statistics.mean(read)
    print(_line(name, len(pairs), "F1", [f"{statistics.mean(each):.3f}" for each in scores.values()], stopped))
    searching = [f"{statistics.mean(each):.2f}" for each in times.values()]
    print(_line(name, len(pairs), f"s, after {reading:.2f} of reading", searching, ""), flush=True)
    for measure, numbers in zip(("F1", "s, with reading"), PAPER.get(name, ()), strict=False):
        print(_line(name, "", f"the paper's {measure}", ["–", *map(str, numbers)], ""), flush=True)
    return {preference: statistics.mean(each) for preference, each in scores.items()}


def _line(name: str, pairs: int | str, measure: str, cells: list[str], stopped: int | str) -> str:
    return f"| {name} | {pairs} | {measure} | {' | '.join(cells)} | {stopped} |"


if __name__ == "__main__":
    main()
