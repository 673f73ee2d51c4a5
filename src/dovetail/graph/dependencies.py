"""Inclusion dependencies as an answer, ranked."""

from __future__ import annotations

from collections.abc import Iterator

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
        columns = self.inclusions.columns
        for part in self._ranked():
            shares = (pa.array(values) for values in (part.containment, part.coverage, part.score))
            yield pa.RecordBatch.from_arrays(
                [*named(columns, *part.dependent), *named(columns, *part.referenced), *shares], schema=self.schema
            )

    def _ranked(self) -> Ranking:
        if self._ranking is None:
            ranking = Ranking(self.inclusions.columns, self.inclusions.sizes)
            for pairs in self.inclusions:
                ranking.add(pairs, self._scorer.scores(pairs))
            self._ranking = ranking
        return self._ranking
