"""A hit that joins by parts of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.normalise.parts import described
from dovetail.search.hit import Hit


@dataclass(frozen=True, repr=False)
class PartsHit(Hit):
    """A table that joins by parts: cells of mine, or of theirs, hold several values. Values are parts on that side."""

    separator: str = ""  # `[]` for JSON lists
    several: str = "theirs"  # the side whose cells hold several values: mine or theirs

    @property
    def by(self) -> str:
        return "parts"

    def explain(self) -> str:
        whose, column = ("Your", self.on[0]) if self.several == "mine" else ("Its", self.columns[0])
        return f"{super().explain()}\n  {whose} cells of {column} hold several values, {described(self.separator)}."

    def cells(self) -> tuple[Any, ...]:
        """As of every hit, with the separator in the last cell, before any warning."""
        *cells, warning = super().cells()
        said = f"{self.several}: {described(self.separator)}"
        return (*cells, said + (f"; {warning}" if warning else ""))
