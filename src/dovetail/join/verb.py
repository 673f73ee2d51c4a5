"""The verb `join`: my table with one of the lake, on the columns that search finds best where none are named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.equi import Joined, equi_join
from dovetail.join.transformation import Transformation
from dovetail.lake.layout import Layout
from dovetail.lake.listing import is_unchanged
from dovetail.search.lake import OpenSegment, find_table
from dovetail.search.planner import Request, search
from dovetail.search.query import as_batches, read_file

Pair = tuple[str, str]
On = str | Pair | Sequence[str | Pair] | Transformation
"""My column and theirs; a name that both have, or that is written `mine=theirs`; or several of these; or programs."""


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
    left = _rows(data, segments)
    right = _lake_rows(segment, number)
    mine = None if isinstance(data, str | Path) else data
    if isinstance(on, Transformation):
        return on.join(left, right, how, mine, first)
    pairs = [best] if best else _pairs(on or (), left.column_names, right.column_names)
    for pair in pairs:
        for side, name in zip((left, right), pair, strict=True):
            if name not in side.column_names:
                raise UnknownName(unknown("There is no column", name, side.column_names))
    return equi_join(left, right, pairs, how, mine, first, mapping)


def _pairs(on: str | Pair | Sequence[str | Pair], mine: list[str], theirs: list[str]) -> list[Pair]:
    if isinstance(on, str):
        parts = on.split(",")
        return _split(parts, mine, theirs) or [_as_pair(part) for part in parts]
    if isinstance(on, tuple) and len(on) == 2 and all(isinstance(name, str) for name in on):
        return [(str(on[0]), str(on[1]))]
    return [(one, one) if isinstance(one, str) else (one[0], one[1]) for one in on]


def _as_pair(written: str) -> Pair:
    first, equals, second = (part.strip() for part in written.partition("="))
    return first, second if equals else first


def _split(parts: list[str], mine: list[str], theirs: list[str]) -> list[Pair]:
    """The parts joined to pairs of known names, the longest first; empty where they cannot be.

    Names may hold commas and equals signs themselves.
    """
    for size in range(len(parts), 0, -1):
        written = ",".join(parts[:size])
        signs = [place for place, character in enumerate(written) if character == "="]
        options = [(written, written), *((written[:place], written[place + 1 :]) for place in signs)]
        for left, right in options:
            if left in mine and right in theirs:
                rest = _split(parts[size:], mine, theirs)
                if rest or size == len(parts):
                    return [(left, right), *rest]
    return []


def _best_columns(segments: Sequence[OpenSegment], data: Any, table: str) -> Pair:
    hits = search(segments, Request(data, tables=(table,), include_self=True))
    if not hits:
        raise InputError(f"No column of {table} joins well with this table. Name the columns: --on mine=theirs.")
    return hits[0].on[0], hits[0].columns[0]


def _rows(data: Any, segments: Sequence[OpenSegment]) -> pa.Table:
    if not isinstance(data, str | Path):
        return pa.Table.from_batches(as_batches(data))
    if Path(data).is_file():
        return pa.Table.from_batches(read_file(Path(data)))
    return _lake_rows(*find_table(segments, str(data), "There is no file, and the index has no table"))


def _lake_rows(segment: OpenSegment, number: int) -> pa.Table:
    """The rows of a table of the lake, read as they were when it was indexed."""
    record = segment.catalog.table(number)
    if record.error:
        raise InputError(f"{record.table} is no table: {record.error}.")
    if not is_unchanged(record.path, record.fingerprint):
        raise InputError(f"{record.table} has changed since it was indexed. Run `dovetail index` again.")
    return pa.Table.from_batches(read_file(Path(record.path), Layout.from_json(json.loads(record.layout))))
