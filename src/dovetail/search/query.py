"""A request on the segments of a lake: what every method of search starts from, and what some end with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.copies import groups_of_copies
from dovetail.search.decided import QueryDecisions, ranked
from dovetail.search.hit import Hit
from dovetail.search.request import SearchRequest
from dovetail.tables.column_names import column_list
from dovetail.tables.input_table import InputTable

_STEPS = (1, 4, 16)  # times the hits that are wanted: asked for one after another as long as most are near-copies
M = TypeVar("M")


@dataclass(frozen=True)
class Query:
    """A request, on the segments of a lake."""

    segments: Sequence[OpenSegment]
    request: SearchRequest
    table: InputTable
    allowed: list[Array]  # of each segment, which tables may be hits
    decided: QueryDecisions
    begun: float  # by time.perf_counter

    @cached_property
    def names(self) -> tuple[str, ...]:
        """My columns that the request names; empty if it leaves them open."""
        names = () if self.request.on is None else column_list(self.request.on, self.table.names)
        for name in names:
            self.table.column(name)  # raises where there is none
        return names

    @property
    def where(self) -> str:
        """Which tables were asked for, in words."""
        return f" that matches {' or '.join(self.request.tables)}" if self.request.tables else " of the lake"

    def rejects(self, hit: Hit) -> bool:
        """Whether a person rejected the columns of a hit."""
        return self.decided.rejects(hit.on, hit.table, hit.columns)

    def without_copies(
        self, ask: Callable[[int], list[M]], named: Callable[[M], tuple[str, tuple[str, ...]]]
    ) -> list[tuple[M, tuple[str, ...]]]:
        """Matches that are no near-copies of each other, and the tables that are near-copies of each.

        `ask` finds so many, best first. It is asked for more as long as near-copies leave too few.
        """
        most, share = self.request.most, self.request.share
        if self.request.copies:
            return [(match, ()) for match in ask(most)]
        for more in (most * step for step in _STEPS):
            found = ask(more)
            names = [named(match) for match in found]
            groups = groups_of_copies(self.segments, names)
            if len(groups) >= most or len(found) < more or share is not None:
                break
        chosen = groups if share is not None else groups[:most]
        return [(found[first], tuple(names[other][0] for other in others)) for first, *others in chosen]

    def with_accepted(self, hits: list[Hit]) -> list[Hit]:
        """The pairs that a person accepted, then the other hits; without names, each table on its best columns."""
        first = self.decided.accepted(self.segments, self.allowed, self.table, self.names)
        if not first:
            return hits
        copies = {hit.table: hit.copies for hit in hits}
        first = [replace(hit, copies=copies.get(hit.table, ())) for hit in first]
        known = {self._what_counts(hit) for hit in first}
        accepted = {hit.table for hit in first}
        others = [
            replace(hit, copies=tuple(table for table in hit.copies if table not in accepted))
            for hit in hits
            if self._what_counts(hit) not in known
        ]
        most = self.request.most if not self.names or self.request.share is None else None
        return ranked([*first, *others][:most])

    def _what_counts(self, hit: Hit) -> tuple[str, frozenset[tuple[str, str]]]:
        """Hits with the same are one: a table and, where columns were named, its pairs of columns."""
        return hit.table, frozenset(hit.pairs if self.names else ())
