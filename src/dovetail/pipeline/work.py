"""What runs inside Spark's workers. Every function takes one task's JSON and gives back JSON."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dovetail._storage.directory import SEGMENTS, TARGET_FAILURES, newest_manifest, open_segment
from dovetail._storage.store import Store, open_store
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.errors import IndexDamaged, VanishedTable
from dovetail.indexes.rows import format as rows_format
from dovetail.indexes.rows.query import RowReader
from dovetail.indexes.tokens import format as tokens_format
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.pipeline.build import IndexedTable, RawTable, TableSource, build_segment, unreadable
from dovetail.pipeline.probe import host
from dovetail.pipeline.reading import check_part, prepare, scan, stage_part
from dovetail.pipeline.report import Ticks
from dovetail.pipeline.staging import Slice, staged_table

Task = dict[str, Any]
SLICES = "slices"
"""Of big tables, in the place that driver and workers share."""
_SPILLED = "spilled"
_MERGED = (records.NAME, tokens_format.NAME, rows_format.NAME)
"""What a merge reads of a segment; all other parts are built from it again."""


def target_failures(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work, with an answer where the place that it writes to is full or read-only."""

    @functools.wraps(work)
    def answer(*given: Any) -> Any:
        try:
            return work(*given)
        except OSError as error:
            if error.errno not in TARGET_FAILURES:
                raise
            return {"failed": os.strerror(error.errno)}

    return answer


def prepare_big(task: Task) -> Any:
    try:
        return prepare(TableFile(**task["file"]), task["slice_bytes"], task["guess"])
    except VanishedTable:
        return _missing([task["file"]["table"]])


def check_cut(task: Task) -> Any:
    layout = Layout.from_json(task["layout"])
    return {"exact": check_part(TableFile(**task["file"]), layout, Part.from_json(task["part"]))}


@target_failures
def stage_big(task: Task) -> Any:
    layout = Layout.from_json(task["layout"])
    part = Part.from_json(task["part"])
    try:
        with open_store(task["shared"]).publish(SLICES) as folder:
            return stage_part(TableFile(**task["file"]), task["fingerprint"], layout, part, folder, task["slice_bytes"])
    except VanishedTable:
        return _missing([task["file"]["table"]])


@target_failures
def build_group(task: Task) -> Any:
    """Read the tables of a group and write their segment, without those that are missing, which the answer names."""
    missing: list[str] = []

    def sources() -> Iterator[TableSource]:
        shared = open_store(task["shared"])
        scratch = shared.scratch(_SPILLED)
        scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=scratch) as folder, tempfile.TemporaryDirectory() as elsewhere:
            for number, entry in enumerate(task["tables"]):
                # Which few tables need: making folders takes milliseconds. Copies of files with hidden columns lie
                # outside of the index.
                hides = entry["file"]["exclude_columns"] or entry["file"]["hash_columns"]
                of_table = Path(elsewhere if hides else folder, str(number))
                try:
                    source = _source(entry, of_table, task["slice_bytes"], shared)
                except VanishedTable:
                    missing.append(entry["file"]["table"])
                    continue
                yield source
                if of_table.exists():
                    shutil.rmtree(of_table)

    found = sources()
    first = next(found, None)
    if first is None:
        return _missing(missing)
    answer = _build(task, itertools.chain([first], found))
    return answer | _missing(missing) if missing else answer


@target_failures
def merge_group(task: Task) -> Any:
    """Write one segment from the live tables of several."""
    index = task["index"]
    segments = {ref.id: open_segment(index, ref) for ref in newest_manifest(index).segments}

    def sources() -> Iterator[TableSource]:
        for name in task["merge"]:
            segment = segments[name]
            damage = segment.damage(_MERGED)
            if damage:  # what is written from it would have checksums that are right
                raise IndexDamaged(damage[0])
            catalog, rows = CatalogReader(segment.pack(records.NAME)), RowReader(segment)
            for number in sorted(set(range(catalog.tables.num_rows)) - set(segment.ref.dead)):
                yield IndexedTable(catalog, rows, number)

    return _build(task, sources())


def _build(task: Task, sources: Iterator[TableSource]) -> Any:
    shared = open_store(task["shared"])
    with open_store(task["index"]).publish(SEGMENTS) as segments:
        ref = build_segment(
            segments, shared.scratch(_SPILLED), sources, task["memory_bytes"], task["frozen"],
            Ticks(shared, task["number"]),
        )  # fmt: skip
    return {"segment": ref.to_json()}


def _source(entry: Task, folder: Path, slice_bytes: int, shared: Store) -> RawTable:
    file = TableFile(**entry["file"])
    if "error" in entry:
        return unreadable(file, entry["error"], entry["fingerprint"])
    if "slices" in entry:
        fetched = shared.fetch([f"{SLICES}/{part['name']}" for part in entry["slices"]], folder)
        return slices_of(entry, fetched[0].parent if fetched else folder)
    return scan(file, folder, slice_bytes)


def slices_of(entry: Task, folder: Path | str, columns: range | None = None) -> RawTable:
    """A table whose slices are in a folder, or under an address; with all columns, or some."""
    slices = [Slice(**part) for part in entry["slices"]]
    counters = [RowCounter(**counts) for counts in entry["counters"]]
    layout = Layout.from_json(entry["layout"])
    return staged_table(TableFile(**entry["file"]), entry["fingerprint"], layout, slices, folder, counters, columns)


def _missing(tables: list[str]) -> Task:
    return {"missing": tables, "host": host()}
