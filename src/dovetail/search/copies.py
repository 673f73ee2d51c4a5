"""Hits that are near-copies of a better one become part of its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.near_copies import CopyGroups, Outline, outlines
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.hit import Hit

H = TypeVar("H", bound=Hit)


def groups_of_copies(segments: Sequence[OpenSegment], found: Sequence[tuple[str, tuple[str, ...]]]) -> list[list[int]]:
    """The places of tables with the columns that match, near-copies together if their columns have the same names."""
    known, copies = _outlines(segments, {table for table, _ in found}), CopyGroups()
    groups: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for place, (table, columns) in enumerate(found):
        groups.setdefault((copies.add(known[table], columns), columns), []).append(place)
    return list(groups.values())


def fold(segments: Sequence[OpenSegment], hits: Sequence[H]) -> list[H]:
    """The hits, each with the names of its near-copies among those that follow. Decided ones keep their lines."""
    offered = [hit for hit in hits if not hit.is_decided]
    groups = groups_of_copies(segments, [(hit.table, hit.columns) for hit in offered])
    folded = [replace(offered[first], copies=tuple(offered[n].table for n in others)) for first, *others in groups]
    return [*(hit for hit in hits if hit.is_decided), *folded]


def _outlines(segments: Sequence[OpenSegment], tables: Iterable[str]) -> dict[str, Outline]:
    """The outlines of live tables by their names."""
    wanted, found = pa.array(sorted(tables), pa.string()), dict[str, Outline]()
    for segment in segments:
        held = pc.is_in(segment.catalog.tables["table"], value_set=wanted).to_numpy(zero_copy_only=False)
        numbers = (held & segment.alive).nonzero()[0].tolist()
        names = (segment.names[number] for number in numbers)
        found.update(zip(names, outlines(segment.catalog, numbers), strict=True))
    return found
