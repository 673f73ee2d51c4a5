"""Asks all segments and merges their answers. The number of threads or segments changes no answer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.keys.query_key import QueryKey

_THREADS = 8
M = TypeVar("M")


@dataclass(frozen=True)
class Match:
    """A column that shares `overlap` of the query's tokens."""

    segment: OpenSegment
    column: int
    overlap: int

    @property
    def table(self) -> str:
        return self.segment.names[int(self.segment.table_of[self.column])]

    @property
    def order(self) -> tuple[int, str, int]:
        """Most first; ties by table, then by the column's place in it."""
        return (-self.overlap, self.table, self.column)


@dataclass(frozen=True)
class KeyMatch:
    """A table that contains `overlap` of the key's tuples, in these columns."""

    segment: OpenSegment
    table: int
    columns: tuple[int, ...]
    overlap: int

    @property
    def order(self) -> tuple[int, str]:
        """Most first; ties by table."""
        return (-self.overlap, self.segment.names[self.table])


class _Best:
    """The k-th overlap that all segments together have found so far: smaller overlaps can be ignored."""

    def __init__(self, k: int, floor: int) -> None:
        self._k = k
        self._floor = floor
        self._overlaps = np.empty(0, np.int64)
        self._lock = threading.Lock()

    @property
    def floor(self) -> int:
        if len(self._overlaps) < self._k:
            return self._floor
        return max(self._floor, int(self._overlaps[0]))

    def add(self, overlaps: Array) -> None:
        with self._lock:
            self._overlaps = np.sort(np.concatenate([self._overlaps, overlaps]))[-self._k :]


def top(
    segments: Sequence[OpenSegment],
    tokens: pa.Array,
    k: int,
    floor: int,
    allowed: list[Array],
    fast: bool = False,
) -> list[Match]:
    """The k columns that share most tokens, at least `floor`. Exact; `fast` may miss some."""
    best = _Best(k, floor)

    def search(segment: OpenSegment, columns: Array) -> list[Match]:
        if fast:
            about = segment.sketches.top(tokens, k, columns)
            return _matches(segment, about.columns, about.overlaps)
        found = segment.josie.search(tokens, k, best.floor, columns)
        best.add(found.overlaps)
        return _matches(segment, found.columns, found.overlaps)

    found = sorted(_ask_all(search, segments, columns_of(segments, allowed)), key=lambda match: match.order)[:k]
    return [match for match in found if match.overlap >= floor]


def overlaps(
    segments: Sequence[OpenSegment],
    tokens: pa.Array,
    k: int,
    floor: int,
    allowed: Array,
) -> tuple[Array, Array]:
    """All columns with at least the k-th largest overlap, and `floor`; and their overlaps. Exact, in no order.

    Columns are numbered through all segments, as is the mask of those that are `allowed`.
    """
    best = _Best(k, floor)

    def search(segment: OpenSegment, mask: Array) -> list[tuple[Array, Array]]:
        found = segment.josie.search(tokens, k, best.floor, mask)
        best.add(found.overlaps)
        return [(found.columns, found.overlaps)]

    columns, counted = _in_one_numbering(search, segments, allowed)
    enough = counted >= best.floor
    return columns[enough], counted[enough]


def sketched(
    segments: Sequence[OpenSegment], tokens: pa.Array, threshold: Fraction, floor: int, allowed: Array
) -> tuple[Array, Array]:
    """Columns that contain `threshold` of the tokens, and `floor`, as `overlaps` gives them. May miss some."""

    def search(segment: OpenSegment, mask: Array) -> list[tuple[Array, Array]]:
        found = segment.sketches.search(tokens, threshold, mask)
        return [(found.columns, found.overlaps)]

    columns, counted = _in_one_numbering(search, segments, allowed)
    enough = counted >= floor
    return columns[enough], counted[enough]


def _in_one_numbering(
    search: Callable[[OpenSegment, Array], list[tuple[Array, Array]]], segments: Sequence[OpenSegment], allowed: Array
) -> tuple[Array, Array]:
    """What is found in each segment, with columns numbered through all of them."""
    ends = np.cumsum([len(segment.table_of) for segment in segments])
    masks = np.split(allowed, ends[:-1])
    parts = zip(_ask_all(search, segments, masks), ends, masks, strict=True)
    found = [(columns.astype(np.int64) + (end - len(mask)), counted) for (columns, counted), end, mask in parts]
    columns, counted = (np.concatenate(values) for values in zip(*found, strict=True))
    return columns, counted


def containing(
    segments: Sequence[OpenSegment],
    tokens: pa.Array,
    threshold: Fraction,
    floor: int,
    allowed: list[Array],
    fast: bool = False,
) -> list[Match]:
    """All columns that contain at least `threshold` of the tokens, and `floor` of them. `fast` may miss some."""
    least = max(floor, least_overlap(threshold, len(tokens)))

    def search(segment: OpenSegment, columns: Array) -> list[Match]:
        if fast:
            about = segment.sketches.search(tokens, threshold, columns)
            return _matches(segment, about.columns, about.overlaps)
        found = segment.josie.search(tokens, len(columns) + 1, least, columns)
        return _matches(segment, found.columns, found.overlaps)

    found = sorted(_ask_all(search, segments, columns_of(segments, allowed)), key=lambda match: match.order)
    return [match for match in found if match.overlap >= least]


def columns_of(segments: Sequence[OpenSegment], tables: list[Array]) -> list[Array]:
    """For each segment, which columns belong to the tables."""
    return [mask[segment.table_of] for segment, mask in zip(segments, tables, strict=True)]


def together(
    segments: Sequence[OpenSegment],
    key: QueryKey,
    k: int,
    floor: int,
    allowed: list[Array],
) -> tuple[list[KeyMatch], bool]:
    """The k tables that contain most tuples of the key, at least `floor`; and whether that is exact."""
    best = _Best(k, floor)
    tokens = [column.tokens for column in key.columns]
    cut = []

    def search(segment: OpenSegment, tables: Array) -> list[KeyMatch]:
        found = segment.mate.search(tokens, key.tuples, k, best.floor, tables, ranks=segment.name_ranks)
        best.add(found.overlaps)
        cut.append(found.work.cut)
        hits = zip(found.tables.tolist(), found.overlaps.tolist(), found.columns.tolist(), strict=True)
        return [KeyMatch(segment, table, tuple(columns), overlap) for table, overlap, columns in hits]

    found = sorted(_ask_all(search, segments, allowed), key=lambda match: match.order)[:k]
    return [match for match in found if match.overlap >= floor], not any(cut)


def _ask_all(
    search: Callable[[OpenSegment, Array], list[M]], segments: Sequence[OpenSegment], allowed: list[Array]
) -> list[M]:
    check_cancelled()
    if len(segments) < 2:
        return [match for pair in zip(segments, allowed, strict=True) for match in search(*pair)]
    return [match for found in _threads(os.getpid()).map(search, segments, allowed) for match in found]


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Kept from one question to the next; of each process its own, as threads do not survive a fork."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix=f"dovetail-{process}")


def _matches(segment: OpenSegment, columns: Array, overlaps: Array) -> list[Match]:
    return [Match(segment, int(c), int(o)) for c, o in zip(columns, overlaps, strict=True)]
