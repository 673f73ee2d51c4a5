"""A hit that joins after a transformation: the evidence of every hit, and the programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.search.hit import Hit
from dovetail.transform.explain import explained
from dovetail.transform.program import Program
from dovetail.transform.transformation import Transformation


@dataclass(frozen=True, repr=False)
class TransformedHit(Hit):
    """A table that joins after a transformation: a program makes my values into theirs, or theirs into mine."""

    programs: tuple[Program, ...] = ()  # each for the rows that those before it leave
    transformed: str = "mine"  # the side that the programs read: mine or theirs
    target: str = ""  # the column of the other side that they reach

    @property
    def words(self) -> str:
        """The programs in words."""
        return str(self.transformation)

    @property
    def by(self) -> str:
        return "transform"

    @property
    def transformation(self) -> Transformation:
        """The transformation that joins the two."""
        return Transformation(self.programs, self.transformed == "theirs", self.target)

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        programs = [{"steps": program.to_json(), **explained(program)} for program in self.programs]
        return {**fields, "programs": programs}

    def explain(self) -> str:
        side, other = ("your", "its") if self.transformed == "mine" else ("its", "your")
        read, reached = (self.on, self.columns) if self.transformed == "mine" else (self.columns, (self.target,))
        lines = [
            f"{self.table}, {', '.join(self.columns)}: {self.overlap:,} of your {self.query_size:,} values match after "
            f"a transformation of {side} {' and '.join(read)} into {other} {reached[0]}: {self.cardinality}.",
            *(f"  {explained(program)['words']}" for program in self.programs),
            *([f"  {self._judgement}"] if self.is_decided else []),
            f"  {self.matched_rows:,} of your {self.query_rows:,} rows match; the join has {self.joined_rows:,} rows.",
            f"  matched: {', '.join(self.matched)}   not matched: {', '.join(self.unmatched) or '–'}",
            f"  brings: {', '.join(self.brings)}",
        ]
        return "\n".join(lines)

    def cells(self) -> tuple[Any, ...]:
        """As of every hit, with the program in the last cell, before any warning."""
        *cells, warning = super().cells()
        return (*cells, self.words + (f"; {warning}" if warning else ""))
