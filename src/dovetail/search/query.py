"""A request on the segments of a lake: what every method of search starts from, and what some end with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

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


class Offered(NamedTuple, Generic[M]):
    """Matches, each with the tables that are near-copies of it; and what a limit on their number left out, in words."""

    matches: list[tuple[M, tuple[str, ...]]]
    note: str = ""


def named_columns(request: SearchRequest, table: InputTable) -> tuple[str, ...]:
    """The columns that a request names; empty if it leaves them open. A list of values is its only column."""
    if request.on is not None:
        return column_list(request.on, table.names)
    return tuple(table.names) if table.is_list else ()


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
        names = named_columns(self.request, self.table)
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
        self, ask: Callable[[int | None], list[M]], named: Callable[[M], tuple[str, tuple[str, ...]]]
    ) -> Offered[M]:
        """Matches that are no near-copies of each other, unless these are asked for.

        `ask` finds so many, best first, or all. It is asked for more as long as near-copies leave too few.
        """
        most = self.request.most
        if self.request.share is not None:
            every = self._grouped(ask(None), named)
            return Offered(every[:most], self.left_out(len(every)))
        assert most is not None  # only a threshold asks for all
        if not self.request.folds_copies:
            return Offered(self._grouped(ask(most), named))
        for more in (most * step for step in _STEPS):
            found = ask(more)
            groups = self._grouped(found, named)
            if len(groups) >= most or len(found) < more:
                break
        return Offered(groups[:most])

    def _grouped(
        self, found: list[M], named: Callable[[M], tuple[str, tuple[str, ...]]]
    ) -> list[tuple[M, tuple[str, ...]]]:
        """The first of each group of near-copies with the tables of the others; every match, if these are asked for."""
        if not self.request.folds_copies:
            return [(match, ()) for match in found]
        names = [named(match) for match in found]
        groups = groups_of_copies(self.segments, names)
        return [(found[first], tuple(names[other][0] for other in others)) for first, *others in groups]

    def left_out(self, number: int) -> str:
        """What a limit leaves out of so many hits above the threshold, in words; empty if nothing."""
        most = self.request.most
        if self.request.share is None or most is None or number <= most:
            return ""
        return f"{number:,} hits reach the threshold; these are the first {most:,}."

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
        return ranked([*first, *others][: self.request.most])

    def _what_counts(self, hit: Hit) -> tuple[str, frozenset[tuple[str, str]]]:
        """Hits with the same are one: a table and, where columns were named, its pairs of columns."""
        return hit.table, frozenset(hit.pairs if self.names else ())
