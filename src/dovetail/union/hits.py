"""Hits of a union search: which tables can be appended, how their columns correspond, and why."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail._text import first_names, table_lines
from dovetail.results import Rows
from dovetail.union.alignment import AlignedColumns

HEADINGS = ("#", "table", "likely", "columns", "rows", "lacks", "")
NUMBERS = ("#", "likely", "rows")
LOOSE = {"table": 30, "columns": 30, "lacks": 16}
_SHOWN = 3
_RELATIONS = {"copy": "a copy of yours", "version": "a version of yours"}

Appender = Callable[["UnionHit"], Any]
"""Appends a hit's table to the data that was searched with; an open lake gives one to its hits."""


@dataclass(frozen=True, repr=False)
class UnionHit:
    """A table whose rows can be appended to mine, with the evidence."""

    rank: int
    table: str
    probability: float  # that a person would append it
    columns: tuple[AlignedColumns, ...]  # in the order of mine
    only_mine: tuple[str, ...]  # columns without a counterpart
    only_theirs: tuple[str, ...]
    rows: int  # of the table
    common_rows: int  # its distinct rows that mine has too, by the aligned columns
    relation: str | None  # copy or version, if it has most of my rows
    reasons: tuple[str, ...]
    objections: tuple[str, ...]
    appender: Appender | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Sent to another process, a hit leaves its appender behind."""
        return {**vars(self), "appender": None}

    def append(self) -> Any:
        """My rows and those of the table below them, as the kind of frame that was searched with."""
        if self.appender is None:
            raise ValueError("This hit does not belong to an open lake; use Lake.union.")
        return self.appender(self).frame

    def to_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "appender"}
        lists = {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}
        columns = [pair.to_dict() for pair in self.columns]
        return {**fields, **lists, "probability": round(self.probability, 4), "columns": columns}

    def explain(self) -> str:
        """Why this is a hit, in a few lines of text."""
        pairs = ", ".join(f"{pair.mine} = {pair.theirs} ({pair.probability:.0%})" for pair in self.columns)
        sides = (("for it", self.reasons), ("against it", self.objections))
        why = "; ".join(f"{side}: {', '.join(clauses)}" for side, clauses in sides if clauses)
        lines = [
            f"{self.table}: {self.rows:,} rows that could be appended, {self.probability:.0%} likely"
            + (f" ({why})." if why else "."),
            f"  columns: {pairs}",
            f"  lacks: {', '.join(self.only_mine) or '–'}   has besides: {', '.join(self.only_theirs) or '–'}",
        ]
        if self.relation:
            lines.append(f"  It is {_RELATIONS[self.relation]}: {self.common_rows:,} of its rows are yours.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<UnionHit {self.rank}: {self.explain()}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.explain())}</pre>"

    def cells(self) -> tuple[Any, ...]:
        """The hit as a line of a table, under HEADINGS."""
        pairs = [pair.mine if pair.mine == pair.theirs else f"{pair.mine} = {pair.theirs}" for pair in self.columns]
        relation = _RELATIONS.get(self.relation or "", "")
        aligned, alone = first_names(pairs, _SHOWN), first_names(self.only_mine, _SHOWN)
        return (self.rank, self.table, f"{self.probability:.0%}", aligned, self.rows, alone, relation)


class UnionHits(Rows[UnionHit]):
    """The hits of one union search, best first."""

    def __init__(self, rows: Any, query: str, seconds: float) -> None:
        super().__init__(rows)
        self.query = query
        self.seconds = seconds

    def of(self, appender: Appender) -> UnionHits:
        """The same hits, which can be appended."""
        return UnionHits([replace(hit, appender=appender) for hit in self], self.query, self.seconds)

    @property
    def sentence(self) -> str:
        """Without hits: what was looked for."""
        return f"No table of the lake has rows that could be appended to {self.query}."

    def shown(self) -> tuple[tuple[str, ...], list[Any]]:
        return HEADINGS, [hit.cells() for hit in self]

    def __repr__(self) -> str:
        return "\n".join(table_lines(*self.shown(), NUMBERS, LOOSE)) if self else self.sentence

    def to_json(self) -> dict[str, Any]:
        """What `dovetail union --json` prints without tables to append."""
        return {"query": self.query, "seconds": round(self.seconds, 6), "hits": self.to_dicts()}
