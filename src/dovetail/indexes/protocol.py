"""What every index is made of: a builder for the offline half, a reader for the online half, a check for `verify`.

Builders are fed the same stream: the columns of a segment in order, each as one or more pieces of distinct tokens with
their row counts. They finish in the order of the registry, so that a later index may build on an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.segment import Segment, SegmentWriter


@dataclass(frozen=True)
class Piece:
    """Some distinct tokens of one column. Pieces of one column follow each other and may share tokens."""

    column: int
    tokens: pa.LargeStringArray
    counts: npt.NDArray[np.int64]


class Builder(Protocol):
    """Turns the pieces of one segment's columns into this index's pack."""

    def add(self, piece: Piece) -> None: ...

    def finish(self, writer: SegmentWriter, columns: int) -> dict[str, int]:
        """Write the pack for a segment of `columns` columns; returns counts for the segment's description."""
        ...


class Index(Protocol):
    """One member of the registry."""

    name: str
    version: int
    question: str

    def builder(self, scratch: Path, memory_bytes: int) -> Builder:
        """`scratch` is for spilled data and removed by the caller; `memory_bytes` bounds what is sorted at once."""
        ...

    def open(self, segment: Segment) -> Any: ...

    def check(self, segment: Segment) -> Iterator[str]:
        """Every broken cross-reference of this index in one segment, as a sentence."""
        ...
