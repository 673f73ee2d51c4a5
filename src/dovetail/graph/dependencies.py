"""Inclusion dependencies as an answer, ranked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dovetail.errors import InputError
from dovetail.graph.answer import Answer, named
from dovetail.graph.inclusion import Inclusions
from dovetail.graph.ranking import COLUMNS_AT_MOST, Ranking
from dovetail.graph.score import Scorer


class Dependencies(Answer):
    """All dependencies that were asked for. They are found when they are first read."""

    def __init__(self, inclusions: Inclusions) -> None:
        if len(inclusions.columns) > COLUMNS_AT_MOST:
            raise InputError(f"Dependencies are ranked among at most {COLUMNS_AT_MOST:,} columns.")
        self.inclusions = inclusions
        self._scorer = Scorer(inclusions.columns, inclusions.sizes)
        self._ranking: Ranking | None = None

    def __len__(self) -> int:
        return len(self._ranked())

    def __repr__(self) -> str:
        return f"<{len(self):,} inclusion dependencies>"

    def batches(self) -> Iterator[pa.RecordBatch]:
        columns, sizes = self.inclusions.columns, self.inclusions.sizes
        at_rank = np.argsort(columns.rank)
        for scores, one, other, overlap in self._ranked():
            dependent, referenced = at_rank[one], at_rank[other]
            mine = np.where(sizes[dependent] == 0, 1.0, overlap / np.maximum(sizes[dependent], 1))
            theirs = overlap / np.maximum(sizes[referenced], 1)
            numbers = (pa.array(values) for values in (mine, theirs, scores))
            yield pa.RecordBatch.from_arrays(
                [*named(columns, dependent), *named(columns, referenced), *numbers], schema=self.schema
            )

    def _ranked(self) -> Ranking:
        if self._ranking is None:
            self._ranking = Ranking()
            rank = self.inclusions.columns.rank
            for pairs in self.inclusions:
                scores = self._scorer.scores(pairs)
                self._ranking.add(scores, rank[pairs.dependent], rank[pairs.referenced], pairs.overlap)
        return self._ranking
