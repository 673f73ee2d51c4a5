"""Hits by spelling or meaning: those of exact search, with the mapping of my values to theirs."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dovetail._output import whole_file
from dovetail.join.joined import Joined
from dovetail.search.hits import Hit

_SHOWN = 5
_HEADINGS = ("table", "column", "value", "matched", "distance")


class Mapped(NamedTuple):
    """A value of mine, the nearest value of theirs (folded, as the index holds it), and how far apart they are."""

    value: str
    matched: str
    distance: float  # a share of the greatest


@dataclass(frozen=True)
class SemanticHit(Hit):
    """A column in which my values have near ones. Counts are of matches within `tau`; all numbers are exact."""

    joinability: float = 0.0  # the share of my rows with a value that has a match
    tau: float = 0.0
    mapping: tuple[Mapped, ...] = field(default=(), repr=False)
    tokens: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # the mapping, as both sides are folded

    def _joined(self, data: Any, how: str, first: int | None = None) -> Joined:
        if self.source is None:
            raise ValueError("this hit is of no lake; search with Lake.search")
        mine = self.source.data if data is None else data
        return self.source.join(mine, self.table, [(self.on[0], self.columns[0])], how, first, dict(self.tokens))

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        del fields["tokens"]
        pairs = [{**pair._asdict(), "distance": round(pair.distance, 6)} for pair in self.mapping]
        return {**fields, "joinability": round(self.joinability, 6), "mapping": pairs}

    def explain(self) -> str:
        mine, theirs = self.on[0], self.columns[0]
        nearest = sorted(self.mapping, key=lambda pair: (-pair.distance, pair.value))
        lines = [
            f"{self.table}, {theirs}: {self.overlap:,} of the {self.query_size:,} values of {mine} have a match within "
            f"{self.tau:.1%}: {self.joinability:.0%} of your rows, {self.cardinality}.",
            *(f"  {pair.value}  →  {pair.matched}  ({pair.distance:.1%})" for pair in nearest[:_SHOWN]),
            f"  not matched: {', '.join(self.unmatched) or '–'}",
        ]
        return "\n".join(lines)


def write_mapping(hits: Iterable[Any], path: Path) -> None:
    """The mapping of every hit as CSV."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(_HEADINGS)
        for hit in hits:
            for pair in hit.mapping:
                out.writerow((hit.table, hit.columns[0], pair.value, pair.matched, f"{pair.distance:.6f}"))
