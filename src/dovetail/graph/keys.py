"""Likely foreign keys: of all that a column could refer to, the best few, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion import Filters, Inclusions, Pairs, Question
from dovetail.graph.keys_kernels import keep_best
from dovetail.graph.score import FEATURES, OF_PARTIAL, Scorer, weigh

ASKED = Question(Filters(integer=False, coverage=Fraction(0)), Fraction(9, 10))
"""Foreign keys are mostly whole numbers, often refer to few of many, and real data breaks them here and there."""

_TARGETS = 3
_BY_NAME = 0.75  # names that are nearly the same
_OF_NO_KEY = 0.8  # what the score counts where the referenced column is not the key that its table is known by
NEXT_BEST = 0.7  # a column refers to one thing: of several targets each is this much less likely than the one before


@dataclass(frozen=True)
class Candidates:
    """The best targets of each column, by score; features tell why."""

    pairs: Pairs
    scores: Array
    features: Array
    places: Array  # 0 for the best target of its column
    targets: Array  # how many columns the dependent one could refer to

    def __len__(self) -> int:
        return len(self.scores)

    def part(self, start: int, stop: int) -> Candidates:
        place = slice(start, stop)
        pairs = Pairs(self.pairs.dependent[place], self.pairs.referenced[place], self.pairs.overlap[place])
        return Candidates(pairs, self.scores[place], self.features[place], self.places[place], self.targets[place])

    def first(self, number: int) -> Candidates:
        return self.part(0, number)


def foreign_key_candidates(inclusions: Inclusions, scorer: Scorer) -> Candidates:
    columns = inclusions.columns
    best = np.full((len(columns), _TARGETS), -1.0)
    targets = np.zeros((len(columns), _TARGETS), np.int64)
    overlaps = np.zeros((len(columns), _TARGETS), np.int64)
    counts = np.zeros(len(columns), np.int64)
    for pairs in inclusions:
        keep_best(
            pairs.dependent, pairs.referenced, pairs.overlap, scorer.scores(pairs), columns.table_of, best, targets,
            overlaps, counts,
        )  # fmt: skip
    dependent, places = np.nonzero(best >= 0)
    pairs = Pairs(dependent, targets[dependent, places], overlaps[dependent, places])
    features = scorer.features(pairs)
    _raise_known_keys(columns, pairs, features)
    scores = weigh(features) * (pairs.overlap / np.maximum(inclusions.sizes[dependent], 1)) ** OF_PARTIAL
    scores *= _OF_NO_KEY + (1 - _OF_NO_KEY) * features[:, FEATURES.index("key")]
    by_score = np.lexsort((columns.rank[pairs.referenced], -scores, dependent))
    places[by_score] = places  # both are sorted by column: the best target of each comes first again
    scores *= NEXT_BEST**places
    order = np.lexsort((columns.rank[pairs.referenced], columns.rank[pairs.dependent], -scores))
    pairs = Pairs(pairs.dependent[order], pairs.referenced[order], pairs.overlap[order])
    return Candidates(pairs, scores[order], features[order], places[order], counts[dependent[order]])


def _raise_known_keys(columns: LakeColumns, pairs: Pairs, features: Array) -> None:
    """A column that others refer to by its name is a key of its table, even where it is not the first one."""
    outside = columns.table_of[pairs.dependent] != columns.table_of[pairs.referenced]
    by_name = (features[:, FEATURES.index("names")] >= _BY_NAME) & outside
    referring = np.bincount(pairs.referenced[by_name], minlength=len(columns))[pairs.referenced]
    others = referring - by_name
    key = FEATURES.index("key")
    features[:, key] = np.maximum(features[:, key], others / (others + 1))
