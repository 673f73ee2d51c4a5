"""The verb `join`: my table with one of the lake, on the columns that search finds best where none are named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.join.equi import equi_join
from dovetail.join.joined import Joined
from dovetail.lake.layout import Layout
from dovetail.lake.listing import is_unchanged
from dovetail.search.planner import Request, search
from dovetail.tables.column_names import On, Pair, column_pairs
from dovetail.tables.side import Side, file_side, side
from dovetail.transform.transformation import Transformation


def join_with(
    segments: Sequence[OpenSegment],
    data: Any,
    table: str,
    on: On | None = None,
    how: str = "left",
    first: int | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Joined:
    """`data` joined with a table of the lake. With `first`, only so many rows are joined; with a `mapping`, by it."""
    segment, number = find_table(segments, table, "The index has no table")
    best = _best_columns(segments, data, table) if on is None else None
    left = _my_side(data, segments)
    right = _lake_side(segment, number)
    if isinstance(on, Transformation):
        return on.join(left, right, how, first)
    pairs = [best] if best else column_pairs(on or (), left.names, right.names)
    return equi_join(left, right, pairs, how, first, mapping=mapping)


def _best_columns(segments: Sequence[OpenSegment], data: Any, table: str) -> Pair:
    hits = search(segments, Request(data, tables=(table,), include_self=True))
    if not hits:
        raise InputError(f"No column of {table} joins well with this table. Name the columns: --on mine=theirs.")
    return hits[0].on[0], hits[0].columns[0]


def _my_side(data: Any, segments: Sequence[OpenSegment]) -> Side:
    if not isinstance(data, str | Path) or Path(data).is_file():
        return side(data, "left_table")
    return _lake_side(*find_table(segments, str(data), "There is no file, and the index has no table"))


def _lake_side(segment: OpenSegment, number: int) -> Side:
    """A table of the lake, read as it was when it was indexed."""
    record = segment.catalog.table(number)
    if record.error:
        raise InputError(f"{record.table} is no table: {record.error}.")
    if not is_unchanged(record.path, record.fingerprint):
        raise InputError(f"{record.table} has changed since it was indexed. Run `dovetail index` again.")
    return file_side(Path(record.path), Layout.from_json(json.loads(record.layout)), record.table)
