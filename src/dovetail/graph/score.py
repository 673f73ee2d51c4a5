"""How likely a dependency is a reference: by itself, and among all that a column could refer to."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dovetail._model import load_model
from dovetail._types import Array
from dovetail.evidence.columns import as_numbers, kinds_of
from dovetail.evidence.features import Side
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.references import REFERENCE_FEATURES, LogOdds, References
from dovetail.evidence.rivals import RIVAL_FEATURES, Contest, rival_features, share_among_targets
from dovetail.evidence.vocabulary import ColumnNames
from dovetail.graph.inclusion import ColumnPairs

SCORES_VERSION = 4
"""Part of the name of kept answers: raise it with every change that alters a score, a candidate or their order."""

DIGITS = 4  # of a score: it is compared as it is shown, whatever the rounding errors of its sum
CALLED = REFERENCE_FEATURES.index("called")


class Scorer:
    """Features and probabilities of pairs of columns."""

    def __init__(self, columns: LakeColumns, sizes: Array) -> None:
        kinds = kinds_of(columns.kinds.tolist())
        nothing = np.zeros(len(columns))
        side = Side(
            columns.rows.astype(np.float64), (columns.rows - columns.nulls).astype(np.float64),
            sizes.astype(np.float64), kinds, as_numbers(columns.minimum, kinds), as_numbers(columns.maximum, kinds),
            columns.mean_length, columns.place, columns.leading, nothing,
        )  # fmt: skip
        names = ColumnNames(
            columns.distinct_names.to_pylist(), columns.name_of, columns.table_names.to_pylist(), columns.table_of,
            columns.alive,
        )  # fmt: skip
        self.references = References(side, names, columns.keys, (columns.declares_primary, columns.primary))

    @cached_property
    def _log_odds(self) -> LogOdds:
        return self.references.log_odds(load_model("inclusion", REFERENCE_FEATURES))

    def scores(self, pairs: ColumnPairs) -> Array:
        """How likely each pair is a reference, whatever else the column could refer to."""
        return as_probability(self._log_odds(pairs.dependent, pairs.referenced, pairs.overlap))

    def called(self, pairs: ColumnPairs) -> Array:
        """How far each column is named after the one that it may refer to, from 0 to 1."""
        return self.references.feature("called")(pairs.dependent, pairs.referenced, pairs.overlap)

    def features(self, pairs: ColumnPairs) -> Array:
        """One row for each pair, one column for each of `REFERENCE_FEATURES`."""
        return self.references.features(pairs.dependent, pairs.referenced, pairs.overlap)


def as_probability(log_odds: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-log_odds))


def inclusion_log_odds(features: Array) -> Array:
    return load_model("inclusion", REFERENCE_FEATURES).log_odds(features)


def decide_together(features: Array, contest: Contest) -> tuple[Array, Array]:
    """How likely each is a reference, given all; and what its rivals say, a column for each of `RIVAL_FEATURES`."""
    rivals = rival_features(contest)
    model = load_model("reference", (*REFERENCE_FEATURES, *RIVAL_FEATURES))
    probability = model.probability(np.concatenate([features, rivals], axis=1))
    return np.round(share_among_targets(contest.ones, probability), DIGITS), rivals
