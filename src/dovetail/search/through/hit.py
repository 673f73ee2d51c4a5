"""A hit that joins through other tables of the lake: the evidence of every hit, and the mapping of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dovetail.search.hit import Hit
from dovetail.through.mapping import ValueMapping

_SHOWN = 5


@dataclass(frozen=True, repr=False)
class ThroughHit(Hit):
    """A table whose values belong to mine, as tables of the lake say that hold both. `overlap` counts my values."""

    mapping: ValueMapping = field(default_factory=ValueMapping, repr=False, compare=False)

    @property
    def by(self) -> str:
        return "through"

    @property
    def probability(self) -> float:
        """That a person would accept the join."""
        return self.score

    @property
    def bridges(self) -> tuple[str, ...]:
        """The tables of the lake that hold values of both, those with most pairs first."""
        return tuple(dict.fromkeys(table.table for table in self.mapping.tables))

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        pairs = [{"value": pair.value, "matched": pair.partner, "similarity": round(pair.probability, 6)}
                 for pair in self.mapping]  # fmt: skip
        return {**fields, "mapping": pairs, "bridges": list(self.bridges)}

    def explain(self) -> str:
        least = sorted(self.mapping, key=lambda pair: (pair.probability, pair.value))[:_SHOWN]
        lines = [
            f"{self.table}, {self.columns[0]}: {self.overlap:,} of the {self.query_size:,} values of {self.on[0]} have "
            f"a partner, by tables that hold both: {self.cardinality}.",
            f"  tables: {', '.join(self.bridges[:_SHOWN])}",
            *(f"  {pair.value}  →  {pair.partner}  ({pair.probability:.0%})" for pair in least),
            f"  not matched: {', '.join(self.unmatched) or '–'}",
            f"  brings: {', '.join(self.brings)}",
        ]
        return "\n".join(lines)

    def cells(self) -> tuple[Any, ...]:
        """As of every hit, with the table that carries most of it in the last cell."""
        *cells, last = super().cells()
        return (*cells, "; ".join(filter(None, (f"through {self.bridges[0]}", last))))
