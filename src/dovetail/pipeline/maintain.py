"""The verbs `remove` and `compact`: what is done to an index without reading the lake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dovetail._spark.session import SparkRequest, spark_session
from dovetail._storage.directory import IndexWriter, Snapshot, open_writer
from dovetail._storage.store import Address
from dovetail.indexes.frozen import check_parts, leave_out, left_out, refuse_other_settings
from dovetail.indexes.statistics import known_values
from dovetail.lake.listing import matches
from dovetail.pipeline.generation import commit, live_tables, without
from dovetail.pipeline.jobs import SparkBuild
from dovetail.pipeline.merging import Group, plan_merges, run_merges, sizes_of, split_merge, tables_of
from dovetail.pipeline.probe import check_workers, witness_of_store
from dovetail.pipeline.report import ShowProgress, watch_progress
from dovetail.settings import DEFAULTS, MB, Settings

# A merge is split over several tasks, and so into several segments, only where each part has at least so many times
# `segment_mb`: 1 GB by default, which takes a task minutes. Arbitrary: fewer segments against a shorter wait.
_PART = 8


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
    with_parts: Iterable[str] = (),
    without: Iterable[str] = (),
) -> Compaction:
    """Merge segments until no two are of about the same size, and rewrite those with dead tables or with other parts.

    Segments below `settings.segment_mb` count as equally large: of these, one is left at most. From now on the index
    has the parts `with_parts`, and does `without` others.
    """
    added, dropped = check_parts(with_parts), check_parts(without)
    with open_writer(index) as writer:
        refuse_other_settings(writer.manifest.frozen, settings)
        _choose_parts(writer, set(added), set(dropped))
        before = writer.snapshot()
        size_before = size_of(before)
        sizes = sizes_of(before.segments)
        groups = plan_merges(sizes, factor=2, floor=settings.segment_mb * MB)
        groups += _dirty(before, groups)
        if groups:
            with spark_session(spark or SparkRequest()) as engine:
                witnesses = [witness_of_store(writer.shared)]
                slots = check_workers(engine, witnesses)
                groups = [part for group in groups for part in _parts(group, sizes, settings, slots)]
                groups += _dirty(before, groups)
                build = SparkBuild(engine, writer, writer.manifest.frozen, settings, witnesses, slots)
                with watch_progress(writer.shared, tables_of(writer.manifest.segments, groups), progress):
                    run_merges(writer, build, groups, slots)
        after = writer.snapshot()
        return Compaction(
            len(before.segments), len(after.segments), size_before, size_of(after), after.manifest.generation
        )


def size_of(snapshot: Snapshot) -> int:
    return sum(part["bytes"] for segment in snapshot.segments for part in segment.parts.values())


def _parts(group: Group, sizes: Mapping[str, int], settings: Settings, slots: int) -> list[Group]:
    return [group] if len(group) == 1 else split_merge(group, sizes, _PART * settings.segment_mb * MB, slots)


def _choose_parts(writer: IndexWriter, added: set[str], dropped: set[str]) -> None:
    """Remember other parts; the segments follow one by one, and a run that was stopped is taken up by the next."""
    frozen = writer.manifest.frozen
    kept = set(left_out(frozen))
    if frozen and (kept - added) | dropped != kept:
        manifest = writer.manifest.next(frozen=leave_out(frozen, (kept - added) | dropped))
        commit(writer, manifest, known_values(writer.manifest))


def _dirty(snapshot: Snapshot, groups: list[Group]) -> list[Group]:
    """The segments with dead tables or other parts that are in none of the groups, to be rewritten one by one."""
    merged = {name for group in groups for name in group}
    without = sorted(left_out(snapshot.manifest.frozen))
    return [
        [segment.ref.id]
        for segment in snapshot.segments
        if segment.ref.id not in merged and (segment.ref.dead or sorted(segment.without) != without)
    ]
