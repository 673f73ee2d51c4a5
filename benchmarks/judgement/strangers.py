"""How many pairs of tables that nothing joins get a program, and how many get a join where nothing is said.

    python benchmarks/judgement/strangers.py TRUTH/relational [--pairs 200]

The pairs are those of `cases.strangers`: two tables of different databases. Joins are judged by the stored models,
which have seen some of these pairs (`fit.py` judges them by models that have not): this compares versions of Dovetail.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path

from cases import strangers

from dovetail._deadline import Deadline
from dovetail.evidence.thresholds import LIKELY_JOIN
from dovetail.join.compete import compete
from dovetail.join.request import SECONDS
from dovetail.tables.input_table import InputTable
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import Discovery, discover

_SEED = 7  # as in `cases.all_cases`


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--only-programs", action="store_true", help="not what is joined where nothing is said")
    options = parser.parse_args()
    programs = joined = 0
    begun = time.process_time()
    for case in islice(strangers(options.databases, _SEED), options.pairs):
        tables = case.tables()
        if found := _learned(*tables):
            programs += 1
            print(f"program  {case.name}: {found.programs[0].words} = {found.target}", flush=True)
        best = None if options.only_programs else compete(*tables, Deadline(SECONDS)).best
        if best and best.probability >= LIKELY_JOIN:
            joined += 1
            print(f"joined   {case.name}: {best.condition}, {best.probability:.2f}", flush=True)
    seconds = time.process_time() - begun
    print(f"{options.pairs} pairs of strangers: {programs} get a program, {joined} are joined; {seconds:.0f} s")


def _learned(left: InputTable, right: InputTable) -> Discovery | None:
    mine, theirs = ({name: table.values(name) for name in table.names} for table in (left, right))
    deadline = Deadline(SECONDS)
    return discover(mine, theirs, deadline=deadline) or discover_composite(mine, theirs, deadline)


if __name__ == "__main__":
    main()
