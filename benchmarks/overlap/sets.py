"""The sets that are searched, in one segment whatever they come from, so that every algorithm searches the same."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.api.lake import Lake
from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.josie.query import JosieReader
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS

_MEMORY = 6 << 30
_NUMBERS = ("integer", "real")


def sets_of(index: Path, numbers: bool) -> Iterator[pa.LargeStringArray]:
    """The tokens of every live column of an index, of all its segments; with or without columns of numbers."""
    for segment in Lake(index).segments:
        kinds = segment.catalog.columns["kind"].to_pylist()
        for column, kind in enumerate(kinds):
            wanted = segment.alive[segment.table_of[column]] and (numbers or kind not in _NUMBERS)
            ids = segment.tokens.set_of(column)[0] if wanted else ()
            if len(ids):
                yield segment.tokens.tokens(ids)


def build(folder: Path, sets: Iterable[pa.LargeStringArray]) -> tuple[JosieReader, str]:
    """One segment of the sets; returns its reader, and what it is made of in a sentence or two."""
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    writer = SegmentWriter(folder / "segments")
    builder = TOKENS.builder(scratch, _MEMORY)
    columns = 0
    start = time.perf_counter()
    for tokens in sets:
        builder.add(ColumnChunk(columns, tokens, np.ones(len(tokens), np.int64)))
        columns += 1
    counts = {"tables": 0}
    for part in (builder, JOSIE.builder(scratch, _MEMORY)):
        counts |= part.finish(writer, [1] * columns)
    reader = JosieReader(Segment(folder / "segments", writer.finish(counts)))
    return reader, _described(reader, time.perf_counter() - start)


def _described(reader: JosieReader, seconds: float) -> str:
    arrays, sizes = reader.tokens.arrays, reader.tokens.set_sizes()
    lists = np.diff(arrays.posting_offsets)
    costs = ", ".join(f"{name} {value:.2f}" for name, value in reader.costs._asdict().items())
    return (
        f"{arrays.columns:,} sets, largest {sizes.max():,}, mean {sizes.mean():,.0f}; {arrays.tokens:,} tokens, "
        f"{sizes.sum():,} pairs; {arrays.groups:,} distinct lists, longest {lists.max():,}, mean {lists.mean():.1f}. "
        f"Drawn and built in {seconds:,.0f} s. Costs in ns: {costs}."
    )
