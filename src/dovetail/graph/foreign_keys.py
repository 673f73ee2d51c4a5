"""Likely foreign keys as an answer, each with the reasons for its score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.graph.answer import SCHEMA, Answer, named
from dovetail.graph.inclusion import Inclusions
from dovetail.graph.keys import Candidates, foreign_key_candidates
from dovetail.graph.score import FEATURES, Scorer

Array = npt.NDArray[Any]

LIKELY = 0.5
"""The least score that is shown unless more is asked for."""

_AT_ONCE = 1 << 16
_STRONG, _WEAK = 0.75, 0.25


class ForeignKeys(Answer):
    """For each column the few that it may refer to, best first."""

    schema = SCHEMA.append(pa.field("reasons", pa.list_(pa.string())))

    def __init__(self, inclusions: Inclusions, least: float = LIKELY) -> None:
        self.columns = inclusions.columns
        self._sizes = inclusions.sizes
        found = foreign_key_candidates(inclusions, Scorer(self.columns, self._sizes))
        self.candidates = found.first(int(np.count_nonzero(found.scores >= least)))

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        return f"<{len(self):,} likely foreign keys>"

    @property
    def containment(self) -> Array:
        pairs = self.candidates.pairs
        shares: Array = pairs.overlap / np.maximum(self._sizes[pairs.dependent], 1)
        return shares

    def batches(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), _AT_ONCE):
            part = self.candidates.part(start, start + _AT_ONCE)
            pairs = part.pairs
            numbers = (
                pairs.overlap / np.maximum(self._sizes[pairs.dependent], 1),
                pairs.overlap / np.maximum(self._sizes[pairs.referenced], 1),
                np.round(part.scores, 4),
            )
            reasons = pa.array([self._reasons(part, i) for i in range(len(part))], pa.list_(pa.string()))
            yield pa.RecordBatch.from_arrays(
                [
                    *named(self.columns, pairs.dependent),
                    *named(self.columns, pairs.referenced),
                    *map(pa.array, numbers),
                    reasons,
                ],
                schema=self.schema,
            )

    def _reasons(self, part: Candidates, place: int) -> list[str]:
        """What each feature says, in the order of their weights."""
        one, other = int(part.pairs.dependent[place]), int(part.pairs.referenced[place])
        mine, theirs = self.columns.names[one].as_py(), self.columns.names[other].as_py()
        said = dict(zip(FEATURES, part.features[place].tolist(), strict=True))
        size, overlap = int(self._sizes[one]), int(part.pairs.overlap[place])
        contained = f"all {size:,} values" if overlap == size else f"{overlap:,} of {size:,} values"
        reasons = [
            f"{contained} are among its {int(self._sizes[other]):,}",
            _named(said["names"], theirs),
            f"{theirs} is {'' if said['key'] else 'not '}the first key of its table",
        ]
        if said["surprise"] < _WEAK:
            reasons.append("but such values could stand there by chance")
        if said["repeats"] == 1:
            reasons.append(f"many to one: {int(self.columns.rows[one] - self.columns.nulls[one]):,} rows have {mine}")
        else:
            reasons.append(f"one to one: {mine} repeats no value")
        if said["near"] > _WEAK and self.columns.table_of[one] != self.columns.table_of[other]:
            reasons.append("the tables lie together or are called alike")
        if part.targets[place] > 1:
            best = "the best" if part.places[place] == 0 else f"number {part.places[place] + 1}"
            reasons.append(f"{best} of {int(part.targets[place]):,} columns that hold these values")
        return reasons


def _named(share: float, theirs: str) -> str:
    if share >= _STRONG:
        return f"named after {theirs} or its table"
    return "the names have something in common" if share >= _WEAK else "the names have little in common"
