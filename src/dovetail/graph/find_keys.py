"""Finds the foreign keys and candidate keys of a lake, in threads of this process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dovetail._progress import Progress, silent
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.candidate_keys import CandidateKeyTable, candidate_keys
from dovetail.graph.composite_keys import NaturalKey, Pairing, compare_rows, natural_keys
from dovetail.graph.foreign_keys import FOREIGN_KEY_QUERY, ForeignKeyTable, find_foreign_keys
from dovetail.graph.inclusion import InclusionFinder
from dovetail.graph.reference_candidates import BestTargets, best_targets
from dovetail.graph.row_tuples import TupleOverlap
from dovetail.graph.score import Scorer


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
