"""Inclusion dependencies on Spark: each task compares two blocks of segments and writes what it has found, ranked.

Two columns are compared in the task of their two blocks, and those of one block in the first task with this block: each
pair of columns counts once. A task opens the segments itself, and only the catalogs of the others, whose tables and
names the score needs; it returns the names of its sorted runs, which are merged here. As tasks open segments when they
start, no writer may change the index meanwhile.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._storage.directory import Snapshot, open_segment, open_writer
from dovetail._storage.segment import SegmentRef
from dovetail._storage.store import Store, open_store
from dovetail.catalog.decisions import Decision
from dovetail.errors import WriterConflict
from dovetail.graph.decided import DecidedColumns
from dovetail.graph.inclusion import ColumnPairs, InclusionFilters, InclusionFinder, InclusionQuery
from dovetail.graph.inclusion_dependencies import RUN_FILES, Ranking, SortedRun, saved_run
from dovetail.graph.lake_columns import LakeColumns
from dovetail.graph.score import Scorer
from dovetail.indexes.open_segment import OpenSegment

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest

_BLOCK = 8  # segments at most: a task has two blocks in memory
_RUNS = "runs"
_TASKS = 3  # for each core, so that none waits long for the last one


def inclusions_on_spark(
    snapshot: Snapshot, query: InclusionQuery, spark: SparkRequest, decisions: Sequence[Decision] = ()
) -> list[SortedRun]:
    """The sorted runs of all dependencies of a snapshot, without those that a person rejected."""
    from dovetail._spark.session import spark_session
    from dovetail.pipeline import probe
    from dovetail.pipeline.tasks import run_tasks

    if not snapshot.segments:
        return []
    with open_writer(snapshot.store) as writer:
        if writer.manifest.generation != snapshot.manifest.generation:
            raise WriterConflict(f"{snapshot.store.address} has changed since it was opened; open it again.")
        with spark_session(spark) as engine:
            witnesses = [probe.witness_of_store(writer.shared)]
            slots = probe.check_workers(engine, witnesses)
            common = {
                "index": writer.store.absolute,
                "segments": [ref.to_json() for ref in writer.manifest.segments],
                "query": _query_to_json(query),
                "shared": writer.shared.absolute,
                "decisions": [decision.to_json() for decision in decisions],
            }
            blocks = blocks_of(len(writer.manifest.segments), slots)
            tasks = [common | {"blocks": pair, "inside": inside} for pair, inside in pairs_of(blocks)]
            description = f"find inclusion dependencies of {len(writer.manifest.segments):,} segment(s)"
            answers = run_tasks(engine, writer.shared.sub("job"), find_between, tasks, description, witnesses)
        return _fetched_runs(writer.shared, [name for names in answers for name in names])


def _fetched_runs(shared: Store, names: Sequence[str]) -> list[SortedRun]:
    """The runs of all tasks, mapped: their files may be removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        paths = shared.fetch([f"{_RUNS}/{name}.{suffix}" for name in names for suffix in RUN_FILES], Path(folder))
        return [saved_run(path.parent, name) for path, name in zip(paths[:: len(RUN_FILES)], names, strict=True)]


def blocks_of(segments: int, cores: int) -> list[list[int]]:
    """The segments in blocks: enough for several tasks per core, and none too large."""
    wanted = math.ceil(math.sqrt(2 * _TASKS * cores)) + 1
    number = min(segments, max(wanted, math.ceil(segments / _BLOCK)))
    return [part.tolist() for part in np.array_split(np.arange(segments), number)]


def pairs_of(blocks: list[list[int]]) -> Iterator[tuple[list[list[int]], list[bool]]]:
    """Every two blocks, and for each whether this task also compares the columns within it."""
    if len(blocks) == 1:
        yield blocks, [True]
    for one, other in itertools.combinations(range(len(blocks)), 2):
        yield [blocks[one], blocks[other]], [one == 0 and other == 1, one == 0]


def find_between(task: dict[str, Any]) -> list[str]:
    """Find the dependencies of one task, scored and ranked as in the whole lake; returns the names of their runs."""
    index, query = task["index"], _query_from_json(task["query"])
    segments = [OpenSegment(open_segment(index, SegmentRef.from_json(ref))) for ref in task["segments"]]
    lake = LakeColumns(segments)
    chosen = [number for block in task["blocks"] for number in block]
    found = InclusionFinder(LakeColumns([segments[number] for number in chosen]), query)
    lengths = np.diff(lake.offsets)[chosen]
    block_of = np.repeat(np.repeat(np.arange(len(task["blocks"])), [len(b) for b in task["blocks"]]), lengths)
    number_of = np.concatenate([np.arange(lake.offsets[n], lake.offsets[n + 1]) for n in chosen])
    inside = np.array(task["inside"])
    sizes = InclusionFinder(lake, query).sizes
    scorer, ranking = Scorer(lake, sizes), Ranking(lake, sizes)
    decided = DecidedColumns(lake, map(Decision.from_json, task["decisions"]))
    for pairs in found:
        blocks = block_of[pairs.dependent], block_of[pairs.referenced]
        kept = (blocks[0] != blocks[1]) | inside[blocks[0]]
        one, other = number_of[pairs.dependent[kept]], number_of[pairs.referenced[kept]]
        mine = ColumnPairs(one, other, pairs.overlap[kept])
        ranking.add(*decided.judge(mine, scorer.scores(mine)))
    with open_store(task["shared"]).publish(_RUNS) as folder:
        folder.mkdir(parents=True, exist_ok=True)
        return ranking.save(folder)


def _query_to_json(query: InclusionQuery) -> dict[str, Any]:
    filters = asdict(query.filters) | {"coverage": str(query.filters.coverage)}
    return asdict(query) | {"filters": filters, "containment": str(query.containment)}


def _query_from_json(values: dict[str, Any]) -> InclusionQuery:
    filters = InclusionFilters(**values["filters"] | {"coverage": Fraction(values["filters"]["coverage"])})
    return InclusionQuery(**values | {"filters": filters, "containment": Fraction(values["containment"])})
