"""The verbs `remove` and `compact`: what is done to an index without reading the lake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail._spark.session import SparkRequest, spark_session
from dovetail._storage.directory import Snapshot, open_writer
from dovetail._storage.segment import Segment
from dovetail._storage.store import Address
from dovetail.indexes.frozen import refuse_other_settings
from dovetail.lake.listing import matches
from dovetail.pipeline.generation import commit, live_tables, without
from dovetail.pipeline.jobs import SparkBuild
from dovetail.pipeline.probe import check_workers, witness_of_store
from dovetail.pipeline.report import ShowProgress, watch_progress
from dovetail.settings import DEFAULTS, MB, Settings


@dataclass(frozen=True)
class Compaction:
    """How many segments there were and are, and how many bytes they took and take."""

    segments_before: int
    segments_after: int
    bytes_before: int
    bytes_after: int
    generation: int


def remove_tables(index: Address, patterns: Iterable[str]) -> list[str]:
    """Take the tables that match any of the globs out of the index; returns their ids."""
    wanted = tuple(patterns)
    with open_writer(index) as writer:
        indexed = live_tables(writer.snapshot())
        found = sorted(table for table in indexed if any(matches(table, pattern) for pattern in wanted))
        if found:
            segments = without(writer.manifest, (indexed[table] for table in found))
            commit(writer, writer.manifest.next(segments=segments))
    return found


def compact(
    index: Address,
    spark: SparkRequest | None = None,
    settings: Settings = DEFAULTS,
    progress: ShowProgress = lambda _: None,
) -> Compaction:
    """Merge small segments into ones of `settings.segment_mb`, and rewrite those with dead tables without them."""
    with open_writer(index) as writer:
        refuse_other_settings(writer.manifest.frozen, settings)
        before = writer.snapshot()
        groups = _groups(before, settings.segment_mb * MB)
        if groups:
            merged = {segment for group in groups for segment in group}
            tables = sum(ref.tables - len(ref.dead) for ref in writer.manifest.segments if ref.id in merged)
            with spark_session(spark or SparkRequest()) as engine:
                witnesses = [witness_of_store(writer.shared)]
                check_workers(engine, witnesses)
                build = SparkBuild(engine, writer, writer.manifest.frozen, settings, witnesses)
                with watch_progress(writer.shared, tables, progress):
                    refs = build.merge(groups)
            kept = tuple(ref for ref in writer.manifest.segments if ref.id not in merged)
            commit(writer, writer.manifest.next(segments=(*kept, *refs)))
        after = writer.snapshot()
        return Compaction(
            len(before.segments), len(after.segments), size_of(before), size_of(after), after.manifest.generation
        )


def size_of(snapshot: Snapshot) -> int:
    return sum(part["bytes"] for segment in snapshot.segments for part in segment.parts.values())


def _groups(snapshot: Snapshot, target_bytes: int) -> list[list[str]]:
    """Which segments to merge with each other: in the order of the manifest, up to the target size together."""
    groups: list[list[str]] = []
    held = 0
    for segment in snapshot.segments:
        live = _live_bytes(segment)
        if not segment.ref.dead and live * 2 >= target_bytes:
            continue
        if not groups or held + live > target_bytes:
            groups.append([])
            held = 0
        groups[-1].append(segment.ref.id)
        held += live
    dirty = {segment.ref.id for segment in snapshot.segments if segment.ref.dead}
    return [group for group in groups if len(group) > 1 or group[0] in dirty]


def _live_bytes(segment: Segment) -> int:
    """The raw bytes of the segment's live tables, taking all tables for equally big."""
    alive = segment.ref.tables - len(segment.ref.dead)
    return segment.counts["bytes"] * alive // max(1, segment.ref.tables)
