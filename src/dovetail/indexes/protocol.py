"""What every index is made of: a builder for the offline half, a reader for the online half, a check for `verify`.

Builders are fed the same stream: the columns of a segment in order, each as one or more chunks of distinct tokens with
their row counts and their rows. They finish in the order of the registry, so that a later index
may build on an earlier one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.errors import FormatMismatch

Frozen = Mapping[str, Any]
NOTHING: Frozen = {}
WORTH_MEASURING = 1_000_000
"""Postings of a segment from which indexes measure what a search costs: kernels are compiled for it, for seconds."""


@dataclass(frozen=True)
class ColumnChunk:
    """Some rows of one column. Chunks of one column follow each other and may share tokens.

    `codes` are the rows: for each the place of its token in `tokens`, or -1 for null. All columns of a table are cut
    into chunks at the same rows. Only indexes over rows read them.
    """

    column: int
    tokens: pa.LargeStringArray
    counts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))


class Builder(Protocol):
    """Turns the chunks of one segment's columns into this index's pack."""

    def add(self, chunk: ColumnChunk) -> None: ...

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        """Write the pack; returns counts for the segment's description. `widths`: how many columns each table has."""
        ...


class Index(ABC):
    """One member of the registry."""

    name: str
    version: int
    question: str
    needs: tuple[str, ...] = ("tokens",)
    """The indexes of the segment that its builder reads, which are finished before."""

    @abstractmethod
    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> Builder:
        """`scratch` is for spilled data and removed by the caller; `memory_bytes` bounds what is sorted at once.

        `frozen` is what the manifest holds for this index and all of its segments; empty for most.
        """

    @abstractmethod
    def open(self, segment: Segment) -> Any: ...

    @abstractmethod
    def problems(self, segment: Segment) -> Iterator[str | FormatMismatch]:
        """Every broken cross-reference of this index in one segment, or that another version wrote it."""

    def check(self, segment: Segment) -> Iterator[str]:
        """The problems as sentences that name the segment and the index, as a mismatch does by itself."""
        for problem in self.problems(segment):
            yield f"{segment.ref.id}/{self.name}: {problem}" if isinstance(problem, str) else str(problem)
