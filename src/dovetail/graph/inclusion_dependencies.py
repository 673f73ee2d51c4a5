"""Inclusion dependencies as an answer, ranked by score, however many.

Dependencies wait in sorted runs on disk and are merged one range of scores at a time. A record has twelve bytes: score,
dependent and referenced column in one sortable number, and the overlap.
"""

from __future__ import annotations

import itertools
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._output import named_failures, write_array
from dovetail._types import Array
from dovetail.catalog.decisions import Decision
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.arrow_answer import ArrowAnswer, named_columns
from dovetail.graph.decided import DecidedColumns
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder
from dovetail.graph.ranking_kernels import pack_keys, sort_keys, unpack
from dovetail.graph.score import Scorer

STEPS = 10_000
"""Scores are rounded to this many steps; equal ones are ordered by table and column."""

COLUMNS_AT_MOST = 1 << 25  # two columns and a score have to fit into 64 bits
RUN_FILES = ("keys", "overlaps")
"""The suffixes of the files of a saved run."""
_RUN = 1 << 24  # records sorted in memory: 200 MB
_AT_ONCE = 1 << 20  # records in a batch: allocators reuse memory of this size, while larger blocks are always new
_SAMPLE = 1 << 10


class InclusionDependencies(ArrowAnswer):
    """The dependencies that were asked for. They are found when the answer is first read."""

    rows_are = "inclusion dependencies"

    def __init__(
        self, finder: InclusionFinder, runs: Sequence[SortedRun] | None = None, decisions: Sequence[Decision] = ()
    ) -> None:
        """`runs` are dependencies that were found, and decided on, elsewhere and are only merged here."""
        if len(finder.columns) > COLUMNS_AT_MOST:
            raise InputError(f"Inclusion dependencies are ranked among at most {COLUMNS_AT_MOST:,} columns.")
        self._finder = finder
        self._runs = runs
        self._decided = DecidedColumns(finder.columns, decisions)
        self._ranking: Ranking | None = None

    def __len__(self) -> int:
        return len(self._ranked())

    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        columns = self._finder.columns
        for part in self._ranked():
            shares = (pa.array(values) for values in (part.containment, part.coverage, part.score))
            ends = (*named_columns(columns, *part.dependent), *named_columns(columns, *part.referenced))
            tables, names = zip(part.dependent, part.referenced, strict=True)
            when = self._decided.when(tables, names, part.score)
            yield pa.RecordBatch.from_arrays([*ends, *shares, when], schema=self.schema)

    def _ranked(self) -> Ranking:
        if self._ranking is None:
            ranking = Ranking(self._finder.columns, self._finder.sizes)
            if self._runs is None:
                scorer = Scorer(self._finder.columns, self._finder.sizes)
                for pairs in self._finder:
                    ranking.add(*self._decided.judge(pairs, scorer.scores(pairs)))
            for run in self._runs or ():
                ranking.take(run)
            self._ranking = ranking
        return self._ranking


@dataclass(frozen=True)
class SortedRun:
    """Sorted records."""

    keys: Array
    overlaps: Array

    def __len__(self) -> int:
        return len(self.keys)

    def between(self, low: np.uint64, high: np.uint64) -> SortedRun:
        place = slice(*np.searchsorted(self.keys, np.array([low, high])))
        return SortedRun(self.keys[place], self.overlaps[place])


@dataclass(frozen=True)
class RankedPairs:
    """Dependencies in their order: the numbers of tables and of column names, and shares."""

    dependent: tuple[Array, Array]
    referenced: tuple[Array, Array]
    containment: Array
    coverage: Array
    score: Array


class Ranking:
    """Takes dependencies in any order and returns them ranked; full runs wait in unnamed temporary files."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        self._rank = columns.rank
        self._at_rank = np.stack([columns.table_of, columns.name_of, sizes], axis=1)[np.argsort(columns.rank)]
        self._bits = max(1, len(columns)).bit_length()
        self._waiting: list[SortedRun] = []
        self._runs: list[SortedRun] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, run: SortedRun) -> None:
        """Add a run that another ranking of the same columns has saved."""
        self._runs.append(run)
        self._count += len(run)

    def save(self, folder: Path) -> list[str]:
        """Write all runs to files of this folder, for `saved_run`; returns their names."""
        runs = [*self._runs, self._in_memory()]
        names = [secrets.token_hex(8) for _ in runs]
        for name, run in zip(names, runs, strict=True):
            for array, suffix in zip((run.keys, run.overlaps), RUN_FILES, strict=True):
                with (folder / f"{name}.{suffix}").open("wb") as file:
                    write_array(file, array)
        return names

    def add(self, pairs: ColumnPairs, scores: Array) -> None:
        keys = pack_keys(scores, pairs.dependent, pairs.referenced, self._rank, STEPS, self._bits)
        self._waiting.append(SortedRun(keys, pairs.overlap))
        self._count += len(keys)
        if sum(map(len, self._waiting)) >= _RUN:
            self._runs.append(_on_disk(self._in_memory()))
            self._waiting = []

    def __iter__(self) -> Iterator[RankedPairs]:
        """The dependencies, one range of scores at a time."""
        runs = [*self._runs, self._in_memory()]
        for low, high in _ranges(runs):
            parts = [run.between(low, high) for run in runs]
            part = _sorted(parts) if len(parts) > 1 else parts[0]
            ends, shares = np.empty((4, len(part)), np.int32), np.empty((3, len(part)))
            unpack(part.keys, part.overlaps, self._at_rank, STEPS, self._bits, ends, shares)
            yield RankedPairs((ends[0], ends[1]), (ends[2], ends[3]), *shares)

    def _in_memory(self) -> SortedRun:
        """The waiting records as one sorted run, which goes on waiting."""
        self._waiting = [_sorted(self._waiting)]
        return self._waiting[0]


def _sorted(runs: list[SortedRun]) -> SortedRun:
    keys = np.concatenate([np.empty(0, np.uint64), *(run.keys for run in runs)])
    overlaps = np.concatenate([np.empty(0, np.uint32), *(run.overlaps for run in runs)])
    return SortedRun(*sort_keys(keys, overlaps))


def _on_disk(run: SortedRun) -> SortedRun:
    """The same records, mapped from files that vanish with the last map."""
    mapped = []
    for array in (run.keys, run.overlaps):
        with named_failures(Path(tempfile.gettempdir())), tempfile.TemporaryFile() as file:
            write_array(file, array)
            file.flush()
            mapped.append(np.memmap(file, array.dtype, "r", shape=array.shape))
    return SortedRun(*mapped)


def saved_run(folder: Path, name: str) -> SortedRun:
    """A saved run, mapped: its files may be removed afterwards."""
    if not (folder / f"{name}.keys").stat().st_size:
        return SortedRun(np.empty(0, np.uint64), np.empty(0, np.uint32))
    return SortedRun(
        np.memmap(folder / f"{name}.keys", np.uint64, "r"), np.memmap(folder / f"{name}.overlaps", np.uint32, "r")
    )


def _ranges(runs: list[SortedRun]) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Bounds of keys between which all runs together have about `_AT_ONCE` records."""
    samples = np.sort(np.concatenate([run.keys[::_SAMPLE] for run in runs]))
    bounds = samples[:: max(1, _AT_ONCE // _SAMPLE)][1:]
    ends = [np.uint64(0), *np.unique(bounds), np.uint64(np.iinfo(np.uint64).max)]
    yield from itertools.pairwise(ends)
