"""Dependencies by score, best first, however many: sorted runs on disk, and then range after range of all runs.

A record is twelve bytes: score, dependent and referenced column in one number that sorts, and the overlap.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STEPS = 10_000
"""Scores are told in this many steps: what differs by less is equal, and stands by table and column."""

_COLUMN_BITS = 25
COLUMNS_AT_MOST = 1 << _COLUMN_BITS
_RUN = 1 << 23
_RECORD = np.dtype([("key", np.uint64), ("overlap", np.uint32)])


class Ranking:
    """Takes dependencies in any order and gives them back ranked; beyond a run they wait in a nameless file."""

    def __init__(self) -> None:
        self._waiting: list[Array] = []
        self._held = 0
        self._runs: list[Array] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, scores: Array, dependent: Array, referenced: Array, overlap: Array) -> None:
        """Columns are given by the order in which equal scores are to stand."""
        records = np.empty(len(scores), _RECORD)
        worse = (STEPS - np.rint(scores * STEPS)).astype(np.uint64)
        records["key"] = (
            worse << np.uint64(2 * _COLUMN_BITS)
            | dependent.astype(np.uint64) << np.uint64(_COLUMN_BITS)
            | referenced.astype(np.uint64)
        )
        records["overlap"] = overlap
        self._waiting.append(records)
        self._held += len(records)
        self._count += len(records)
        if self._held >= _RUN:
            self._runs.append(_on_disk(self._in_memory()))
            self._waiting, self._held = [], 0

    def __iter__(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Scores, dependent and referenced columns and overlaps, some at a time."""
        runs = [*self._runs, self._in_memory()]
        for low, high in _ranges(runs):
            part = np.concatenate(
                [run[np.searchsorted(run["key"], low) : np.searchsorted(run["key"], high)] for run in runs]
            )
            part = part[np.argsort(part["key"], kind="stable")]
            mask = np.uint64(COLUMNS_AT_MOST - 1)
            yield (
                (STEPS - (part["key"] >> np.uint64(2 * _COLUMN_BITS)).astype(np.int64)) / STEPS,
                (part["key"] >> np.uint64(_COLUMN_BITS) & mask).astype(np.int64),
                (part["key"] & mask).astype(np.int64),
                part["overlap"],
            )

    def _in_memory(self) -> Array:
        """What waits, as one sorted run, which goes on waiting."""
        records = np.concatenate([np.empty(0, _RECORD), *self._waiting])
        self._waiting = [records[np.argsort(records["key"])]]
        return self._waiting[0]


def _on_disk(records: Array) -> Array:
    """The same records, mapped from a file that is gone when nobody maps it any more."""
    with tempfile.TemporaryFile() as file:
        records.tofile(file)
        file.flush()
        return np.memmap(file, _RECORD, "r", shape=records.shape)


def _ranges(runs: list[Array]) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Bounds of keys between which all runs together have about as many records as one run may have."""
    samples = np.sort(np.concatenate([run["key"][:: 1 << 10] for run in runs]))
    bounds = samples[:: max(1, _RUN >> 11)][1:]
    ends = [np.uint64(0), *np.unique(bounds), np.uint64(np.iinfo(np.uint64).max)]
    yield from itertools.pairwise(ends)
