"""A hit that joins after a transformation: the evidence of every hit, and the programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.search.hits import Hit
from dovetail.transform.explain import explained
from dovetail.transform.program import Program
from dovetail.transform.transformation import Transformation


@dataclass(frozen=True, repr=False)
class TransformedHit(Hit):
    """My values that match are those for which a program makes one of theirs, or of which one of theirs makes mine."""

    programs: tuple[Program, ...] = ()  # each for the rows that those before it leave
    transformed: str = "mine"  # the side that the programs read: mine or theirs
    target: str = ""  # the column of the other side that they reach

    @property
    def words(self) -> str:
        """The programs for people."""
        return str(self.transformation)

    @property
    def by(self) -> str:
        return "transform"

    @property
    def transformation(self) -> Transformation:
        """How the two join."""
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
            f"  {self.matched_rows:,} of your {self.query_rows:,} rows match; the join has {self.joined_rows:,} rows.",
            f"  matched: {', '.join(self.matched)}   not matched: {', '.join(self.unmatched) or '–'}",
            f"  brings: {', '.join(self.brings)}",
        ]
        return "\n".join(lines)

    def cells(self) -> tuple[Any, ...]:
        """As every hit's; the program stands where others warn."""
        *cells, warning = super().cells()
        return (*cells, self.words + (f"; {warning}" if warning else ""))
