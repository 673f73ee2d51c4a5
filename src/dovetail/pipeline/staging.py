"""Slices of tables too big for memory: staged on disk, and merged when a segment is built.

A staged slice is one file: for each column its distinct raw values, their row counts and its rows. Raw, not
tokens: how a column is normalised depends on its type, which is known only when all slices have been seen.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._storage.spill import Records, write_records
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import RawColumn
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.lake.object_path import path_of
from dovetail.normalise import TypeEvidence
from dovetail.pipeline.sources import RawTable, record_of, total_evidence

_TYPES = {"values": pa.large_string(), "counts": pa.int64(), "codes": pa.int32()}
# Opening a slice reads where each of its columns is, which for a table of many columns takes longer than reading one.
# Each takes a descriptor, of which a process usually has 1,024.
_OPEN_SLICES = 64


@dataclass(frozen=True)
class Slice:
    """One staged file, and what it tells of the type of each column."""

    name: str
    evidence: list[dict[str, Any]]


def write_slice(columns: list[RawCounts], folder: Path) -> Slice:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{secrets.token_hex(8)}.arrow"
    write_records(path, _TYPES, ((counted.values, counted.counts, counted.codes) for counted in columns))
    return Slice(path.name, [counted.evidence.to_json() for counted in columns])


def open_records(address: str) -> Records:
    """Records of a file of this machine, or of an object, which is read in place."""
    path = path_of(address)
    return Records(path if isinstance(path, Path) else path.open())


def staged_table(
    file: TableFile, fingerprint: str, layout: Layout, slices: list[Slice], folder: Path | str,
    counters: list[RowCounter],
) -> RawTable:  # fmt: skip
    """The big table as a source for the builders, its columns read back slice by slice from files in `folder`.

    `folder` may be the address of an object store: then only the columns that are asked for are fetched.
    """
    total = functools.reduce(RowCounter.__add__, counters, RowCounter())
    opened = functools.lru_cache(_OPEN_SLICES)(open_records)
    columns = []
    for number, name in enumerate(layout.columns):
        evidence = total_evidence(TypeEvidence.from_json(part.evidence[number]) for part in slices)
        columns.append(RawColumn(name, total.rows, evidence, _StagedColumn(slices, folder, number, opened)))
    return RawTable(record_of(file, fingerprint, layout, total), columns)


@dataclass(frozen=True)
class _StagedColumn:
    """Called, it reads one column of all slices: once for each pass over the column."""

    slices: list[Slice]
    folder: Path | str
    number: int
    opened: Callable[[str], Records]

    def __call__(self) -> Iterator[RawCounts]:
        for part in self.slices:
            values, counts, codes = self.opened(f"{self.folder}/{part.name}")[self.number]
            yield RawCounts(values, counts.to_numpy(), codes.to_numpy())
