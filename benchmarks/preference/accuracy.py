"""How often the best predicate is the declared key: F1 averaged over pairs of tables, as in the paper's Table III.

    python benchmarks/preference/accuracy.py --relational DIR --tpch DIR [--pairs]

DIR of --relational has a folder for each database with `tables/*.csv` and `truth.json`; that of --tpch the CSV files
that `tpchgen-cli csv` writes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from databases import TablePair, declared, f1, tpch

from dovetail.join.best_predicate.predicates import named_predicates
from dovetail.join.best_predicate.scores import PREFERENCES
from dovetail.tables.input_table import open_table


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
    heads = "".join(f"{name:>10}" for name in PREFERENCES)
    print(f"{'database':14}{'pairs':>6}{heads}{'s/pair':>8}  cut short")
    for name, pairs in databases.items():
        _measure(name, pairs, options.seconds, options.pairs)


def _measure(name: str, pairs: list[TablePair], seconds: float, shown: bool) -> None:
    scores: dict[str, list[float]] = {preference: [] for preference in PREFERENCES}
    spent, cut = 0.0, 0
    for pair in pairs:
        tables = [open_table(pair.left), open_table(pair.right)]
        for preference in PREFERENCES:
            begun = time.perf_counter()
            answer = named_predicates(tables, preference, 1, seconds)
            spent += time.perf_counter() - begun
            cut += not answer.complete
            found = frozenset((each.left, each.right) for each in answer[0].pairs) if len(answer) else frozenset()
            scores[preference].append(f1(found, pair.truths))
            if shown and scores[preference][-1] < 1:
                print(f"  {pair.name}, {preference}: {scores[preference][-1]:.2f} {sorted(found)[:4]}")
    means = "".join(f"{statistics.mean(values):10.3f}" for values in scores.values())
    print(f"{name:14}{len(pairs):6}{means}{spent / len(pairs) / len(scores):8.2f}  {cut}", flush=True)


if __name__ == "__main__":
    main()
