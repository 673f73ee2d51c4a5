"""The foreign keys that databases declare between live tables, as decisions: no evidence weighs more."""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.catalog.decisions import JOINS, Decision
from dovetail.indexes.open_segment import OpenSegment


def declared_joins(segments: Iterable[OpenSegment]) -> tuple[Decision, ...]:
    """Those of all tables, whether the table that they refer to is in the index."""
    return tuple(
        Decision(segment.names[number], key.columns, key.table, key.referenced, JOINS, referring="left")
        for segment in segments
        for number, keys in segment.catalog.declared.items()
        if segment.alive[number]
        for key in keys.foreign
    )
