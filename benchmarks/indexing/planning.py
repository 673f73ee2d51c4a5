"""What the driver does before the first task, for a lake of a million files: a simulated listing, never on disk.

    python benchmarks/indexing/planning.py [--files 1000000] [--megabytes 0.1] [--report FILE]

A first run has all of them to read. In a later run the index holds them in segments of 1,000 tables, of which some have
changed and some are gone. Timed is all that grows with the number of files: reading the catalogs, comparing, grouping,
and describing the tasks. The listing itself depends on the storage.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from reporting import emit, machine, markdown_table

from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail.lake.listing import Root, TableFile
from dovetail.pipeline.generation import tables_of_segment, without
from dovetail.pipeline.plan import batch_groups, compare, disk_bytes, group_files
from dovetail.pipeline.probe import witnesses_of_lake
from dovetail.settings import DEFAULTS, MB

_WORKERS = 64
_TABLES_A_SEGMENT = 1_000
_CHANGED = 0.05
_GONE = 0.01
_SPREAD = 2.0  # of the logarithm of sizes: from some kilobytes to some hundred megabytes, as lakes have


def listing(number: int, mean_bytes: float, mark: str = "") -> dict[str, TableFile]:
    """Files in folders of a hundred, with sizes of all orders of magnitude."""
    sizes = np.random.default_rng(1).lognormal(np.log(mean_bytes) - _SPREAD**2 / 2, _SPREAD, number).astype(int)
    files = {}
    for place, size in enumerate(sizes.tolist()):
        name = f"department-{place // 10_000:03}/topic-{place // 100 % 100:02}/table-{place:07}.csv"
        fingerprint = f"{size}-{1_700_000_000_000_000_000 + place}-r-"
        files[name] = TableFile(name, f"/data/lake/{name}", size, fingerprint)
    return files


def catalogs(files: dict[str, TableFile]) -> list[tuple[SegmentRef, pa.Table]]:
    """What the last generation knows of them."""
    names = list(files)
    marks = [file.fingerprint for file in files.values()]
    for place in range(0, len(marks), round(1 / _CHANGED)):
        marks[place] += "before"
    for place in range(1, len(names), round(1 / _GONE)):
        names[place] += ".gone"
    table = pa.table({"table": pa.array(names, pa.large_string()), "fingerprint": pa.array(marks, pa.large_string())})
    starts = range(0, len(names), _TABLES_A_SEGMENT)
    parts = [table.slice(start, _TABLES_A_SEGMENT) for start in starts]
    return [(SegmentRef(f"segment-{n}", "0" * 16, part.num_rows), part) for n, part in enumerate(parts)]


class Clock:
    """Times of named stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds = 0.0

    def run(self, stage: str, work: Callable[[], Any]) -> Any:
        started, before = time.perf_counter(), time.process_time()
        answer = work()
        self.seconds[stage] = time.perf_counter() - started
        self.cpu_seconds += time.process_time() - before
        return answer


def plan(files: dict[str, TableFile], segments: list[tuple[SegmentRef, pa.Table]]) -> tuple[Clock, int, int]:
    """The stages of `pipeline/run.py` from the listing to the first task, the files to read, and their groups."""
    clock = Clock()
    root = Root("/data/lake")

    def known() -> dict[str, Any]:
        return {name: place for ref, part in segments for name, place in tables_of_segment(ref, part).items()}

    indexed = clock.run("read catalogs", known)
    changes = clock.run("compare", lambda: compare(files, indexed))
    manifest = Manifest(1, tuple(ref for ref, _ in segments))
    clock.run("mark what is gone", lambda: without(manifest, (indexed[table] for table in changes.gone)))
    clock.run("witnesses, disk", lambda: (witnesses_of_lake([root], changes.to_read), disk_bytes(changes.to_read)))
    sizes = DEFAULTS.segment_mb * MB, DEFAULTS.slice_mb * MB
    groups = clock.run("group", lambda: group_files(changes.to_read, *sizes, _WORKERS))
    batches = clock.run("batches", lambda: batch_groups(groups, _WORKERS))

    def describe() -> None:
        for batch in batches:
            for group in batch:
                json.dumps({"tables": [{"file": file.to_json()} for file in group]})

    clock.run("describe tasks", describe)
    return clock, len(changes.to_read), len(groups)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=float, default=0.1, help="of a file, on average")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    files = listing(options.files, options.megabytes * MB)
    rows = []
    for label, segments in (("first run", []), ("later run", catalogs(files))):
        gc.collect()
        clock, read, groups = plan(files, segments)
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in clock.seconds.items() if seconds >= 0.05)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        rows.append(
            (label, f"{options.files:,}", f"{read:,}", f"{groups:,}", f"{sum(clock.seconds.values()):.1f}",
             f"{clock.cpu_seconds:.1f}",             f"{peak:,.0f}", stages)
        )  # fmt: skip
    names = ("", "files listed", "to read", "groups", "seconds", "CPU seconds", "peak RSS, MB", "of which, seconds")
    emit(f"{machine()}\n\n{markdown_table(names, rows)}", options.report)


if __name__ == "__main__":
    main()
