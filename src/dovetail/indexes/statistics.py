"""The lake as a whole, over all segments and without dead tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from dovetail._storage.directory import Snapshot
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.tokens.format import NAME, TokenArrays, number_of_tokens
from dovetail.indexes.tokens.query import TokenReader

EXACT_VALUES = 1 << 20
"""Up to how many distinct values are counted exactly."""
_HASHES = 1 << 64


@dataclass(frozen=True)
class Skipped:
    """A file of the lake that is in the catalog with an error instead of columns."""

    path: str
    reason: str


@dataclass(frozen=True)
class DistinctValues:
    """How many distinct values the lake has; an estimate where it has more than `EXACT_VALUES`."""

    number: int
    is_exact: bool

    @property
    def statistics(self) -> dict[str, int]:
        """As a manifest has them."""
        return {"values": self.number, "values_are_exact": self.is_exact}


def known_values(manifest: Manifest) -> DistinctValues | None:
    """How many distinct values the manifest states; None where that was not counted."""
    if "values_are_exact" not in manifest.statistics:
        return None
    return DistinctValues(manifest.statistics["values"], bool(manifest.statistics["values_are_exact"]))


def totals_of(segment: Segment) -> dict[str, int]:
    """Tables, columns, rows and bytes of the live tables of a segment; files that could not be read are no tables."""
    tables = CatalogReader(segment.pack(records.NAME)).tables
    alive = np.ones(tables.num_rows, bool)
    alive[list(segment.ref.dead)] = False
    alive &= pc.equal(tables["error"], "").to_numpy(zero_copy_only=False)
    sums = {name: int(tables[name].to_numpy()[alive].sum()) for name in ("columns", "rows", "bytes")}
    return {"tables": int(alive.sum()), **sums}


def statistics_of(totals: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The totals of the lake, from those of its segments."""
    lake = dict.fromkeys(("tables", "columns", "rows", "bytes"), 0)
    for each in totals:
        for name in lake:
            lake[name] += each[name]
    return lake


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


def distinct_values(segments: Sequence[Segment]) -> DistinctValues:
    """By the `EXACT_VALUES` smallest hashes of the lake (bottom-k sketch).

    Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan: Counting Distinct Elements in a Data Stream, RANDOM 2002,
    doi:10.1007/3-540-45726-7_1. The same values give the same number, in however many segments. The standard error is
    1 / sqrt(EXACT_VALUES): 0.1%. Hashes are read from the smallest on, until there are enough: of a large lake few.
    """
    wanted = EXACT_VALUES + 1
    tokens = sum(map(_tokens, segments))
    smallest, low, high = np.empty(0, np.uint64), 0, _HASHES if tokens <= wanted else wanted * _HASHES // tokens
    while low < _HASHES and len(smallest) < wanted:
        found = [_live_hashes(segment, low, high) for segment in segments]
        smallest = np.concatenate([smallest, _distinct(np.concatenate([np.empty(0, np.uint64), *found]))])
        low, high = high, min(2 * high, _HASHES)
    if len(smallest) <= EXACT_VALUES:
        return DistinctValues(len(smallest), True)
    return DistinctValues(round(EXACT_VALUES * float(_HASHES) / float(smallest[EXACT_VALUES])), False)


def _tokens(segment: Segment) -> int:
    return number_of_tokens(segment.pack(NAME))


def _distinct(hashes: Array) -> Array:
    """Each once, ascending."""
    hashes.sort()
    found: Array = hashes[np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]]
    return found


def _live_hashes(segment: Segment, low: int, high: int) -> Array:
    """The hashes from `low` to below `high` of the tokens that at least one live table holds."""
    arrays = TokenReader(segment).arrays
    hashes, ids = arrays.hashed_between(low, high)
    return hashes[_held(segment, arrays)[ids]] if segment.ref.dead and len(ids) else hashes


def _held(segment: Segment, arrays: TokenArrays) -> Array:
    """For each token whether a live table holds it."""
    catalog = CatalogReader(segment.pack(records.NAME))
    alive = np.ones(arrays.columns, bool)
    for number in segment.ref.dead:
        place = catalog.column_range(number)
        alive[place.start : place.stop] = False
    held: Array = np.logical_or.reduceat(alive[arrays.posting_columns], arrays.posting_offsets[:-1])
    return np.repeat(held, np.diff(arrays.group_tokens))
