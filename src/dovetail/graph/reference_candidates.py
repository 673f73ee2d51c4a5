"""The references that are decided together: the best targets of each column, and keys of several columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.rivals import Contest
from dovetail.graph.composite_keys import Pairing, composite_features
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.ranking_kernels import keep_best
from dovetail.graph.row_tuples import Columns, TupleOverlap
from dovetail.graph.score import CALLED, Scorer, inclusion_log_odds

TARGETS = 6
"""Columns that compete for a column: 99 in 100 true ones of `benchmarks/judgement/fit_keys.py` are among them."""


class ReferenceCandidates(NamedTuple):
    """Possible references: those of one column, then those of several."""

    features: Array  # a row for each
    contest: Contest


class BestTargets(NamedTuple):
    """The targets of each column that are best by themselves, one for each table; and how many it has in all."""

    pairs: ColumnPairs
    counts: Array  # by column


def best_targets(columns: LakeColumns, scorer: Scorer, blocks: Iterable[ColumnPairs]) -> BestTargets:
    """Of all pairs that come in blocks, all those of a column in the same call."""
    best = np.full((len(columns), TARGETS), -1.0)
    targets = np.zeros((len(columns), TARGETS), np.int64)
    overlaps = np.zeros((len(columns), TARGETS), np.int64)
    counts = np.zeros(len(columns), np.int64)
    for pairs in blocks:
        keep_best(
            pairs.dependent, pairs.referenced, pairs.overlap, scorer.scores(pairs), columns.table_of, best, targets,
            overlaps, counts,
        )  # fmt: skip
    dependent, places = np.nonzero(best >= 0)
    return BestTargets(ColumnPairs(dependent, targets[dependent, places], overlaps[dependent, places]), counts)


def reference_candidates(
    columns: LakeColumns, scorer: Scorer, pairs: ColumnPairs, overlaps: Mapping[Pairing, TupleOverlap]
) -> ReferenceCandidates:
    """Combinations of columns compete like single ones; in which order they are named does not matter."""
    features = scorer.features(pairs)
    if overlaps:
        features = np.concatenate([features, composite_features(columns, scorer, overlaps)])
    ones, others = [one for one, _ in overlaps], [other for _, other in overlaps]
    numbers: dict[Columns, int] = {}
    names: dict[Columns, int] = {}
    name_of, table_of = columns.name_of, columns.table_of
    dependent, referenced = pairs.dependent.astype(np.int64), pairs.referenced.astype(np.int64)
    contest = Contest(
        ones=np.append(dependent, _numbered(ones, numbers, len(columns))),
        others=np.append(referenced, _numbered(others, numbers, len(columns))),
        odds=inclusion_log_odds(features),
        called=features[:, CALLED],
        name=np.append(
            name_of[dependent],
            _numbered((name_of[list(one)].tolist() for one in ones), names, len(columns.distinct_names)),
        ),
        table=table_of[np.append(referenced, np.array([other[0] for other in others], np.int64))],
        is_own_key=np.append(scorer.references.is_own_key[referenced], np.zeros(len(others))),
    )
    return ReferenceCandidates(features, contest)


def _numbered(lists: Iterable[Iterable[int]], numbers: dict[Columns, int], first: int) -> Array:
    """A number for each list, whatever its order, from `first` on."""
    found = [numbers.setdefault(tuple(sorted(one)), first + len(numbers)) for one in lists]
    return np.array(found, np.int64)
