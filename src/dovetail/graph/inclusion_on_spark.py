"""Inclusion dependencies on Spark: values are merged by ranges of hashes (spark_question.py), then compared.

Of single columns: a task for each range of sets finds the sets that include these, by posting lists of rare groups,
scores the pairs of columns and leaves them as sorted runs. Counts of all pairs of columns that share a token would be
the plainer shuffle, but a token that 50,000 columns hold makes 10^9 pairs; lists of rare groups alone name candidates
here, as in one process.

Of several columns: each of these tasks leaves its pairs of columns in one file, by the part that their dependent table
belongs to. A task for each part reads its pairs of all files, and goes level by level as one process does: all levels
of two tables are decided by these tables alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dovetail._progress import Progress, silent
from dovetail._storage.directory import Snapshot
from dovetail._storage.store import Store, open_store
from dovetail._types import Array
from dovetail.catalog.decisions import Decision
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.composite_keys import Pairing, arrays_of_overlaps, overlaps_of_arrays
from dovetail.graph.decided import DecidedColumns
from dovetail.graph.inclusion import ColumnPairs, InclusionQuery
from dovetail.graph.inclusion_dependencies import RUN_FILES, Ranking, SortedRun, saved_run
from dovetail.graph.nary_dependencies import NaryQuery, grown_together
from dovetail.graph.row_tuples import TupleOverlap
from dovetail.graph.score import Scorer
from dovetail.graph.spark_question import (
    Task,
    columns_of,
    finder_of,
    query_from_json,
    query_to_json,
    spark_question,
)
from dovetail.indexes.tokens.format import running_sum

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest


_RUNS = "runs"
_PAIR = np.dtype((np.uint32, 2))  # a dependent and a referenced column


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


def nary_on_spark(
    snapshot: Snapshot, columns: LakeColumns, query: NaryQuery, spark: SparkRequest, progress: Progress = silent
) -> dict[Pairing, TupleOverlap]:
    """All dependencies of several columns of a snapshot."""
    if not snapshot.segments:
        return {}
    with spark_question(snapshot, columns, spark, progress) as question:
        tasks = question.set_tasks("parts", query.of_parts, question.merge_values(query.of_parts))
        dealt = [task | {"parts": question.tasks} for task in tasks]
        bounds = question.run(find_pairs, dealt, "compare sets of values")
        common = {"query": query_to_json(query.of_columns), "most": query.most, "bounds": bounds}
        parts = [common | {"part": part} for part in range(question.tasks)]
        found = question.arrays(grow_together, parts, "compare rows of several columns")
    return dict(overlap for arrays in found for overlap in overlaps_of_arrays(**arrays))


def find_pairs(task: Task) -> list[int]:
    """Leave the dependencies of the columns of some sets, by part; returns where each part begins, and the end."""
    columns = columns_of(task)
    found = [
        np.stack([pairs.dependent, pairs.referenced], axis=1)
        for pairs in finder_of(task, columns).between(task["first"], task["last"])
    ]
    pairs = np.concatenate([np.empty((0, 2), np.uint32), *found])
    part = columns.table_of[pairs[:, 0]] % task["parts"]
    content = pairs[np.argsort(part, kind="stable")].astype(np.uint32)
    open_store(task["folder"]).put(_pairs_file(task["number"]), content.tobytes())
    bounds: list[int] = running_sum(np.bincount(part, minlength=task["parts"])).tolist()
    return bounds


def grow_together(task: Task) -> dict[str, Array]:
    """The dependencies of several columns of the tables of one part."""
    query = NaryQuery(query_from_json(task["query"]), task["most"])
    return arrays_of_overlaps(dict(grown_together(columns_of(task), query, _pairs_of(task))))


def _pairs_of(task: Task) -> Iterator[ColumnPairs]:
    """The pairs of this part, of all files."""
    folder, part = open_store(task["folder"]), task["part"]
    for number, bounds in enumerate(task["bounds"]):
        start, stop = bounds[part], bounds[part + 1]
        if start < stop:
            size = _PAIR.itemsize
            content = folder.read(_pairs_file(number), start * size, (stop - start) * size)
            dependent, referenced = np.frombuffer(content, np.uint32).reshape(-1, 2).T
            yield ColumnPairs(dependent, referenced, np.zeros(len(dependent), np.int64))


def _pairs_file(number: int) -> str:
    return f"pairs-{number}"
