"""Hits by spelling or meaning, with the mapping of my values to theirs."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dovetail._output import whole_file
from dovetail.search.hit import Hit

_SHOWN = 5
_HEADINGS = ("table", "column", "value", "matched", "similarity")


class Mapped(NamedTuple):
    """A value of mine, the most similar value of theirs (folded, as the index holds it), and how similar they are."""

    value: str
    matched: str
    similarity: float  # the probability that they name the same thing; 1 for equal values


@dataclass(frozen=True, repr=False)
class SemanticHit(Hit):
    """A column with values similar to mine. Counts are exact, of matches of at least `min_similarity`."""

    joinability: float = 0.0  # the share of my rows with a value that has a match
    min_similarity: float = 0.0
    mapping: tuple[Mapped, ...] = field(default=(), repr=False)
    tokens: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # the mapping, as both sides are folded

    @property
    def by(self) -> str:
        return "semantic"

    @property
    def token_mapping(self) -> dict[str, tuple[str, float]]:
        """The token of theirs that each of mine matches, and how similar they are."""
        pairs = zip(self.tokens, self.mapping, strict=True)
        return {mine: (theirs, pair.similarity) for (mine, theirs), pair in pairs}

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        del fields["tokens"]
        pairs = [{**pair._asdict(), "similarity": round(pair.similarity, 6)} for pair in self.mapping]
        return {**fields, "joinability": round(self.joinability, 6), "mapping": pairs}

    def explain(self) -> str:
        mine, theirs = self.on[0], self.columns[0]
        least = sorted(self.mapping, key=lambda pair: (pair.similarity, pair.value))
        lines = [
            f"{self.table}, {theirs}: {self.overlap:,} of the {self.query_size:,} values of {mine} have a match "
            f"(similarity {self.min_similarity:g} or more): {self.joinability:.0%} of your rows, {self.cardinality}.",
            *(f"  {pair.value}  →  {pair.matched}  ({pair.similarity:.3f})" for pair in least[:_SHOWN]),
            f"  not matched: {', '.join(self.unmatched) or '–'}",
            *([f"  {self._judgement}"] if self.is_decided else []),
        ]
        return "\n".join(lines)


def write_mapping(hits: Iterable[Any], path: Path) -> None:
    """The mapping of every hit as CSV."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(_HEADINGS)
        for hit in hits:
            for pair in hit.mapping:
                out.writerow((hit.table, hit.columns[0], pair.value, pair.matched, f"{pair.similarity:.6f}"))
