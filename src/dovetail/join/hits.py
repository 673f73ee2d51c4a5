"""Joins with tables of the lake: the table of a hit, as the search found it, or one that is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail._deadline import Deadline
from dovetail.catalog.decisions import Decisions
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.join.choose import join_tables
from dovetail.join.decided import execute_decided
from dovetail.join.execute import execute
from dovetail.join.keys import JoinKeys, equal_keys, mapped_keys, transformed_keys
from dovetail.join.parts import parts_of
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.join.through import carried_by, carriers_of, through_keys
from dovetail.search.hit import Hit
from dovetail.search.parts.hit import PartsHit
from dovetail.search.planner import search
from dovetail.search.request import SearchRequest
from dovetail.search.semantic.hit import SemanticHit
from dovetail.search.through.hit import ThroughHit
from dovetail.search.transform.hit import TransformedHit
from dovetail.tables.column_names import Names, column_pairs
from dovetail.tables.input_table import InputTable, lake_table, open_table

_NONE = Decisions()


def join_with_lake(
    segments: Sequence[OpenSegment], data: Any, table: Any, request: JoinRequest, decisions: Decisions
) -> JoinResult:
    """Join `data` with a table of the lake or another one, as two files are joined, or as people decided.

    If no method is named, tables of the lake that hold values of both compete with the other methods.
    """
    left, right = open_table(data, "left_table", segments), open_table(table, "right_table", segments)
    decided = decisions.between(left.id, right.id, _names(left, right))
    if request.by == "transform" and _is_of_lake(table) and not (decided.accepted and request.on is None):
        hit = _transformed_hit(segments, left, right, request.on, decisions)
        if hit is not None:
            return join_hit(segments, hit, left, replace(request, on=None), decisions=decisions)
    space = segments[0].texts.space if request.by == "semantic" and segments else None
    return join_tables(left, right, request, space, decided, segments)


def _is_of_lake(table: Any) -> bool:
    """Whether a table is one of the lake, by its name or already opened, and no file or frame."""
    if isinstance(table, InputTable):
        return table.id is not None
    return isinstance(table, str) and not Path(table).is_file()


def join_hit(
    segments: Sequence[OpenSegment], hit: Hit, data: Any, request: JoinRequest, first: int | None = None,
    decisions: Decisions = _NONE,
) -> JoinResult:  # fmt: skip
    """Join `data` with the table of a hit, on what the search found; with `first`, only so many rows."""
    left, right = _both(segments, data, hit.table)
    asked = replace(request, on=hit.pairs if hit.by == "equal" else [], by=None)
    decided = decisions.between(left.id, right.id, _names(left, right))

    def made(keys: JoinKeys) -> JoinResult:
        return execute_decided(left, right, keys, asked, hit.by, (hit.on, hit.columns), decided, first)

    if isinstance(hit, TransformedHit):
        result = made(transformed_keys(left, right, hit.transformation))
        return replace(result, transformation=hit.transformation, why="The search learned the transformation.")
    if isinstance(hit, PartsHit):
        by_parts = parts_of(left, right, hit.pairs[0])
        assert by_parts is not None  # the search found that cells hold several values
        found_rows = execute(
            *by_parts.tables, by_parts.keys(list(hit.pairs)), asked, "parts", (hit.on, hit.columns), first
        )
        return replace(by_parts.of_cells(found_rows, left, right), why=by_parts.why)
    if isinstance(hit, SemanticHit):
        result = made(mapped_keys(left, right, (hit.on[0], hit.columns[0]), hit.token_mapping))
        return replace(result, why="The search found similar values.")
    if isinstance(hit, ThroughHit):
        found = through_keys(segments, left, right, hit.pairs[0], Deadline(request.seconds), unasked=True)
        assert found is not None  # the columns are named
        result = made(found[1])
        mapping = found[2]
        return replace(result, why=carried_by(mapping), mapping=mapping, carriers=carriers_of(segments, mapping))
    result = made(equal_keys(left, right, hit.pairs))
    return replace(result, why="The search found equal values.")


def _names(left: InputTable, right: InputTable) -> tuple[str, str]:
    """By which decisions about values are found: also files have names."""
    return left.id or left.name, right.id or right.name


def _both(segments: Sequence[OpenSegment], data: Any, table: str) -> tuple[InputTable, InputTable]:
    right = lake_table(*find_table(segments, table, "The index has no table"))
    return open_table(data, "left_table", segments), right


def _transformed_hit(
    segments: Sequence[OpenSegment], left: InputTable, right: InputTable, on: Names | None, decisions: Decisions
) -> TransformedHit | None:
    """What a search after a transformation promises for these tables and columns."""
    pairs = column_pairs(on, left.names, right.names) if on is not None else []
    mine = list(dict.fromkeys(name for name, _ in pairs)) or None
    asked = SearchRequest(left, mine, 1, tables=(right.name,), include_self=True, by="transform")
    hit = next(iter(search(segments, asked, decisions if on is None else None)), None)
    if not isinstance(hit, TransformedHit) or (pairs and set(hit.columns) != {theirs for _, theirs in pairs}):
        return None
    return hit
