"""The lake as a whole, over all segments and without dead tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from dovetail._storage.directory import Snapshot
from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.tokens.query import TokenReader

_HASH_RANGES = 64


@dataclass(frozen=True)
class Skipped:
    """A file of the lake that is in the catalog with an error instead of columns."""

    path: str
    reason: str


def statistics_of(segments: Sequence[Segment]) -> dict[str, int]:
    """Tables, columns, rows, bytes and distinct values; files that could not be read are no tables."""
    totals = dict.fromkeys(("tables", "columns", "rows", "bytes"), 0)
    for segment in segments:
        tables = CatalogReader(segment.pack(records.NAME)).tables
        alive = np.ones(tables.num_rows, bool)
        alive[list(segment.ref.dead)] = False
        alive &= pc.equal(tables["error"], "").to_numpy(zero_copy_only=False)
        totals["tables"] += int(alive.sum())
        for name in ("columns", "rows", "bytes"):
            totals[name] += int(tables[name].to_numpy()[alive].sum())
    return {**totals, "values": _distinct_values([_live_hashes(segment) for segment in segments])}


def failed_tables(snapshot: Snapshot) -> list[Skipped]:
    """The files of the lake that are in the catalog with an error instead of columns."""
    found = []
    for segment in snapshot.segments:
        tables = CatalogReader(segment.pack(records.NAME)).tables
        for number in np.flatnonzero(pc.not_equal(tables["error"], "").to_numpy(zero_copy_only=False)):
            if int(number) not in segment.ref.dead:
                row = tables.slice(int(number), 1).select(["table", "error"]).to_pylist()[0]
                found.append(Skipped(row["table"], row["error"]))
    return sorted(found, key=lambda skipped: skipped.path)


def _live_hashes(segment: Segment) -> Array:
    """The ascending hashes of the tokens that at least one live table holds."""
    arrays = TokenReader(segment).arrays
    if not segment.ref.dead:
        return arrays.hashes
    catalog = CatalogReader(segment.pack(records.NAME))
    alive = np.ones(arrays.columns, bool)
    for number in segment.ref.dead:
        place = catalog.column_range(number)
        alive[place.start : place.stop] = False
    if not arrays.tokens:
        return arrays.hashes
    held: Array = np.logical_or.reduceat(alive[arrays.posting_columns], arrays.posting_offsets[:-1])
    live: Array = arrays.hashes[np.repeat(held, np.diff(arrays.group_tokens))[arrays.hash_ids]]
    return live


def _distinct_values(hashes: list[Array]) -> int:
    """How many hashes there are in all, range by range, so that no more than a part is in memory."""
    if len(hashes) == 1:
        return len(hashes[0])
    bounds = np.arange(1, _HASH_RANGES, dtype=np.uint64) << np.uint64(64 - 6)
    cuts = [np.concatenate([[0], np.searchsorted(part, bounds), [len(part)]]) for part in hashes]
    return sum(
        len(np.unique(np.concatenate([part[cut[i] : cut[i + 1]] for part, cut in zip(hashes, cuts, strict=True)])))
        for i in range(_HASH_RANGES if hashes else 0)
    )
