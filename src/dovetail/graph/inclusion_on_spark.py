"""Inclusion dependencies of single columns on Spark: values are merged (spark_question.py), then compared.

A task for each range of sets finds the sets that include these, by posting lists of rare groups, scores the pairs of
columns and leaves them as sorted runs. Counts of all pairs of columns that share a token would be the plainer shuffle,
but a token that 50,000 columns hold makes 10^9 pairs; lists of rare groups alone name candidates here, as in one
process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._progress import Progress, silent
from dovetail._storage.directory import Snapshot
from dovetail._storage.store import Store, open_store
from dovetail.catalog.decisions import Decision
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.decided import DecidedColumns
from dovetail.graph.inclusion import InclusionQuery
from dovetail.graph.inclusion_dependencies import RUN_FILES, Ranking, SortedRun, saved_run
from dovetail.graph.score import Scorer
from dovetail.graph.spark_question import Task, columns_of, finder_of, spark_question

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest

_RUNS = "runs"


def inclusions_on_spark(
    snapshot: Snapshot,
    columns: LakeColumns,
    query: InclusionQuery,
    spark: SparkRequest,
    decisions: Sequence[Decision] = (),
    progress: Progress = silent,
) -> list[SortedRun]:
    """The sorted runs of all dependencies of a snapshot, without those that a person rejected."""
    if not snapshot.segments:
        return []
    decided = [decision.to_json() for decision in decisions]
    with spark_question(snapshot, columns, spark, progress) as question:
        tasks = question.set_tasks("all", query, question.merge_values(query))
        described = [task | {"decisions": decided} for task in tasks]
        answers = question.run(find_including, described, "compare sets of values")
        return _fetched_runs(question.folder, [name for names in answers for name in names])


def _fetched_runs(folder: Store, names: Sequence[str]) -> list[SortedRun]:
    """The runs of all tasks, mapped: their files may be removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-") as place:
        paths = folder.fetch([f"{_RUNS}/{name}.{suffix}" for name in names for suffix in RUN_FILES], Path(place))
        return [saved_run(path.parent, name) for path, name in zip(paths[:: len(RUN_FILES)], names, strict=True)]


def find_including(task: Task) -> list[str]:
    """Find the dependencies of some sets, scored and ranked as in the whole lake; returns the names of their runs."""
    columns = columns_of(task)
    finder = finder_of(task, columns)
    scorer, ranking = Scorer(columns, finder.sizes), Ranking(columns, finder.sizes)
    decided = DecidedColumns(columns, map(Decision.from_json, task["decisions"]))
    for pairs in finder.between(task["first"], task["last"]):
        ranking.add(*decided.judge(pairs, scorer.scores(pairs)))
    with open_store(task["folder"]).publish(_RUNS) as place:
        place.mkdir(exist_ok=True)
        return ranking.save(place)
