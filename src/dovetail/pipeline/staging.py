"""Slices of tables too big for one task: counted by many tasks, staged on disk, merged when a segment is built.

A staged slice is one file: for each column its distinct raw values, their row counts and its rows. Raw, not
tokens: how a column is normalised depends on its type, which is known only when all slices have been seen.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._storage.spill import Records, write_records
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import RawColumn
from dovetail.errors import UnreadableTable
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.lake.reader import split
from dovetail.normalise import TypeEvidence
from dovetail.pipeline.sources import (
    CHANGED,
    RawTable,
    counted_portions,
    current_mark,
    layout_of,
    record_of,
    recorded,
    total_evidence,
)

_TYPES = {"values": pa.large_string(), "counts": pa.int64(), "codes": pa.int32()}


@dataclass(frozen=True)
class Slice:
    """One staged file, and what it tells of the type of each column."""

    path: str
    evidence: list[dict[str, Any]]


def prepare(file: TableFile, target_bytes: int) -> dict[str, Any]:
    """Settle how a big file is read, and where it can be cut. Done once, before any slice is read."""
    mark = current_mark(file)
    try:
        layout = layout_of(file)
        with recorded():
            parts = split(Path(file.path), layout, target_bytes)
    except UnreadableTable as reason:
        return {"error": str(reason), "mark": mark}
    return {"mark": mark, "layout": layout.to_json(), "parts": [vars(part) for part in parts]}


def stage_part(
    file: TableFile, mark: str, layout: Layout, part: Part, folder: Path, target_bytes: int
) -> dict[str, Any]:
    """Read one part and stage it; a part that could not be cut comes as several slices, one after another."""
    folder.mkdir(parents=True, exist_ok=True)
    slices = []
    counter = RowCounter()
    error = ""
    try:
        for columns in counted_portions(file, layout, part, counter, target_bytes):
            slices.append(vars(_stage(columns, folder)))
    except UnreadableTable as reason:
        error = str(reason)
    if current_mark(file) != mark:
        return {"error": CHANGED, "mark": ""}
    if error:
        return {"error": error, "mark": mark}
    return {"slices": slices, "counter": vars(counter)}


def staged_table(
    file: TableFile, mark: str, layout: Layout, slices: list[Slice], counters: list[RowCounter]
) -> RawTable:
    """The big table as a source for the builders, its columns read back slice by slice."""
    total = functools.reduce(RowCounter.__add__, counters, RowCounter())
    columns = []
    for number, name in enumerate(layout.columns):
        evidence = total_evidence(TypeEvidence.from_json(part.evidence[number]) for part in slices)
        columns.append(RawColumn(name, total.rows, evidence, _StagedColumn(slices, number)))
    return RawTable(record_of(file, mark, layout, total), columns)


@dataclass(frozen=True)
class _StagedColumn:
    """Called, it reads one column of all slices: once for each pass over the column."""

    slices: list[Slice]
    number: int

    def __call__(self) -> Iterator[RawCounts]:
        for part in self.slices:
            values, counts, codes = Records(Path(part.path))[self.number]
            yield RawCounts(values, counts.to_numpy(), codes.to_numpy())


def _stage(columns: list[RawCounts], folder: Path) -> Slice:
    path = folder / f"{secrets.token_hex(8)}.arrow"
    write_records(path, _TYPES, ((counted.values, counted.counts, counted.codes) for counted in columns))
    return Slice(str(path), [counted.evidence.to_json() for counted in columns])
