"""Inclusion dependencies on Spark, in two jobs. Work grows with the posting lists, not with pairs of segments.

1. A task for each range of token hashes merges the ranges of all segments' dictionaries, which are sorted by hash, and
   leaves the groups of its tokens: which columns hold them, and how many they are.
2. The driver joins the groups and makes the lake's value sets of them. A task for each range of sets finds the sets
   that include these, by posting lists of rare groups, scores the pairs of columns and leaves them as sorted runs.

Counts of all pairs of columns that share a token would be the plainer shuffle, but a token that 50,000 columns hold
makes 10^9 pairs; lists of rare groups alone name candidates here, as in one process. What tasks leave goes through a
folder beside the index, so that a lost worker costs its tasks only. The generation is held meanwhile; writers go on.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._storage.directory import Snapshot, open_segment
from dovetail._storage.segment import SegmentRef
from dovetail._storage.store import Store, open_store
from dovetail.catalog.decisions import Decision
from dovetail.errors import BuildFailed
from dovetail.graph.decided import DecidedColumns
from dovetail.graph.inclusion import InclusionFilters, InclusionFinder, InclusionQuery, eligible
from dovetail.graph.inclusion_dependencies import RUN_FILES, Ranking, SortedRun, saved_run
from dovetail.graph.lake_columns import LakeColumns
from dovetail.graph.score import Scorer
from dovetail.graph.shared_arrays import get_arrays, put_arrays, shared_folder
from dovetail.graph.value_sets import Dictionaries, TokenGroups, ValueSets, hash_ranges, join_groups, value_sets
from dovetail.indexes.tokens.query import TokenReader

if TYPE_CHECKING:
    from dovetail._spark.engine import SparkEngine
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline.probe import Witness

_TASKS = 4  # for each core, so that none waits long for the last one
_TOKENS_A_TASK = 1 << 22  # bounds the memory of the first job: some 100 bytes a token
_SETS = "sets.npz"
_RUNS = "runs"


def inclusions_on_spark(
    snapshot: Snapshot,
    columns: LakeColumns,
    query: InclusionQuery,
    spark: SparkRequest,
    decisions: Sequence[Decision] = (),
) -> list[SortedRun]:
    """The sorted runs of all dependencies of a snapshot, without those that a person rejected."""
    from dovetail._spark.session import spark_session
    from dovetail.pipeline import probe

    if not snapshot.segments:
        return []
    with shared_folder(snapshot.store) as folder, spark_session(spark) as engine:
        witnesses = [probe.witness_of_store(folder)]
        slots = probe.check_workers(engine, witnesses)
        columns.save(folder)
        job = _Job(engine, folder, witnesses)
        groups = _merge_values(job, snapshot, columns, query, slots)
        sets = value_sets(columns, *eligible(columns, query), query.null_is_a_value, groups=groups)
        put_arrays(folder, _SETS, _arrays_of(sets))
        common = {"query": _query_to_json(query), "decisions": [decision.to_json() for decision in decisions]}
        ranges = set_ranges(sets, _TASKS * slots)
        tasks = [common | {"first": first, "last": last} for first, last in ranges]
        answers = job.run(find_including, tasks, f"compare {len(sets):,} sets of values")
        return _fetched_runs(folder, [name for names in answers for name in names])


def _fetched_runs(folder: Store, names: Sequence[str]) -> list[SortedRun]:
    """The runs of all tasks, mapped: their files may be removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-") as place:
        paths = folder.fetch([f"{_RUNS}/{name}.{suffix}" for name in names for suffix in RUN_FILES], Path(place))
        return [saved_run(path.parent, name) for path, name in zip(paths[:: len(RUN_FILES)], names, strict=True)]


