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

from dovetail.join.choose import join_tables
from dovetail.join.request import JoinRequest

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
        left, right = case.tables()
        learned = join_tables(left, right, JoinRequest(by="transform"))
        if learned.transformation is not None:
            programs += 1
            print(f"program  {case.name}: {learned.transformation} = {learned.transformation.target}", flush=True)
        if not options.only_programs and len((found := join_tables(left, right, JoinRequest())).matches.left):
            joined += 1
            print(f"joined   {case.name}: {found.by}, {found.condition}, {found.probability:.2f}", flush=True)
    seconds = time.process_time() - begun
    print(f"{options.pairs} pairs of strangers: {programs} get a program, {joined} are joined; {seconds:.0f} s")


if __name__ == "__main__":
    main()
