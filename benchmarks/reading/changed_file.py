"""A Delta table of many files, indexed, and indexed again after one of its files has changed; where the time goes.

python benchmarks/reading/changed_file.py --rows 2000000 --files 100
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import deltalake
import numpy as np
import pyarrow as pa

import dovetail
from dovetail.pipeline import jobs

SEED = 0


def make_table(folder: str, rows: int, files: int) -> None:
    """A key, a reference, a city, an amount, a day and a note that nearly identifies its row."""
    draw = np.random.default_rng(SEED)
    each = rows // files
    for number in range(files):
        ids = np.arange(number * each, (number + 1) * each)
        columns = {
            "id": ids,
            "customer": draw.integers(0, max(1, rows // 10), each),
            "city": pa.array([f"city {city}" for city in draw.integers(0, 5000, each)]),
            "amount": np.round(draw.random(each) * 1000, 2),
            "day": pa.array(np.datetime64("2020-01-01") + draw.integers(0, 2000, each)),
            "note": pa.array([f"order {a} of {b}" for a, b in zip(ids, draw.integers(0, 99, each), strict=True)]),
        }
        deltalake.write_deltalake(folder, pa.table(columns), mode="append")


def timed_jobs() -> list[tuple[str, float]]:
    """What each Spark job of the runs that follow is called, and its seconds."""
    found: list[tuple[str, float]] = []
    run = jobs.run_tasks

    def timed(*given: Any) -> list[Any]:
        begun = time.perf_counter()
        answers = run(*given)
        found.append((given[4], time.perf_counter() - begun))
        return answers

    jobs.run_tasks = timed
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--files", type=int, default=100)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        lake, to = Path(made, "lake"), Path(made, "idx")
        table = str(lake / "events")
        make_table(table, given.rows, given.files)
        dovetail.index(lake, Path(made, "warm"))  # so that kernels are compiled
        found = timed_jobs()
        for name in ("first", "again"):
            found.clear()
            report = dovetail.index(lake, to)
            print(f"{name}: {report.seconds:.1f} s, of them {report.spark_start_seconds:.1f} s to start Spark")
            for description, seconds in found:
                print(f"  {seconds:5.1f} s  {description}", flush=True)
            changed = deltalake.DeltaTable(table).update({"amount": "amount + 1"}, predicate="id = 0")
            assert changed["num_added_files"] == changed["num_removed_files"] == 1


if __name__ == "__main__":
    main()
