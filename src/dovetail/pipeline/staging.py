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
from dovetail.pipeline.build import RawTable, record_of, total_evidence

_TYPES = {"values": pa.large_string(), "counts": pa.int64(), "codes": pa.int32()}
# Opening a slice reads where each of its columns is, which for a table of many columns takes longer than reading one.
# Each takes a descriptor, of which a process usually has 1,024.
_OPEN_SLICES = 64


@dataclass(frozen=True)
class Slice:
    """One staged file, what it tells of the type of each column, and its size."""

    name: str
    evidence: list[dict[str, Any] | None]
    bytes: int


def write_slice(columns: list[RawCounts], folder: Path) -> Slice:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{secrets.token_hex(8)}.arrow"
    write_records(path, _TYPES, ((counted.values, counted.counts, counted.codes) for counted in columns))
    return Slice(path.name, [counted.evidence.to_json() for counted in columns], path.stat().st_size)


def open_records(address: str) -> Records:
    """Records of a file of this machine, or of an object, which is read in place."""
    path = path_of(address)
    return Records(path if isinstance(path, Path) else path.open())


def staged_table(
    file: TableFile, fingerprint: str, layout: Layout, slices: list[Slice], folder: Path | str,
    counters: list[RowCounter], columns: range | None = None,
) -> RawTable:  # fmt: skip
    """The big table as a source for the builders, its columns read back slice by slice from files in `folder`.

    `folder` may be the address of an object store: then only the columns that are asked for are fetched. With
    `columns`, the table has these alone, and nothing needs to be known of the others.
    """
    total = functools.reduce(RowCounter.__add__, counters, RowCounter())
    opened = functools.lru_cache(_OPEN_SLICES)(open_records)
    found = []
    for number in range(len(layout.columns)) if columns is None else columns:
        known = (part.evidence[number] for part in slices)
        evidence = total_evidence(TypeEvidence.from_json(one) for one in known if one is not None)
        staged = _StagedColumn(slices, folder, number, opened)
        name = layout.columns[number]
        found.append(RawColumn(name, total.rows, evidence, staged, name in layout.hashed))
    return RawTable(record_of(file, fingerprint, layout, total), found)


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
