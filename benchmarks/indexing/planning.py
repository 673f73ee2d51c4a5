"""What the driver does before the first task, for a lake of a million files: a simulated listing, never on disk.

    python benchmarks/indexing/planning.py [--files 1000000] [--megabytes 0.1] [--report FILE]

A first run has all of them to read. In a later run the index holds them in segments of 1,000 tables, of which some have
changed and some are gone. Timed is all that grows with the number of files: making files of the names that an object
store lists, reading the catalogs, comparing, grouping, and describing the tasks. How fast the names come depends on the
store. With `--folder`, the files of a folder are listed, too, from disk.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from reporting import emit, machine, markdown_table

from dovetail._objects import StoredObject
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail._storage.store import LocalStore, Store
from dovetail.lake import files
from dovetail.lake.layout import Layout
from dovetail.lake.listing import Root, TableFile
from dovetail.pipeline.generation import tables_of_segment, without
from dovetail.pipeline.plan import batch_groups, compare, disk_bytes, group_files
from dovetail.pipeline.probe import witnesses_of_lake
from dovetail.pipeline.roots import list_tables
from dovetail.settings import DEFAULTS, MB

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

ROOT = Root("s3://lake/raw")
_WORKERS = 64
_TABLES_A_SEGMENT = 1_000
_COLUMNS = tuple(f"column {number}" for number in range(10))
_CHANGED = 0.05
_GONE = 0.01
_SPREAD = 2.0  # of the logarithm of sizes: from some kilobytes to some hundred megabytes, as lakes have


def simulated(number: int, mean_bytes: float) -> list[StoredObject]:
    """Objects in folders of a hundred, with sizes of all orders of magnitude."""
    sizes = np.random.default_rng(1).lognormal(np.log(mean_bytes) - _SPREAD**2 / 2, _SPREAD, number).astype(int)
    names = (f"department-{n // 10_000:03}/topic-{n // 100 % 100:02}/table-{n:07}.csv" for n in range(number))
    return [StoredObject(name, size, 1.7e9, f"{size:032x}") for name, size in zip(names, sizes.tolist(), strict=True)]


class SimulatedStore:
    """As much of an object store as listing needs."""

    found: ClassVar[list[StoredObject]] = []

    def __init__(self, address: str) -> None:
        self.address = address

    def entries(self) -> Iterator[StoredObject]:
        return iter(self.found)


def catalogs(files: dict[str, TableFile]) -> list[tuple[SegmentRef, pa.Table]]:
    """What the last generation knows of them."""
    names = list(files)
    marks = [file.fingerprint for file in files.values()]
    for place in range(0, len(marks), round(1 / _CHANGED)):
        marks[place] += "before"
    for place in range(1, len(names), round(1 / _GONE)):
        names[place] += ".gone"
    layout = json.dumps(Layout("delimited", _COLUMNS, encoding="utf-8", delimiter=",", quote='"').to_json())
    columns = {"table": names, "fingerprint": marks, "layout": [layout] * len(names)}
    table = pa.table({name: pa.array(values, pa.large_string()) for name, values in columns.items()})
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


def plan(segments: list[tuple[SegmentRef, pa.Table]], store: Store) -> tuple[Clock, int, int]:
    """The stages of `pipeline/run.py` from the listing to the first task, the files to read, and their groups."""
    clock = Clock()
    files = clock.run("list", lambda: list_tables([ROOT], store))

    def known() -> dict[str, Any]:
        return {name: place for ref, part in segments for name, place in tables_of_segment(ref, part).items()}

    indexed = clock.run("read catalogs", known)
    changes = clock.run("compare", lambda: compare(files, indexed))
    manifest = Manifest(1, tuple(ref for ref, _ in segments))
    clock.run("mark what is gone", lambda: without(manifest, (indexed[table] for table in changes.gone)))
    clock.run("witnesses, disk", lambda: (witnesses_of_lake([], changes.to_read), disk_bytes(changes.to_read)))
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
    parser.add_argument("--folder", type=Path, help="of many files, to be listed")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as index:
        report = measure(options, LocalStore(Path(index)))
    emit(f"{machine()}\n\n{report}", options.report)


def measure(options: argparse.Namespace, store: Store) -> str:
    """Both runs, for an index at `store`, as a table."""
    on_disk = f"\n\n{listed(options.folder, store)}" if options.folder else ""
    SimulatedStore.found = simulated(options.files, options.megabytes * MB)
    files.Objects = SimulatedStore  # type: ignore[misc, assignment]
    rows, totals = [], []
    for label in ("first run", "later run"):
        segments = [] if label == "first run" else catalogs(list_tables([ROOT], store))
        gc.collect()
        clock, read, groups = plan(segments, store)
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in clock.seconds.items() if seconds >= 0.05)
        totals.append(sum(clock.seconds.values()))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        rows.append(
            (label, f"{options.files:,}", f"{read:,}", f"{groups:,}", f"{totals[-1]:.1f}",
             f"{clock.cpu_seconds:.1f}", f"{peak:,.0f}", stages)
        )  # fmt: skip
    names = ("", "files listed", "to read", "groups", "seconds", "CPU seconds", "peak RSS, MB", "of which, seconds")
    record(files=options.files, seconds=max(totals), gigabytes=peak / 1e3)
    return f"{markdown_table(names, rows)}{on_disk}"


def listed(folder: Path, store: Store) -> str:
    clock = Clock()
    found = clock.run("list", lambda: list_tables([Root.of(str(folder))], store))
    return f"{len(found):,} files of a folder: {clock.seconds['list']:.1f} s, {clock.cpu_seconds:.1f} CPU seconds."


if __name__ == "__main__":
    main()
