"""What the index holds now, and how the next generation is made of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from dovetail._storage.directory import IndexWriter, Snapshot
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import Segment, SegmentRef
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.statistics import DistinctValues, distinct_values, statistics_of, totals_of
from dovetail.lake.column_rules import UNTOUCHED


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where an indexed table is, and the fingerprint of the file that it was read from."""

    segment: str
    number: int
    fingerprint: str
    layout: str = ""  # in JSON, where rules about columns may have to be compared with it


def live_tables(snapshot: Snapshot, layouts: bool = False) -> dict[str, TablePlace]:
    """Every table of the index that is not dead, by its id; without `layouts`, with those alone that hide columns."""
    places: dict[str, TablePlace] = {}
    for segment in snapshot.segments:
        places |= tables_of_segment(segment.ref, CatalogReader(segment.pack(records.NAME)).tables, layouts)
    return places


def tables_of_segment(ref: SegmentRef, tables: pa.Table, layouts: bool = False) -> dict[str, TablePlace]:
    """The tables of one segment's catalog that are not dead."""
    dead = set(ref.dead)
    read_as = tables["layout"]
    if not layouts:
        read_as = pc.if_else(pc.match_substring(read_as, UNTOUCHED), "", read_as)
    columns = (column.to_pylist() for column in (tables["table"], tables["fingerprint"], read_as))
    return {
        name: TablePlace(ref.id, number, fingerprint, layout)
        for number, (name, fingerprint, layout) in enumerate(zip(*columns, strict=True))
        if number not in dead
    }


def without(manifest: Manifest, dead: Iterable[TablePlace]) -> tuple[SegmentRef, ...]:
    """The manifest's segments with these tables marked dead; a segment with nothing alive is dropped."""
    by_segment: dict[str, set[int]] = {}
    for place in dead:
        by_segment.setdefault(place.segment, set()).add(place.number)
    refs = []
    for ref in manifest.segments:
        numbers = tuple(sorted(set(ref.dead) | by_segment.get(ref.id, set())))
        if len(numbers) < ref.tables:
            refs.append(ref if numbers == ref.dead else replace(ref, dead=numbers, totals={}))
    return tuple(refs)


def commit(writer: IndexWriter, manifest: Manifest, values: DistinctValues | None = None) -> None:
    """Make `manifest` the newest generation. Only segments that are new or have lost tables are opened for it.

    `values` are how many distinct values its live tables hold, where that is known.
    """
    segments = writer.open_segments(manifest)
    refs = tuple(segment.ref if segment.ref.totals else _counted(segment) for segment in segments)
    statistics = statistics_of(ref.totals for ref in refs) | (values.statistics if values else {})
    writer.commit(replace(manifest, segments=refs, statistics=statistics))
    writer.clean_segments()


def commit_with_values(writer: IndexWriter, manifest: Manifest) -> None:
    """The same at the end of a run: the distinct values are counted, for which every segment is opened."""
    commit(writer, manifest, distinct_values(writer.open_segments(manifest)))


def _counted(segment: Segment) -> SegmentRef:
    return replace(segment.ref, totals=totals_of(segment))
