"""The verb `index`: brings an index up to date with its lake, stage by stage.

list       walk the roots: which files may be tables                               roots.py
compare    with what the index holds: which are new, changed or gone               plan.py
plan       deal the files to read out to groups, one segment each, in batches      plan.py
read       a Spark task for each group; big tables are read in slices by several   work.py, sources.py, staging.py
build      in the same task: normalise, index, write the segment                   build.py
           what all others would wait for, by many tasks in stages                 divided.py, stages.py
commit     after each batch the next generation, so that a run that was stopped    generation.py
           goes on where it was
merge      small segments of about the same size, once there are many of them      merging.py
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail._spark.engine import SparkEngine
from dovetail._spark.session import SparkRequest, require_spark, spark_session
from dovetail._storage.directory import IndexWriter, open_writer
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail.embedders import DEFAULT, embedder_of
from dovetail.embedders.abbreviations import read_abbreviations
from dovetail.errors import InputError
from dovetail.indexes.frozen import (
    check_parts,
    freeze_key,
    leave_out,
    left_out,
    refuse_other_key,
    refuse_other_settings,
)
from dovetail.indexes.pexeso.core import VectorParameters as Vectors
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.statistics import distinct_values, failed_tables, known_values
from dovetail.lake.column_rules import check_rules, with_column_rules
from dovetail.lake.listing import Root, TableFile, is_spark
from dovetail.normalise.keyed import required_key
from dovetail.pipeline.generation import TablePlace, commit, commit_with_values, live_tables, without
from dovetail.pipeline.jobs import SparkBuild
from dovetail.pipeline.merging import plan_merges, run_merges, sizes_of, tables_of
from dovetail.pipeline.plan import Batch, Changes, batch_groups, compare, disk_bytes, group_files
from dovetail.pipeline.probe import check_workers, witness_of_store, witnesses_of_lake
from dovetail.pipeline.report import Progress, Report, ShowProgress, UnreachableLake, watch_progress
from dovetail.pipeline.roots import choose_roots, list_tables, may_belong_to, refuse_index_as_lake, roots_of
from dovetail.pipeline.spark_source import SparkSource, is_listed, spark_source
from dovetail.pipeline.survey import freeze
from dovetail.settings import DEFAULTS, MB, Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Request:
    """What to index, and how. None for what the index shall keep as it is."""

    sources: tuple[str, ...]
    to: str | Path
    add: bool = False
    allow_drop: bool = False
    tables: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    dialects: tuple[tuple[str, str], ...] | None = None
    settings: Settings = DEFAULTS
    spark: SparkRequest = field(default_factory=SparkRequest)
    embedder: str | None = None
    abbreviations: Path | None = None  # a file; beside those that come with Dovetail
    dataframes: Mapping[str, DataFrame] | None = None  # by the names that they are to have
    without: tuple[str, ...] | None = None  # parts to leave out
    keep_hours: float | None = None  # old generations; None for as long as the store needs
    exclude_columns: tuple[str, ...] | None = None
    hash_columns: tuple[str, ...] | None = None

    @property
    def vectors(self) -> Vectors:
        more = read_abbreviations(self.abbreviations) if self.abbreviations else ()
        return Vectors.chosen(self.embedder or DEFAULT, more)

    @property
    def choices(self) -> dict[str, Any]:
        """What is chosen of the tables of these sources; the index remembers it."""
        chosen = {
            "tables": self.tables, "exclude": self.exclude, "dialects": self.dialects,
            "exclude_columns": self.exclude_columns, "hash_columns": self.hash_columns,
        }  # fmt: skip
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class Listing:
    """The roots that the index will have, the files that they list, by table id, and the roots that do not answer."""

    roots: tuple[Root, ...]
    files: dict[str, TableFile]
    unreachable: dict[Root, str]


def index_lake(request: Request, progress: ShowProgress = lambda _: None) -> Report:
    """Bring the index at `request.to` up to date. What is committed stays, whatever happens later."""
    begun = time.perf_counter()
    asked = tuple(map(Root.of, request.sources))
    for root in asked:
        refuse_index_as_lake(root, request.to)
    check_rules((*(request.exclude_columns or ()), *(request.hash_columns or ())))
    request.vectors.space()  # a package that is missing is reported before anything is written
    require_spark()
    with open_writer(request.to, create=True, keep_hours=request.keep_hours) as writer:
        _refuse_other_parameters(writer.manifest, request)
        report = _run_stages(writer, asked, request, progress)
        _finish_report(report, writer)
    report.seconds = time.perf_counter() - begun
    return report


def _run_stages(writer: IndexWriter, asked: Sequence[Root], request: Request, progress: ShowProgress) -> Report:
    with contextlib.ExitStack() as session:
        return _run_in(session, writer, asked, request, progress)


def _run_in(
    session: contextlib.ExitStack, writer: IndexWriter, asked: Sequence[Root], request: Request, progress: ShowProgress
) -> Report:
    """The stages; Spark is started when it is needed, and stopped when `session` ends."""
    started = Report()
    spark = functools.cache(lambda: session.enter_context(_spark(request.spark, started)))
    of_spark = [root for root in asked if is_spark(root.path)]
    tables = spark_source(spark().session, of_spark, request.dataframes) if of_spark else None
    listing = _list(writer, asked, request, tables)
    if any(each.hash_columns for each in listing.roots):
        refuse_other_key(writer.manifest.frozen, required_key())
    live = live_tables(writer.snapshot(), any(each.exclude_columns or each.hash_columns for each in listing.roots))
    indexed = _compared({table: place for table, place in live.items() if is_listed(place.fingerprint, asked)}, listing)
    changes = compare(listing.files, indexed)
    _refuse_great_loss(changes, indexed, asked, request)
    report = replace(_report(changes, listing), spark_start_seconds=started.spark_start_seconds)
    manifest = _next_manifest(writer.manifest, listing, changes, indexed)
    if changes.to_read:
        free = shutil.disk_usage(_existing(writer.store.scratch(""))).free
        progress(Progress("plan", len(changes.to_read), disk=disk_bytes(changes.to_read), free=free))
        engine = spark()
        report.spark_start_seconds = started.spark_start_seconds
        witnesses = [witness_of_store(writer.shared), *witnesses_of_lake(listing.roots, changes.to_read)]
        slots = check_workers(engine, witnesses)
        manifest = _freeze(manifest, changes, request)
        if any(each.hash_columns for each in listing.roots):
            manifest = replace(manifest, frozen=freeze_key(manifest.frozen, required_key()))
        build = SparkBuild(engine, writer, manifest.frozen, request.settings, witnesses, slots, tables)
        batches = _plan(slots, changes, request.settings)
        with watch_progress(writer.shared, len(changes.to_read), progress):
            for batch in batches:
                segments = build.run(batch)
                manifest = _add(manifest, batch, segments, indexed, {bug.table for bug in build.bugs})
                (commit_with_values if batch is batches[-1] else commit)(writer, manifest)
                manifest = writer.manifest.next()
                build.clear()
        _merge_small(writer, build, request.settings, slots, progress)
        build.raise_for_bugs()
    elif changes.gone or listing.roots != roots_of(writer.manifest) or not writer.manifest.statistics:
        commit_with_values(writer, manifest)
    return report


def _existing(folder: Path) -> Path:
    return folder if folder.exists() else folder.parent


def _merge_small(
    writer: IndexWriter, build: SparkBuild, settings: Settings, slots: int, progress: ShowProgress
) -> None:
    """Keep small segments few: those of many small runs are merged into one, again and again.

    What one run builds is left alone: it has at most a small segment for each slot, and others of at least half of
    `segment_mb`.
    """
    sizes = sizes_of(writer.snapshot().segments)
    groups = plan_merges(sizes, max(settings.merge_factor, slots + 1), settings.segment_mb * MB // 2)
    if groups:
        build.forget_progress()
        with watch_progress(writer.shared, tables_of(writer.manifest.segments, groups), progress):
            run_merges(writer, build, groups, slots)


def _list(writer: IndexWriter, asked: Sequence[Root], request: Request, tables: SparkSource | None) -> Listing:
    roots = choose_roots(roots_of(writer.manifest), asked, request.choices, request.add, request.to)
    listed, unreachable = list_tables(roots, writer.store, asked)
    places = {root.path for root in asked}
    for chosen in roots:
        if tables is not None and is_spark(chosen.path) and chosen.path in places:
            listed |= {table: with_column_rules(file, chosen) for table, file in tables.list(chosen).items()}
    return Listing(roots, listed, unreachable)


def _compared(indexed: dict[str, TablePlace], listing: Listing) -> dict[str, TablePlace]:
    """The tables of the index that this run compares with the lake: those of a root that does not answer stay."""
    if not listing.unreachable:
        return indexed
    return {
        table: place
        for table, place in indexed.items()
        if table in listing.files or not may_belong_to(table, listing.unreachable, listing.roots)
    }


def _plan(workers: int, changes: Changes, settings: Settings) -> list[Batch]:
    groups = group_files(changes.to_read, settings.segment_mb * MB, settings.slice_mb * MB, workers)
    return batch_groups(groups, workers)


def _add(
    manifest: Manifest, batch: Batch, segments: list[SegmentRef], indexed: dict[str, TablePlace], kept: set[str]
) -> Manifest:
    """With the segments of a batch, in place of what the index held of the same files but those to be `kept`."""
    names = (file.table for group in batch for file in group)
    replaced = [indexed[table] for table in names if table in indexed and table not in kept]
    return replace(manifest, segments=(*without(manifest, replaced), *segments))


def _report(changes: Changes, listing: Listing) -> Report:
    return Report(
        added=len(changes.new),
        changed=len(changes.changed),
        removed=len(changes.gone),
        unchanged=changes.unchanged,
        bytes_read=sum(file.bytes for file in changes.to_read),
        unreachable=[UnreachableLake(root.path, reason) for root, reason in listing.unreachable.items()],
    )


def _next_manifest(manifest: Manifest, listing: Listing, changes: Changes, indexed: dict[str, TablePlace]) -> Manifest:
    """The next generation before anything is read: without what is gone."""
    return manifest.next(
        segments=without(manifest, (indexed[table] for table in changes.gone)),
        roots=tuple(root.to_json() for root in listing.roots),
    )


def _freeze(manifest: Manifest, changes: Changes, request: Request) -> Manifest:
    """With what indexes must keep for all of their segments, where these are the first tables."""
    if manifest.frozen:
        return manifest
    frozen = freeze(changes.to_read, request.settings, request.vectors)
    return replace(manifest, frozen=leave_out(frozen, request.without or ()))


@contextlib.contextmanager
def _spark(request: SparkRequest, report: Report) -> Iterator[SparkEngine]:
    started = time.perf_counter()
    with spark_session(request) as engine:
        report.spark_start_seconds = time.perf_counter() - started
        yield engine


def _refuse_other_parameters(manifest: Manifest, request: Request) -> None:
    """Raises where the request asks for other parameters than the index has frozen."""
    refuse_other_settings(manifest.frozen, request.settings)
    without = check_parts(request.without or ())
    kept = left_out(manifest.frozen)
    if manifest.frozen and request.without is not None and set(without) != set(kept):
        raise InputError(
            f"{request.to} was made {'without ' + ', '.join(kept) if kept else 'with all parts'}; `dovetail compact "
            f"{request.to}` with --with or --without changes that."
        )
    if request.embedder and not manifest.frozen:
        embedder_of(request.embedder)  # raises where there is none
    frozen = manifest.frozen.get(PEXESO.name)
    if frozen and (request.embedder or request.abbreviations):
        asked = replace(request, embedder=request.embedder or frozen["embedder"])
        if asked.vectors != Vectors.of(frozen):
            raise InputError(
                f"{request.to} was created with the embedder {frozen['embedder']} and other abbreviations, which "
                "cannot be changed; make a new index for that."
            )


def _refuse_great_loss(
    changes: Changes, indexed: dict[str, TablePlace], asked: Sequence[Root], request: Request
) -> None:
    """A wrong path or an unmounted disk must not empty an index."""
    if len(changes.gone) * 2 > len(indexed) and not request.allow_drop:
        places = ", ".join(dict.fromkeys(root.path for root in asked))
        raise InputError(
            f"Stopped before writing: {len(changes.gone):,} of {len(indexed):,} indexed tables are no longer under "
            f"{places}, or no longer selected. To drop them from the index, use `allow_drop`."
        )


def _finish_report(report: Report, writer: IndexWriter) -> None:
    """What the index holds now."""
    manifest = writer.manifest
    report.generation, report.segments = manifest.generation, len(manifest.segments)
    for name, value in manifest.statistics.items():
        setattr(report, name, value)
    snapshot = writer.snapshot()
    values = known_values(manifest) or distinct_values(snapshot.segments)
    report.values, report.values_are_exact = values.number, values.is_exact
    report.skipped = failed_tables(snapshot)
