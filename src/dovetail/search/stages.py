"""Approximate first, exact after: the answer of the sketches is there at once, and is then refined.

As the thesis has it (Zhu 2019, section 5.3.1), approximate and exact search go together: whoever reads the first hits
does not wait for the last ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dovetail.catalog.decisions import Decisions
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.hits import Hits
from dovetail.search.planner import JudgeUnions, search
from dovetail.search.query import named_columns
from dovetail.search.ranking.rank import is_tried
from dovetail.search.request import SearchRequest
from dovetail.tables.input_table import InputTable, open_table

LONG_LISTS = 50_000_000
"""Postings of a query's values from which on sketches answer first, unasked: at the 5 ns that JOSIE takes for each of
two million, the exact answer takes a quarter of a second, and several times that if no column is named."""


def search_stages(
    segments: Sequence[OpenSegment],
    request: SearchRequest,
    decisions: Decisions | None = None,
    lake: Callable[[], LakeColumns] | None = None,
    judge_unions: JudgeUnions | None = None,
    when_long: bool = False,
) -> Iterator[Hits]:
    """The approximate answer, if the request has one; then the exact one, which knows what has changed.

    With `when_long`, the approximate answer is left out unless the posting lists of the query's values are long.
    """
    table = open_table(request.data, segments=segments)
    request = replace(request, data=table)
    first = None
    if _can_be_approximate(request, table) and not (when_long and postings(segments, request, table) < LONG_LISTS):
        first = search(segments, replace(request, fast=True), decisions, lake)
        yield first
    if first is None or not request.fast:
        last = search(segments, request, decisions, lake, judge_unions)
        last.before = first
        yield last


def _can_be_approximate(request: SearchRequest, table: InputTable) -> bool:
    """Sketches know single columns and equal values."""
    return request.by == "equal" and len(named_columns(request, table)) <= 1


def postings(segments: Sequence[OpenSegment], request: SearchRequest, table: InputTable) -> int:
    """The length of the posting lists of all values that are searched with: what the exact answer may read."""
    named = named_columns(request, table)
    columns = [table.column(name) for name in named] or [column for column in table.columns if is_tried(column)]
    return sum(segment.tokens.postings(column.tokens) for column in columns for segment in segments)