class _Job:
    """Runs tasks that share a folder."""

    def __init__(self, engine: SparkEngine, folder: Store, witnesses: list[Witness]) -> None:
        self._engine, self.folder, self._witnesses = engine, folder, witnesses

    def run(self, work: Callable[[dict[str, Any]], Any], tasks: list[dict[str, Any]], description: str) -> list[Any]:
        """The answers of the tasks. Raises where one has none."""
        from dovetail.pipeline.tasks import run_tasks

        described = [task | {"folder": self.folder.absolute} for task in tasks]
        place = self.folder.sub(work.__name__)
        answers = run_tasks(self._engine, place, work, described, description, self._witnesses)
        for answer in answers:
            if isinstance(answer, dict):
                raise BuildFailed(f"Spark cannot {description}: {json.dumps(answer)}.")
        return answers


def _merge_values(
    job: _Job, snapshot: Snapshot, columns: LakeColumns, query: InclusionQuery, slots: int
) -> TokenGroups:
    """The groups of the lake's tokens: the first job."""
    tokens = sum(segment.counts["values"] for segment in snapshot.segments)
    common = {
        "index": snapshot.store.absolute,
        "segments": [ref.to_json() for ref in snapshot.manifest.segments],
        "query": _query_to_json(query),
    }
    ranges = hash_ranges(tokens, _TOKENS_A_TASK, least=slots)
    tasks = [common | {"low": low, "high": high} for low, high in ranges]
    description = f"merge {tokens:,} values of {len(snapshot.segments):,} segment(s)"
    names = job.run(group_tokens, tasks, description)
    return join_groups([TokenGroups(**get_arrays(job.folder, name)) for name in names], len(columns))


def group_tokens(task: dict[str, Any]) -> str:
    """Group the tokens of one range of hashes over all segments; returns the name of what it leaves."""
    folder = open_store(task["folder"])
    columns = LakeColumns.load(folder)
    wanted, _ = eligible(columns, _query_from_json(task["query"]))
    segments = [open_segment(task["index"], SegmentRef.from_json(ref)) for ref in task["segments"]]
    dictionaries = Dictionaries([TokenReader(segment) for segment in segments], columns.offsets[:-1])
    found = dictionaries.groups_between(task["low"], task["high"], wanted)
    name = f"groups-{task['low']:016x}.npz"
    put_arrays(folder, name, _arrays_of(found))
    return name


def set_ranges(sets: ValueSets, tasks: int) -> list[tuple[int, int]]:
    """The sets in ranges with about the same number of groups."""
    cuts = np.searchsorted(sets.group_offsets, np.linspace(0, len(sets.groups), tasks + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [len(sets)]])).tolist()
    return list(itertools.pairwise(bounds))


def find_including(task: dict[str, Any]) -> list[str]:
    """Find the dependencies of some sets, scored and ranked as in the whole lake; returns the names of their runs."""
    folder = open_store(task["folder"])
    columns, query = LakeColumns.load(folder), _query_from_json(task["query"])
    finder = InclusionFinder(columns, query, sets=ValueSets(**get_arrays(folder, _SETS)))
    scorer, ranking = Scorer(columns, finder.sizes), Ranking(columns, finder.sizes)
    decided = DecidedColumns(columns, map(Decision.from_json, task["decisions"]))
    for pairs in finder.between(task["first"], task["last"]):
        ranking.add(*decided.judge(pairs, scorer.scores(pairs)))
    with folder.publish(_RUNS) as place:
        place.mkdir(exist_ok=True)
        return ranking.save(place)


def _arrays_of(found: TokenGroups | ValueSets) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(found)}


def _query_to_json(query: InclusionQuery) -> dict[str, Any]:
    filters = asdict(query.filters) | {"coverage": str(query.filters.coverage)}
    return asdict(query) | {"filters": filters, "containment": str(query.containment)}


def _query_from_json(values: dict[str, Any]) -> InclusionQuery:
    filters = InclusionFilters(**values["filters"] | {"coverage": Fraction(values["filters"]["coverage"])})
    return InclusionQuery(**values | {"filters": filters, "containment": Fraction(values["containment"])})
