"""Likely foreign keys: of all that a column could refer to, the best few, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dovetail.graph.inclusion import Filters, Inclusions, Pairs, Question
from dovetail.graph.keys_kernels import keep_best
from dovetail.graph.score import Scorer

Array = npt.NDArray[Any]

ASKED = Question(Filters(integer=False, coverage=Fraction(0)), Fraction(9, 10))
"""Foreign keys are mostly whole numbers, often refer to few of many, and real data breaks them here and there."""

_TARGETS = 3
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
    number = len(inclusions.columns)
    best = np.full((number, _TARGETS), -1.0)
    targets = np.zeros((number, _TARGETS), np.int64)
    overlaps = np.zeros((number, _TARGETS), np.int64)
    counts = np.zeros(number, np.int64)
    for pairs in inclusions:
        keep_best(
            pairs.dependent, pairs.referenced, pairs.overlap, scorer.scores(pairs), best, targets, overlaps, counts
        )
    dependent, places = np.nonzero(best >= 0)
    pairs = Pairs(dependent, targets[dependent, places], overlaps[dependent, places])
    scores = best[dependent, places] * NEXT_BEST**places
    rank = inclusions.columns.rank
    order = np.lexsort((rank[pairs.referenced], rank[pairs.dependent], -scores))
    pairs = Pairs(pairs.dependent[order], pairs.referenced[order], pairs.overlap[order])
    return Candidates(pairs, scores[order], scorer.features(pairs), places[order], counts[dependent[order]])
