"""A join path of one step: through tables of the lake that relate values of both ends.

Only columns of texts of the two ends are tried, within a time limit; paths that mix foreign keys and joins through the
lake would need the votes of all pairs of tables on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail._deadline import Deadline
from dovetail.catalog.decisions import TableDecisions
from dovetail.evidence.thresholds import LIKELY_THROUGH
from dovetail.graph.join_paths import JoinPath, compared, quoted
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.input_table import InputTable
from dovetail.through.columns import is_of, likely_columns
from dovetail.through.lookup import Effort, map_columns
from dovetail.through.mapping import BridgeTable, ValueMapping, how_likely

SECONDS = 10.0  # to choose among the columns of both tables; that of `join`


@dataclass(frozen=True)
class ThroughStep:
    """A join of two columns by tables of the lake that hold values of both in one row."""

    table: str
    column: str
    to: str
    to_column: str
    score: float
    mapping: ValueMapping

    @property
    def cardinality(self) -> str:
        """By the mapping alone; rows of either table may repeat values in addition."""
        left, right = (len(np.unique(places)) for places in self.mapping.places)
        return "N:1" if right < left else "1:N" if left < right else "1:1"

    @property
    def notes(self) -> list[str]:
        best, tables = self._best, len({bridge.name for bridge in self.mapping.tables})
        support = sum(pair.support for pair in self.mapping) / len(self.mapping)
        several = f"{tables:,} tables of the lake, e.g. " if tables > 1 else ""
        lines = [
            f"{self.table} ({self.column}) = {self.to} ({self.to_column}), through {several}{best.name}: "
            f"{len(self.mapping):,} pairs of values, mean support {support:.2f}"
        ]
        if best.pairs < len(self.mapping):
            lines.append(
                f"this query has the {best.pairs:,} pairs of {best.name}; for all: dovetail join {self.table} "
                f"{self.to} --on {self.column}={self.to_column} --by through --mapping FILE --explain"
            )
        return lines

    @property
    def _best(self) -> BridgeTable:
        return self.mapping.tables[0]

    def sql(self, number: int) -> list[str]:
        here, there, bridge = f"t{number}", f"t{number + 1}", f"b{number}"
        one, other = (compared("b", name, True) for name in (self._best.left_column, self._best.right_column))
        return [
            f"JOIN (SELECT DISTINCT {one} AS one, {other} AS other FROM {quoted(self._best.table)} AS b) AS {bridge} "
            f"ON {compared(here, self.column, True)} = {bridge}.one",
            f"JOIN {quoted(self.to)} AS {there} ON {compared(there, self.to_column, True)} = {bridge}.other",
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "dependent_table": self.table,
            "dependent_columns": [self.column],
            "referenced_table": self.to,
            "referenced_columns": [self.to_column],
            "cardinality": self.cardinality,
            "score": round(self.score, 4),
            "decided": None,
            "declared": False,
            "bridges": self.mapping.tables.to_dicts(),
        }


def path_through(
    segments: Sequence[OpenSegment], start: InputTable, end: InputTable, decisions: TableDecisions
) -> JoinPath | None:
    """The join of the two tables through others, if it is likely and nobody has rejected it."""
    excluded = is_of(segments, start.id, end.id)
    pair = likely_columns(segments, start, end, Deadline(SECONDS), True, excluded)
    if pair is None or decisions.rejects((pair[0],), (pair[1],)) is not None:
        return None
    mapping = map_columns(segments, start.column(pair[0]), end.column(pair[1]), excluded, Effort.SPELLED)
    likely = how_likely(mapping) if mapping else 0.0
    if likely < LIKELY_THROUGH:
        return None
    return JoinPath(start.name, (ThroughStep(start.name, pair[0], end.name, pair[1], likely, mapping),), likely)
