"""Builders whose costly step takes nothing but the tokens pack and the catalog, and can be shared out.

A share is as much of that step as fits into memory. One task works out one share after another; several tasks take some
each. The pack is then written from all of them, and is the same, whatever their number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from dovetail._storage.segment import SegmentWriter
from dovetail._storage.spill import Records, write_records
from dovetail._types import Array
from dovetail.indexes.protocol import ColumnChunk

Share = Mapping[str, Array]


class SharedBuilder(ABC):
    """A builder that skips the chunks of columns: the tokens pack, which is finished first, holds every value once."""

    def __init__(self, scratch: Path, memory_bytes: int) -> None:
        self._scratch = scratch
        self._memory_bytes = memory_bytes

    def add(self, chunk: ColumnChunk) -> None:  # noqa: B027  # nothing to do for any of them
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        number = self.least_shares(writer)
        if number == 1:
            return self.finish_shares(writer, [self.share(writer, 0, 1)])
        paths = [save_share(self._scratch / f"share-{n}", self.share(writer, n, number)) for n in range(number)]
        return self.finish_shares(writer, [open_share(path) for path in paths])

    @abstractmethod
    def least_shares(self, writer: SegmentWriter) -> int:
        """Into how many shares the work has to be split, so that each fits into memory."""

    @abstractmethod
    def share(self, writer: SegmentWriter, number: int, of: int) -> Share:
        """Work out one of so many shares. Reads the tokens pack and the catalog alone."""

    @abstractmethod
    def finish_shares(self, writer: SegmentWriter, shares: Sequence[Share]) -> dict[str, int]:
        """Write the pack from all shares, in order; returns counts for the segment's description."""


def save_share(path: Path, share: Share) -> Path:
    write_records(path, {name: pa.from_numpy_dtype(array.dtype) for name, array in share.items()}, [share.values()])
    return path


def open_share(path: Path) -> Share:
    """A share that was saved, memory-mapped."""
    records = Records(path)
    return dict(zip(records.names, (array.to_numpy() for array in records[0]), strict=True))
