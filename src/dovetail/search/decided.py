"""What a person decided about the table that is searched with: pairs that join come first, others are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from dovetail._types import Array
from dovetail.catalog.decisions import NO_DECISIONS, Decision, TableDecisions
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.engine import KeyMatch, Match
from dovetail.search.hit import Hit
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import query_key
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.semantic.match import SimilarMatch
from dovetail.tables.input_table import InputTable

H = TypeVar("H", bound=Hit)


@dataclass(frozen=True)
class QueryDecisions:
    """The decisions about the query, by the other table; none if the query is not a table of the lake."""

    by_table: dict[str, TableDecisions]

    def rejects(self, mine: Sequence[str], table: str, theirs: Sequence[str]) -> bool:
        return self.by_table.get(table, NO_DECISIONS).rejects(mine, theirs) is not None

    def rejects_match(self, mine: Sequence[str], match: Match | SimilarMatch) -> bool:
        """The same for a column of the lake, whose name is looked up only if there are decisions about its table."""
        if match.table not in self.by_table:
            return False
        return self.rejects(mine, match.table, [match.segment.catalog.column(match.column).column])

    @cached_property
    def rejections(self) -> int:
        """How many pairs may have to be left out of an answer: so many more have to be asked for."""
        return sum(len(decisions.rejected) for decisions in self.by_table.values())

    def rejected_columns(self) -> Iterator[tuple[str, str, str]]:
        """The single columns that never join: mine, the other table, and its column."""
        for table, decisions in self.by_table.items():
            for decision in decisions.rejected:
                if len(decision.left_columns) == 1:
                    yield decision.left_columns[0], table, decision.right_columns[0]

    def first(self, hits: Iterable[H]) -> list[H]:
        """The hits with the accepted ones first, marked; ranked anew."""
        marked = [self._marked(hit) for hit in hits]
        return ranked(sorted(marked, key=_precedence))

    def _marked(self, hit: H) -> H:
        decision = self.by_table.get(hit.table, NO_DECISIONS).accepts(hit.on, hit.columns)
        return hit if decision is None else decided_hit(hit, decision)

    def accepted(
        self, segments: Sequence[OpenSegment], allowed: Sequence[Array], table: InputTable, names: Sequence[str]
    ) -> list[Hit]:
        """A hit for each accepted pair, whatever the overlap; with names, only for those of exactly these columns."""
        places = dict(_places(segments, allowed, set(self.by_table)))
        found = []
        for other, decisions in self.by_table.items():
            for decision in decisions.accepted if other in places else ():
                wanted = not names or set(names) == set(decision.left_columns)
                hit = _hit(segments, table, decision, *places[other]) if wanted else None
                if hit is not None:
                    found.append(decided_hit(hit if names else replace(hit, score=1.0), decision))
        return sorted(found, key=lambda hit: (_precedence(hit), -hit.overlap, hit.table, hit.columns))


def _precedence(hit: Hit) -> int:
    """What a person decided comes first, then what a database declares."""
    return 0 if hit.decided else 1 if hit.declared else 2


def decided_hit(hit: H, decision: Decision) -> H:
    objections = tuple(_contradictions(hit, decision)) if decision.declared else ()
    return replace(
        hit, decided=decision.when, declared=decision.declared, reasons=(decision.sentence,), objections=objections
    )


def _contradictions(hit: Hit, decision: Decision) -> Iterator[str]:
    """What the data says against a declared key: values that refer to nothing, and a key that repeats values."""
    mine, theirs = f"your {', '.join(hit.on)}", f"{', '.join(hit.columns)} of {hit.table}"
    sizes, repeats = (hit.query_size, hit.column_size), (hit.cardinality[0] != "1", hit.cardinality[-1] != "1")
    if decision.referring == "right":
        mine, theirs, sizes, repeats = theirs, mine, sizes[::-1], repeats[::-1]
    if hit.overlap < sizes[0]:
        yield f"{sizes[0] - hit.overlap:,} of {sizes[0]:,} values of {mine} do not occur in {theirs}"
    if repeats[1]:
        yield f"{theirs} repeats values, which a key does not"


def ranked(hits: Iterable[H]) -> list[H]:
    return [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]


def _places(
    segments: Sequence[OpenSegment], allowed: Sequence[Array], tables: set[str]
) -> Iterator[tuple[str, tuple[OpenSegment, int]]]:
    """The segments of these tables and their numbers there, as far as they may be hits."""
    for segment, mask in zip(segments, allowed, strict=True) if tables else ():
        for number, name in enumerate(segment.names):
            if name in tables and mask[number]:
                yield name, (segment, number)


def _hit(
    segments: Sequence[OpenSegment], table: InputTable, decision: Decision, segment: OpenSegment, number: int
) -> Hit | None:
    """The hit on the columns of a decision; None if a table has them no more, or nothing to join on."""
    there = {record.column: segment.catalog.column_range(number).start + place
             for place, record in enumerate(segment.catalog.columns_of(number))}  # fmt: skip
    mine, theirs = decision.left_columns, decision.right_columns
    if not (set(mine) <= set(table.names) and set(theirs) <= set(there)):
        return None
    columns = tuple(there[name] for name in theirs)
    codes = [table.column(name).codes() >= 0 for name in mine]
    if not np.logical_and.reduce(codes).any():
        return None
    if len(columns) > 1:
        return key_hit(query_key(table, mine), KeyMatch(segment, number, columns, 0), 0)
    evidence = Evidence(segments, table.column(mine[0]))
    overlap = evidence.overlap(segment, columns[0])
    return evidence.hit(Match(segment, columns[0], overlap), 0, float(overlap))
