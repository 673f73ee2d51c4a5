"""Inclusion dependencies as an answer, ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from dovetail.errors import InputError
from dovetail.graph.answer import Answer, named
from dovetail.graph.inclusion import Inclusions
from dovetail.graph.ranking import COLUMNS_AT_MOST, Ranking, Run
from dovetail.graph.score import Scorer


class Dependencies(Answer):
    """All dependencies that were asked for. They are found when they are first read."""

    def __init__(self, inclusions: Inclusions, runs: Sequence[Run] | None = None) -> None:
        """With `runs`, they were found elsewhere, and are merged here."""
        if len(inclusions.columns) > COLUMNS_AT_MOST:
            raise InputError(f"Dependencies are ranked among at most {COLUMNS_AT_MOST:,} columns.")
        self.inclusions = inclusions
        self._runs = runs
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
            if self._runs is None:
                scorer = Scorer(self.inclusions.columns, self.inclusions.sizes)
                for pairs in self.inclusions:
                    ranking.add(pairs, scorer.scores(pairs))
            for run in self._runs or ():
                ranking.take(run)
            self._ranking = ranking
        return self._ranking
