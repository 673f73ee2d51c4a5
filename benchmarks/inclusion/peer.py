"""Desbordante's finders over a folder of CSV files, alone in their process, as JSON. It needs desbordante and pandas.

Spider finds dependencies of one column; Faida and Mind find those of several, and are told to stop at one. Faida is
approximate in principle: it compares sketches of what its sample leaves open.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import tempfile
import time
from pathlib import Path

import desbordante
import pandas as pd

OPTIONS = {
    "Spider": {"threads": 1},
    # Columns that are null or constant are columns too: everybody finds the same.
    "Faida": {"threads": 1, "max_arity": 1, "ignore_null_cols": False, "ignore_constant_cols": False},
    "Mind": {"max_arity": 1},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--algorithm", choices=list(OPTIONS), default="Spider")
    parser.add_argument("--check", action="store_true", help="also a checksum of the dependencies")
    given = parser.parse_args()
    folder = given.folder.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # Faida leaves its files where it runs
        run(folder, given.algorithm, given.check)


def run(folder: Path, algorithm: str, check: bool) -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    files = sorted(folder.glob("*.csv"))
    frames = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    read, read_cpu = time.perf_counter() - begun, time.process_time() - cpu
    finder = getattr(desbordante.ind.algorithms, algorithm)()
    begun, cpu = time.perf_counter(), time.process_time()
    finder.load_data(tables=frames)
    finder.execute(**OPTIONS[algorithm])
    found = finder.get_inds()
    answer = {
        "read_seconds": read,
        "read_cpu": read_cpu,
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "dependencies": len(found),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    if check:
        answer["checksum"] = checksum([file.name for file in files], found)
    print(json.dumps(answer))


def checksum(names: list[str], found: list[object]) -> str:
    """The same for the same dependencies in any order."""
    total = 0
    for dependency in found:
        left, right = dependency.get_lhs().to_index_tuple(), dependency.get_rhs().to_index_tuple()  # type: ignore[attr-defined]
        line = f"{names[left[0]]}:{left[1][0]}<{names[right[0]]}:{right[1][0]}"
        total += int.from_bytes(hashlib.blake2b(line.encode(), digest_size=8).digest(), "little")
    return f"{total % (1 << 64):016x}"


if __name__ == "__main__":
    main()
