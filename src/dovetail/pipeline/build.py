"""Builds one segment from tables: feeds the builders of the registry, and writes the catalog after the tokens."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from dovetail._storage.segment import SegmentRef, SegmentWriter
from dovetail.catalog import records
from dovetail.catalog.profile import TokenCounts
from dovetail.catalog.records import CatalogWriter
from dovetail.indexes.frozen import left_out
from dovetail.indexes.protocol import ColumnChunk, Frozen
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.tokens.index import TOKENS
from dovetail.pipeline.sources import TableSource


def build_segment(
    segments: Path,
    scratch: Path,
    tables: Iterable[TableSource],
    memory_bytes: int,
    frozen: Mapping[str, Frozen],
    tick: Callable[[], object],
) -> SegmentRef:
    """Write a segment of `tables` under `segments`; `tick` is called after each table."""
    without = left_out(frozen)
    writer = SegmentWriter(segments, without=without)
    catalog = CatalogWriter()
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as spilled:
        builders = [
            index.builder(Path(spilled), memory_bytes, frozen.get(index.name, {}))
            for index in INDEXES
            if index.name not in without
        ]
        for table in tables:
            first = catalog.columns

            def emit(column: int, found: TokenCounts, first: int = first) -> None:
                chunk = ColumnChunk(first + column, found.tokens, found.counts, found.codes)
                for builder in builders:
                    builder.add(chunk)

            catalog.add_table(table.record, table.feed(emit))
            tick()
        tokens, *others = builders
        counts = tokens.finish(writer, catalog.widths)
        distinct = np.diff(writer.pack(TOKENS.name).unpacked("set_offsets"))
        writer.write_part(records.NAME, records.VERSION, lambda pack: catalog.write(pack, distinct))
        for builder in others:
            counts |= builder.finish(writer, catalog.widths)
    return writer.finish(counts | catalog.counts())
