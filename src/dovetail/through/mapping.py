"""The answer: which value of one column belongs to which of the other, and which tables of the lake say so.

How likely a person would join the two columns by it is a number of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._model import load_model
from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.results import Rows
from dovetail.through.bridges import Bridge, BridgePlace
from dovetail.through.votes import Votes

THEN = " → "  # between the names of two tables in a row
_SHOWN = 3  # tables, and other partners, of each pair
FEATURES = ("certain", "partners")
"""Of a mapping: how likely its partners are, and how many different ones there are, on the side that has fewer."""


@dataclass(frozen=True)
class ValuePair:
    """Two values that belong together."""

    value: str
    partner: str
    support: float  # the sum of the weights of the independent tables that say so
    probability: float
    tables: tuple[str, ...]  # all that say so, those with most weight first
    alternatives: tuple[tuple[str, str, float], ...] = ()  # pairs that contradict it, with their probability

    @property
    def contradictions(self) -> list[str]:
        """The pairs that contradict it, each as a text."""
        return [f"{value} = {partner} ({probability:.0%})" for value, partner, probability in self.alternatives]

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "partner": self.partner,
            "support": round(self.support, 4),
            "probability": round(self.probability, 4),
            "tables": list(self.tables),
            "alternatives": [
                {"value": value, "partner": partner, "probability": round(probability, 4)}
                for value, partner, probability in self.alternatives
            ],
        }


@dataclass(frozen=True)
class BridgeStep:
    """Two columns of a table of the lake."""

    table: str
    left_column: str
    right_column: str

    @property
    def columns(self) -> str:
        return f"{self.left_column} = {self.right_column}"


@dataclass(frozen=True)
class BridgeTable(BridgeStep):
    """A table of the lake that carries a mapping, by two of its columns; or two such tables in a row."""

    pairs: int  # of the mapping, that it holds
    weight: float
    then: BridgeStep | None = None  # the second table, whose left column holds values of the first one's right column

    @property
    def steps(self) -> tuple[BridgeStep, ...]:
        return (self, self.then) if self.then else (self,)

    @property
    def name(self) -> str:
        return THEN.join(step.table for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "weight": round(self.weight, 4), "then": vars(self.then) if self.then else None}


class ValueMapping(Rows[ValuePair]):
    """Pairs of values that belong together: each value of one side has one partner, which others may have too.

    `reversed`: it is the right values that have one partner each. `tables` carry the mapping, most pairs first.
    """

    def __init__(
        self,
        pairs: Sequence[ValuePair] = (),
        places: tuple[Array, Array] | None = None,
        tables: Sequence[BridgeTable] = (),
        reversed: bool = False,
    ) -> None:
        super().__init__(pairs)
        self.places = places or (np.empty(0, np.int64), np.empty(0, np.int64))  # among the values of either side
        self.tables = Rows(tables)
        self.reversed = reversed

    @property
    def disputed(self) -> list[ValuePair]:
        """The pairs that some tables contradict, the least certain first."""
        return sorted((pair for pair in self if pair.alternatives), key=lambda pair: pair.probability)

    def to_arrow(self) -> pa.Table:
        """value, partner, support, probability, tables and what contradicts: the mapping as a table of its own."""
        return pa.table(
            {
                "value": pa.array([pair.value for pair in self], pa.string()),
                "partner": pa.array([pair.partner for pair in self], pa.string()),
                "support": pa.array([round(pair.support, 4) for pair in self], pa.float64()),
                "probability": pa.array([round(pair.probability, 4) for pair in self], pa.float64()),
                "tables": pa.array(["; ".join(pair.tables) for pair in self], pa.string()),
                "alternatives": pa.array(["; ".join(pair.contradictions) for pair in self], pa.string()),
            }
        )

    def shown(self) -> tuple[Sequence[str], list[Sequence[Any]]]:
        rows: list[Sequence[Any]] = [
            [pair.value, pair.partner, f"{pair.probability:.0%}", f"{pair.support:.2f}", _few(pair.tables)]
            for pair in self
        ]
        return ["value", "partner", "probability", "support", "tables"], rows


def mapping_of(
    segments: Sequence[OpenSegment], bridges: Sequence[Bridge], votes: Votes, left: Sequence[str], right: Sequence[str]
) -> ValueMapping:
    """The likely pairs, written as in `left` and `right`."""
    order = votes.likely
    width = len(right)
    likely = votes.left[order] * width + votes.right[order]
    rank = {key: place for place, key in enumerate(likely.tolist())}
    supporters: list[dict[str, None]] = [{} for _ in order]
    carried: Counter[int] = Counter()
    for number in np.argsort(-votes.weights, kind="stable").tolist():
        bridge = bridges[number]
        name = THEN.join(segments[place.segment].names[place.table] for place in bridge.places)
        for key in np.intersect1d(bridge.left * width + bridge.right, likely).tolist():
            supporters[rank[key]][name] = None
            carried[number] += 1
    others = _alternatives(votes, left, right)
    pairs = [
        ValuePair(
            left[i], right[j], float(votes.support[at]), float(votes.probability[at]), tuple(supporters[place]),
            tuple(other for other in others[j if votes.reversed else i] if other[:2] != (left[i], right[j]))[:_SHOWN],
        )
        for place, (at, i, j) in enumerate(
            zip(order.tolist(), votes.left[order].tolist(), votes.right[order].tolist(), strict=True)
        )
    ]  # fmt: skip
    tables = [_table(segments, bridges[n], count, float(votes.weights[n])) for n, count in carried.most_common()]
    return ValueMapping(pairs, (votes.left[order], votes.right[order]), tables, votes.reversed)


def _alternatives(votes: Votes, left: Sequence[str], right: Sequence[str]) -> dict[int, list[tuple[str, str, float]]]:
    """All partners of each value, likely ones first."""
    found = defaultdict(list)
    one = votes.right if votes.reversed else votes.left
    for at in np.argsort(-votes.probability, kind="stable").tolist():
        found[int(one[at])].append((left[votes.left[at]], right[votes.right[at]], float(votes.probability[at])))
    return found


def _table(segments: Sequence[OpenSegment], bridge: Bridge, pairs: int, weight: float) -> BridgeTable:
    first, *second = (_step(segments[place.segment], place) for place in bridge.places)
    return BridgeTable(*first, pairs, weight, BridgeStep(*second[0]) if second else None)


def _step(segment: OpenSegment, place: BridgePlace) -> tuple[str, str, str]:
    left, right = (segment.catalog.column(column).column for column in place.columns)
    return segment.names[place.table], left, right


def _few(tables: Sequence[str]) -> str:
    more = len(tables) - _SHOWN
    return ", ".join(tables[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def how_likely(mapping: ValueMapping) -> float:
    return float(load_model("join_through", FEATURES).probability(mapping_features(mapping)))


def mapping_features(mapping: ValueMapping) -> Array:
    certain = float(np.mean([pair.probability for pair in mapping])) if mapping else 0.0
    partners = min(len({pair.value for pair in mapping}), len({pair.partner for pair in mapping}))
    return np.array([certain, np.log2(1 + partners) / 10])
