"""Likely foreign keys as an answer, each with the reasons for its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.graph.answer import SCHEMA, Answer, named_lists
from dovetail.graph.composite import composite_candidates, next_best
from dovetail.graph.inclusion import Inclusions
from dovetail.graph.keys import Candidates, foreign_key_candidates
from dovetail.graph.score import FEATURES, Scorer
from dovetail.indexes.tokens.format import running_sum

LIKELY = 0.5
"""The least score that is shown unless more is asked for."""

_AT_ONCE = 1 << 16
_STRONG, _WEAK = 0.75, 0.25


@dataclass(frozen=True)
class Link:
    """One foreign key, by the numbers of its columns."""

    dependent: tuple[int, ...]
    referenced: tuple[int, ...]
    containment: float
    coverage: float
    score: float


class ForeignKeys(Answer):
    """For each column, and for columns together, the few that they may refer to, best first."""

    schema = SCHEMA.append(pa.field("reasons", pa.list_(pa.string())))

    def __init__(self, inclusions: Inclusions, least: float = LIKELY) -> None:
        self.columns = inclusions.columns
        self._sizes = inclusions.sizes
        scorer = Scorer(self.columns, self._sizes)
        found = foreign_key_candidates(inclusions, scorer)
        self._single = found.first(int(np.count_nonzero(found.scores >= least)))
        several = next_best(composite_candidates(self.columns, inclusions.question, scorer))
        self._several = [one for one in several if one.score >= least]
        scores = np.concatenate([self._single.scores, [one.score for one in self._several]])
        self._order = np.argsort(-scores, kind="stable")

    def __len__(self) -> int:
        return len(self._order)

    def __repr__(self) -> str:
        return f"<{len(self):,} likely foreign keys>"

    def links(self, start: int = 0, stop: int | None = None) -> Iterator[Link]:
        """Those at these places, best first."""
        for place in self._order[start:stop].tolist():
            if place >= len(self._single):
                one = self._several[place - len(self._single)]
                yield Link(one.dependent, one.referenced, one.containment, one.coverage, one.score)
                continue
            pairs = self._single.pairs
            dependent, referenced = int(pairs.dependent[place]), int(pairs.referenced[place])
            overlap = int(pairs.overlap[place])
            yield Link(
                (dependent,),
                (referenced,),
                overlap / max(1, int(self._sizes[dependent])),
                overlap / max(1, int(self._sizes[referenced])),
                float(self._single.scores[place]),
            )

    def batches(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), _AT_ONCE):
            links = list(self.links(start, start + _AT_ONCE))
            offsets = running_sum(np.array([len(link.dependent) for link in links]))
            ends = ([column for link in links for column in link.dependent],
                    [column for link in links for column in link.referenced])  # fmt: skip
            numbers = (
                [link.containment for link in links],
                [link.coverage for link in links],
                [round(link.score, 4) for link in links],
            )
            reasons = [self._why(place) for place in self._order[start : start + _AT_ONCE].tolist()]
            yield pa.RecordBatch.from_arrays(
                [
                    *(array for end in ends for array in named_lists(self.columns, np.array(end), offsets)),
                    *(pa.array(values, pa.float64()) for values in numbers),
                    pa.array(reasons, pa.list_(pa.string())),
                ],
                schema=self.schema,
            )

    def _why(self, place: int) -> list[str]:
        if place < len(self._single):
            return self._reasons(self._single, place)
        one = self._several[place - len(self._single)]
        shared = one.shared
        contained = (
            f"all {shared.dependent:,} combinations"
            if shared.common == shared.dependent
            else f"{shared.common:,} of {shared.dependent:,} combinations"
        )
        theirs = ", ".join(self.columns.names[column].as_py() for column in one.referenced)
        return [
            f"{contained} are among its {shared.referenced:,}",
            _named(float(one.features[FEATURES.index("names")]), theirs),
            f"{theirs} together are the first key of several columns of its table",
            f"{'many' if shared.dependent < one.rows else 'one'} to one: {one.rows:,} rows",
        ]

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
            _known(said["key"], bool(self.columns.leading[other]), theirs),
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


def _known(key: float, leading: bool, theirs: str) -> str:
    if not leading and key:
        return f"{theirs} repeats no value, and other tables refer to it by its name"
    return f"{theirs} is {'' if leading else 'not '}the first key of its table"


def _named(share: float, theirs: str) -> str:
    if share >= _STRONG:
        return f"named after {theirs} or its table"
    return "the names have something in common" if share >= _WEAK else "the names have little in common"
