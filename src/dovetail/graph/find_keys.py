"""Finds the foreign keys and candidate keys of a lake: in threads of this process, or the same on Spark.

1. Values are merged by ranges of hashes (spark_question.py). Ranges of tables look for their natural keys.
2. Ranges of sets find the best targets of their columns: all targets of a column are those of its set. Others find the
   columns that may refer to columns of natural keys.
3. Ranges of pairings compare rows. The driver decides among all candidates at once, as in one process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._progress import Progress, silent
from dovetail._storage.directory import Snapshot
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.candidate_keys import CandidateKeyTable, candidate_keys
from dovetail.graph.composite_keys import (
    NaturalKey,
    Pairing,
    arrays_of_overlaps,
    columns_of_keys,
    compare_rows,
    named_similarly,
    natural_keys,
    overlaps_of_arrays,
    possible_pairings,
)
from dovetail.graph.foreign_keys import FOREIGN_KEY_QUERY, ForeignKeyTable, find_foreign_keys
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder
from dovetail.graph.reference_candidates import BestTargets, best_targets
from dovetail.graph.row_tuples import RowTuples, TupleOverlap
from dovetail.graph.score import Scorer
from dovetail.graph.spark_question import SparkQuestion, Task, columns_of, even_ranges, finder_of, spark_question
from dovetail.indexes.tokens.format import running_sum

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest


@dataclass(frozen=True)
class LakeKeys:
    """All foreign keys, whatever their score, and all candidate keys."""

    foreign_keys: ForeignKeyTable
    candidates: CandidateKeyTable
    overlaps: Mapping[Pairing, TupleOverlap]


def find_keys(
    columns: LakeColumns, known: Mapping[Pairing, TupleOverlap] | None = None, progress: Progress = silent
) -> LakeKeys:
    """Find all keys; combinations of columns that are `known` are not compared again."""
    threads = os.cpu_count() or 1
    finder = InclusionFinder(columns, FOREIGN_KEY_QUERY, threads, progress=progress)
    scorer = Scorer(columns, columns.distinct)
    natural = list(natural_keys(columns))
    overlaps = compare_rows(columns, natural, FOREIGN_KEY_QUERY, scorer, known or {}, threads, progress)
    return decide_keys(columns, scorer, natural, best_targets(columns, scorer, finder), overlaps)


def decide_keys(
    columns: LakeColumns,
    scorer: Scorer,
    natural: Sequence[NaturalKey],
    targets: BestTargets,
    overlaps: Mapping[Pairing, TupleOverlap],
) -> LakeKeys:
    """The keys, by what was found of the whole lake."""
    foreign_keys = find_foreign_keys(columns, scorer, targets, overlaps)
    return LakeKeys(foreign_keys, candidate_keys(columns, scorer, natural, foreign_keys), overlaps)


def keys_on_spark(
    snapshot: Snapshot,
    columns: LakeColumns,
    known: Mapping[Pairing, TupleOverlap],
    spark: SparkRequest,
    progress: Progress = silent,
) -> LakeKeys:
    """The keys of a snapshot with a segment; combinations of columns that are `known` are not compared again."""
    with spark_question(snapshot, columns, spark, progress) as question:
        groups = question.merge_values(FOREIGN_KEY_QUERY)
        natural = _natural_keys(question)
        tasks = question.set_tasks("targets", FOREIGN_KEY_QUERY, groups)
        targets = _all_targets(columns, question.arrays(find_targets, tasks, "compare sets of values"))
        tasks = question.set_tasks("keys", FOREIGN_KEY_QUERY, groups, columns_of_keys(columns, natural))
        parts = question.arrays(find_referring, tasks, "compare sets of values with keys of several columns")
        named = [(part["dependent"], part["referenced"], part["names"]) for part in parts]
        overlaps = _overlaps(question, possible_pairings(columns, natural, named), known)
    return decide_keys(columns, Scorer(columns, columns.distinct), natural, targets, overlaps)


def _natural_keys(question: SparkQuestion) -> list[NaturalKey]:
    columns = question.columns
    cells = np.bincount(columns.table_of, weights=columns.rows, minlength=len(columns.table_names))
    ranges = even_ranges(running_sum(cells.astype(np.int64)), question.tasks)
    tasks = [{"first": first, "last": last} for first, last in ranges]
    parts = question.arrays(find_natural, tasks, "look for keys of several columns")
    return [
        NaturalKey(tuple(part["columns"][start:stop].tolist()), int(distinct), int(rows))
        for part in parts
        for start, stop, (distinct, rows) in zip(part["offsets"][:-1], part["offsets"][1:], part["counts"], strict=True)
    ]


def find_natural(task: Task) -> dict[str, Array]:
    """The natural keys of some tables."""
    found = list(natural_keys(columns_of(task), (task["first"], task["last"])))
    return {
        "offsets": running_sum(np.array([len(key.columns) for key in found], np.int64)),
        "columns": np.array([column for key in found for column in key.columns], np.int64),
        "counts": np.array([(key.distinct, key.rows) for key in found], np.int64).reshape(-1, 2),
    }


def find_targets(task: Task) -> dict[str, Array]:
    """The best targets of the columns of some sets."""
    columns = columns_of(task)
    finder = finder_of(task, columns)
    scorer = Scorer(columns, finder.sizes)
    pairs, counts = best_targets(columns, scorer, finder.between(task["first"], task["last"]))
    counted = np.flatnonzero(counts)
    return {**vars(pairs), "counted": counted, "counts": counts[counted]}


def _all_targets(columns: LakeColumns, parts: list[dict[str, Array]]) -> BestTargets:
    """Those of all columns, in their order: each column belongs to one part."""
    counts = np.zeros(len(columns), np.int64)
    for part in parts:
        counts[part["counted"]] = part["counts"]
    nothing = np.empty(0, np.int64)
    joined = [np.concatenate([nothing, *(part[n] for part in parts)]) for n in ("dependent", "referenced", "overlap")]
    order = np.argsort(joined[0], kind="stable")
    return BestTargets(ColumnPairs(*(array[order] for array in joined)), counts)


def find_referring(task: Task) -> dict[str, Array]:
    """The columns of some sets that may refer to columns of keys, and how far they are named after them."""
    columns = columns_of(task)
    finder = finder_of(task, columns)
    scorer = Scorer(columns, finder.sizes)
    parts = [named_similarly(pairs, scorer) for pairs in finder.between(task["first"], task["last"])]
    nothing = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    arrays = (np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True))
    return dict(zip(("dependent", "referenced", "names"), arrays, strict=True))


def _overlaps(
    question: SparkQuestion, pairings: list[Pairing], known: Mapping[Pairing, TupleOverlap]
) -> dict[Pairing, TupleOverlap]:
    """The overlaps of all pairings, in their order."""
    new = [pairing for pairing in pairings if pairing not in known]
    rows = question.columns.rows
    costs = np.array([rows[one[0]] + rows[other[0]] for one, other in new], np.int64)
    tasks = [{"pairings": new[first:last]} for first, last in even_ranges(running_sum(1 + costs), question.tasks)]
    parts = question.arrays(compare_pairings, tasks, "compare rows")
    compared = dict(known) | dict(found for part in parts for found in overlaps_of_arrays(**part))
    return {pairing: compared[pairing] for pairing in pairings}


def compare_pairings(task: Task) -> dict[str, Array]:
    """The overlaps of some pairings."""
    rows = RowTuples(columns_of(task))
    pairings = [(tuple(one), tuple(other)) for one, other in task["pairings"]]
    return arrays_of_overlaps({pairing: rows.overlap(*pairing) for pairing in pairings})
