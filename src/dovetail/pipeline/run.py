"""The verb `index`: brings an index up to date with its lake.

list      the driver walks the roots and compares fingerprints
group     files to be read are parted into groups, one segment each
batch     a few groups at a time go through Spark:
            prepare, stage    big tables only: detect the layout, cut, count slices in parallel
            build             read (or merge what was staged), normalise, index, write the segment
          and are committed, so that a long run that is stopped goes on where it was
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._spark.session import LOCAL, spark_session
from dovetail._storage.directory import IndexWriter, open_snapshot, open_writer
from dovetail._storage.manifest import Manifest
from dovetail.embedders import DEFAULT
from dovetail.embedders.abbreviations import read_abbreviations
from dovetail.errors import InputError
from dovetail.indexes.pexeso import PEXESO
from dovetail.indexes.pexeso import Parameters as Vectors
from dovetail.indexes.statistics import failed_tables
from dovetail.lake.listing import Root, TableFile, list_lake
from dovetail.pipeline.commit import commit
from dovetail.pipeline.jobs import SparkBuild
from dovetail.pipeline.plan import Place, Plan, compare, group, live_tables, read_bytes, without
from dovetail.pipeline.progress import Progress, watch
from dovetail.pipeline.report import Report
from dovetail.pipeline.survey import freeze
from dovetail.settings import MB, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GROUPS_A_BATCH = 8
# Of an index and what building it sets aside, at most about: bytes in any case, and for a byte that is read.
_DISK_BYTES = 100_000
_DISK_SHARE = 4.5


@dataclass(frozen=True)
class Request:
    """What to index, and how."""

    source: str
    to: Path
    add: bool = False
    allow_drop: bool = False
    tables: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    dialects: tuple[tuple[str, str], ...] | None = None
    settings: Settings | None = None
    master: str = LOCAL
    embedder: str | None = None
    abbreviations: Path | None = None  # a file; beside those that come with Dovetail

    @property
    def vectors(self) -> Vectors:
        more = read_abbreviations(self.abbreviations) if self.abbreviations else ()
        return Vectors.chosen(self.embedder or DEFAULT, more)


def index_lake(request: Request, progress: Callable[[Progress], None] = lambda _: None) -> Report:
    """Bring the index at `request.to` up to date. What is committed stays, whatever happens later."""
    begun = time.perf_counter()
    root = Root.of(request.source)
    request.vectors.space()  # a package that is missing is told before anything is written
    with open_writer(request.to, create=Manifest(0, settings=request.settings or Settings())) as writer:
        _refuse_other_settings(writer.manifest, request)
        roots = _roots(writer.manifest, root, request)
        indexed = live_tables(open_snapshot(request.to)) if writer.manifest.generation else {}
        plan = compare(list_lake(roots), indexed)
        _refuse_great_loss(plan, indexed, root, request)
        report = _bring_up_to_date(writer, roots, plan, indexed, request, progress)
        _finish_report(report, writer)
    report.seconds = time.perf_counter() - begun
    return report


def _refuse_other_settings(manifest: Manifest, request: Request) -> None:
    if request.settings not in (None, manifest.settings):
        raise InputError(
            f"The settings of {request.to} were frozen when it was created "
            f"({', '.join(f'{name} {value}' for name, value in manifest.settings.to_json().items())}). "
            "For others, make a new index."
        )
    frozen = manifest.frozen.get(PEXESO.name)
    if frozen and (request.embedder or request.abbreviations):
        asked = replace(request, embedder=request.embedder or frozen["embedder"])
        if asked.vectors != Vectors.of(frozen):
            raise InputError(
                f"The vectors of {request.to} are by the embedder {frozen['embedder']} and the abbreviations that were "
                "named when it was created. For others, make a new index."
            )


def _roots(manifest: Manifest, root: Root, request: Request) -> tuple[Root, ...]:
    """The roots that the index will have: what is asked for now, and what it remembers."""
    known = list(_remembered(manifest))
    chosen = {
        name: value for name in ("tables", "exclude", "dialects") if (value := getattr(request, name)) is not None
    }
    for number, old in enumerate(known):
        if (old.path, old.pattern) == (root.path, root.pattern):
            known[number] = replace(old, **chosen)
            return tuple(known)
    if known and not request.add:
        raise InputError(
            f"{request.to} is the index of {', '.join(old.path for old in known)}. "
            f"To put {request.source} into the same index, add --add."
        )
    prefix = f"{Path(root.path).name}/" if known else ""
    if any(prefix == old.prefix for old in known):
        raise InputError(f"The index already has a root called {prefix.rstrip('/')}; rename one of the two folders.")
    return (*known, replace(root, prefix=prefix, **chosen))


def _remembered(manifest: Manifest) -> tuple[Root, ...]:
    return tuple(Root.from_json(values) for values in manifest.roots)


def _refuse_great_loss(plan: Plan, indexed: dict[str, Place], root: Root, request: Request) -> None:
    """A wrong path or an unmounted disk must not empty an index."""
    if len(plan.gone) * 2 > len(indexed) and not request.allow_drop:
        raise InputError(
            f"Stopped before writing: {len(plan.gone):,} of {len(indexed):,} indexed tables are no longer under "
            f"{root.path}, or no longer among those that are wanted. If that is meant, add --allow-drop."
        )


def _bring_up_to_date(
    writer: IndexWriter,
    roots: tuple[Root, ...],
    plan: Plan,
    indexed: dict[str, Place],
    request: Request,
    progress: Callable[[Progress], None],
) -> Report:
    report = Report(
        added=len(plan.new), changed=len(plan.changed), removed=len(plan.gone), unchanged=plan.unchanged,
        bytes_read=sum(file.bytes for file in plan.to_read),
    )  # fmt: skip
    base = writer.manifest.next(
        segments=without(writer.manifest, (indexed[table] for table in plan.gone)),
        roots=tuple(root.to_json() for root in roots),
    )
    if plan.to_read:
        free = shutil.disk_usage(writer.path).free
        disk = _DISK_BYTES + int(sum(map(read_bytes, plan.to_read)) * _DISK_SHARE)
        progress(Progress("plan", len(plan.to_read), disk=disk, free=free))
        started = time.perf_counter()
        with spark_session(request.master) as session:
            report.spark_start_seconds = time.perf_counter() - started
            base = replace(base, frozen=base.frozen or freeze(plan.to_read, base.settings, request.vectors))
            _build_all(session, writer, base, plan.to_read, indexed, progress)
    elif plan.gone or roots != _remembered(writer.manifest) or not writer.manifest.statistics:
        commit(writer, base)
    return report


def _build_all(
    session: SparkSession,
    writer: IndexWriter,
    manifest: Manifest,
    files: list[TableFile],
    indexed: dict[str, Place],
    progress: Callable[[Progress], None],
) -> None:
    settings = writer.manifest.settings
    workers = session.sparkContext.defaultParallelism
    groups = group(files, settings.segment_mb * MB, settings.slice_mb * MB, workers)
    size = max(_GROUPS_A_BATCH, 2 * workers)
    build = SparkBuild(session, writer, manifest.frozen)
    with watch(build.progress, len(files), progress):
        for start in range(0, len(groups), size):
            batch = groups[start : start + size]
            refs = build.run(batch)
            replaced = [indexed[file.table] for files in batch for file in files if file.table in indexed]
            manifest = replace(manifest, segments=(*without(manifest, replaced), *refs))
            commit(writer, manifest, last=start + size >= len(groups))
            manifest = manifest.next()
            build.clear()
    build.raise_for_bugs()


def _finish_report(report: Report, writer: IndexWriter) -> None:
    """What the index holds now."""
    manifest = writer.manifest
    report.generation, report.segments = manifest.generation, len(manifest.segments)
    for name, value in manifest.statistics.items():
        setattr(report, name, value)
    report.skipped = failed_tables(open_snapshot(writer.path))
