"""Dependencies by score, best first, however many: sorted runs on disk, and then range after range of all runs.

A record is twelve bytes: score, dependent and referenced column in one number that sorts, and the overlap.
"""

from __future__ import annotations

import itertools
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion import Pairs
from dovetail.graph.ranking_kernels import pack_keys, sort_keys, unpack

STEPS = 10_000
"""Scores are told in this many steps: what differs by less is equal, and stands by table and column."""

COLUMNS_AT_MOST = 1 << 25  # two columns and a score have to fit into 64 bits
_RUN = 1 << 24
_AT_ONCE = 1 << 20  # memory of answers of this size is used again; much larger ones would be new each time
_SAMPLE = 1 << 10


@dataclass(frozen=True)
class Run:
    """Sorted records."""

    keys: Array
    overlaps: Array

    def __len__(self) -> int:
        return len(self.keys)

    def between(self, low: np.uint64, high: np.uint64) -> Run:
        place = slice(*np.searchsorted(self.keys, np.array([low, high])))
        return Run(self.keys[place], self.overlaps[place])


@dataclass(frozen=True)
class Ranked:
    """Dependencies in their order: numbers of tables and of names, and shares."""

    dependent: tuple[Array, Array]
    referenced: tuple[Array, Array]
    containment: Array
    coverage: Array
    score: Array


class Ranking:
    """Takes dependencies in any order and gives them back ranked; beyond a run they wait in a nameless file."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._rank = columns.rank
        self._at_rank = np.stack([columns.table_of, columns.name_of, sizes], axis=1)[np.argsort(columns.rank)]
        self._bits = max(1, len(columns)).bit_length()
        self._waiting: list[Run] = []
        self._runs: list[Run] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, run: Run) -> None:
        """A run that another ranking of the same columns has saved."""
        self._runs.append(run)
        self._count += len(run)

    def save(self, folder: Path) -> list[str]:
        """Write all runs to files of this folder, for `saved_run`; returns their names."""
        runs = [*self._runs, self._in_memory()]
        names = [secrets.token_hex(8) for _ in runs]
        for name, run in zip(names, runs, strict=True):
            run.keys.tofile(folder / f"{name}.keys")
            run.overlaps.tofile(folder / f"{name}.overlaps")
        return names

    def add(self, pairs: Pairs, scores: Array) -> None:
        keys = pack_keys(scores, pairs.dependent, pairs.referenced, self._rank, STEPS, self._bits)
        self._waiting.append(Run(keys, pairs.overlap))
        self._count += len(keys)
        if sum(map(len, self._waiting)) >= _RUN:
            self._runs.append(_on_disk(self._in_memory()))
            self._waiting = []

    def __iter__(self) -> Iterator[Ranked]:
        """Some at a time."""
        runs = [*self._runs, self._in_memory()]
        for low, high in _ranges(runs):
            parts = [run.between(low, high) for run in runs]
            part = _sorted(parts) if len(parts) > 1 else parts[0]
            ends, shares = np.empty((4, len(part)), np.int32), np.empty((3, len(part)))
            unpack(part.keys, part.overlaps, self._at_rank, STEPS, self._bits, ends, shares)
            yield Ranked((ends[0], ends[1]), (ends[2], ends[3]), *shares)

    def _in_memory(self) -> Run:
        """What waits, as one sorted run, which goes on waiting."""
        self._waiting = [_sorted(self._waiting)]
        return self._waiting[0]


def _sorted(runs: list[Run]) -> Run:
    keys = np.concatenate([np.empty(0, np.uint64), *(run.keys for run in runs)])
    overlaps = np.concatenate([np.empty(0, np.uint32), *(run.overlaps for run in runs)])
    return Run(*sort_keys(keys, overlaps))


def _on_disk(run: Run) -> Run:
    """The same records, mapped from files that are gone when nobody maps them any more."""
    mapped = []
    for array in (run.keys, run.overlaps):
        with tempfile.TemporaryFile() as file:
            array.tofile(file)
            file.flush()
            mapped.append(np.memmap(file, array.dtype, "r", shape=array.shape))
    return Run(*mapped)


def saved_run(folder: Path, name: str) -> Run:
    """A saved run, mapped: its files may be removed meanwhile."""
    if not (folder / f"{name}.keys").stat().st_size:
        return Run(np.empty(0, np.uint64), np.empty(0, np.uint32))
    return Run(
        np.memmap(folder / f"{name}.keys", np.uint64, "r"), np.memmap(folder / f"{name}.overlaps", np.uint32, "r")
    )


def _ranges(runs: list[Run]) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Bounds of keys between which all runs together have about `_AT_ONCE` records."""
    samples = np.sort(np.concatenate([run.keys[::_SAMPLE] for run in runs]))
    bounds = samples[:: max(1, _AT_ONCE // _SAMPLE)][1:]
    ends = [np.uint64(0), *np.unique(bounds), np.uint64(np.iinfo(np.uint64).max)]
    yield from itertools.pairwise(ends)
