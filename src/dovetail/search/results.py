"""Hits: what joins, on which columns, how well and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.results import Rows

_FANS_OUT = 1.05


@dataclass(frozen=True)
class Hit:
    """A table that joins with mine, and the evidence for it. All numbers are exact."""

    rank: int
    table: str
    on: tuple[str, ...]  # my columns
    columns: tuple[str, ...]  # the table's columns that stand for them
    score: float
    overlap: int  # distinct values that both have
    containment: float  # the share of my distinct values
    jaccard: float
    query_size: int  # my distinct values
    column_size: int  # the table's distinct values
    exact: bool
    cardinality: str  # of the join, from mine to theirs: 1:1, N:1, 1:N, N:M
    query_rows: int
    matched_rows: int  # of mine
    table_rows: int
    matched_table_rows: int
    joined_rows: int  # of the inner join
    matched: tuple[str, ...]  # samples, the most frequent first
    unmatched: tuple[str, ...]
    only_there: tuple[str, ...]
    brings: tuple[str, ...]  # the table's other columns

    @property
    def fans_out(self) -> float:
        """How many rows come of each of mine that matches; above 1, the join repeats my rows."""
        return self.joined_rows / self.matched_rows if self.matched_rows else 0.0

    @property
    def warning(self) -> str:
        """What to know before joining, or nothing."""
        if self.fans_out < _FANS_OUT:
            return ""
        return f"fans out ×{self.fans_out:,.1f}: {self.joined_rows:,} rows from {self.matched_rows:,} of yours"

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {n: list(v) if isinstance(v, tuple) else v for n, v in vars(self).items()}
        shares = {name: round(fields[name], 6) for name in ("score", "containment", "jaccard")}
        return {**fields, **shares, "fans_out": round(self.fans_out, 3), "warning": self.warning or None}

    def explain(self) -> str:
        """Why this is a hit, in a few lines."""
        mine, theirs = ", ".join(self.on), ", ".join(self.columns)
        share = "all" if self.overlap == self.query_size else f"{self.overlap:,} of"
        things = "values" if len(self.on) == 1 else "tuples"
        each = "each once (a key)" if self.cardinality.endswith(":1") else "some of them repeatedly"
        lines = [
            f"{self.table}, {theirs}: {share} {self.query_size:,} {things} of {mine} are among its "
            f"{self.column_size:,}, {each}: {self.cardinality}.",
            f"  {self.matched_rows:,} of your {self.query_rows:,} rows match; the join has {self.joined_rows:,} rows"
            + (f" ({self.warning.split(':')[0]})." if self.warning else "."),
            f"  matched: {_listed(self.matched)}   not matched: {_listed(self.unmatched)}   "
            f"only there: {_listed(self.only_there)}",
            f"  brings: {_listed(self.brings)}",
        ]
        return "\n".join(lines)


class Hits(Rows[Hit]):
    """The hits of one search, best first."""

    def __init__(
        self, rows: Any, query: str, how: str, exact: bool, seconds: float, nearest: Hit | None = None
    ) -> None:
        super().__init__(rows)
        self.query = query
        self.how = how
        self.exact = exact  # whether nothing can be missing; the numbers of a hit are exact in any case
        self.seconds = seconds
        self.nearest = nearest  # where nothing joins well: the best of the poor ones

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "how": self.how,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
            "hits": self.to_dicts(),
        }


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(values) if values else "–"
