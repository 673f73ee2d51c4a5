"""Indexing a lake in an object store beside indexing the same files in a folder.

    AWS_ENDPOINT_URL=http://127.0.0.1:5000 python benchmarks/reading/object_store.py --lake FOLDER --address s3://bucket/lake

Uploads the files of the folder to the address first. Both indexes are made in folders of this machine, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import dovetail
from dovetail._objects import Objects


def upload(lake: Path, address: str) -> int:
    objects, sent = Objects(address), 0
    for path in sorted(path for path in lake.rglob("*") if path.is_file()):
        data = path.read_bytes()
        objects.put(path.relative_to(lake).as_posix(), data)
        sent += len(data)
    return sent


def seconds(lake: str) -> tuple[float, int]:
    """Without the start of Spark, which is the same for both."""
    with tempfile.TemporaryDirectory() as folder:
        report = dovetail.index(lake, Path(folder, "idx"))
    return report.seconds - report.spark_start_seconds, report.tables


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lake", type=Path, required=True)
    options.add_argument("--address", required=True)
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    sent = upload(given.lake, given.address)
    seconds(str(given.lake))  # once, so that kernels are compiled
    ratios = []
    for _ in range(given.repeats):
        (here, tables), (there, same) = seconds(str(given.lake)), seconds(given.address)
        assert tables == same
        ratios.append(there / here)
        print(f"{tables:,} tables, {sent / 1e6:.0f} MB: folder {here:.1f} s, object store {there:.1f} s", flush=True)
    print(f"ratio, median of {given.repeats}: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
