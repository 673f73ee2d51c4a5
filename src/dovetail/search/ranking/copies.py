"""Near-copies among tables of the lake: of seventy daily reports, a few are worth a closer look, and one line."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.catalog.near_copies import CopyGroups, Outline, outlines
from dovetail.evidence.lake_columns import LakeColumns

_OF_A_GROUP = 3  # near-copies that are counted value by value; arbitrary, for time
_OUTLINED = 300  # tables among which near-copies are looked for; arbitrary, for time


class Shortlist(NamedTuple):
    """The tables to look at closely, best first; and by the numbers of tables, the group of near-copies of each."""

    tables: Array
    groups: dict[int, int]


def without_copies(lake: LakeColumns, columns: Array, number: int) -> Shortlist:
    """A shortlist of `number` groups of near-copies, from the best column of each table, best first."""
    columns = columns[: max(number, _OUTLINED)]
    tables = lake.table_of[columns]
    outlined, copies = _outlines(lake, tables), CopyGroups()
    groups, seen, chosen = dict[int, int](), Counter[int](), list[int]()
    for table, name in zip(tables.tolist(), lake.names_of(columns).to_pylist(), strict=True):
        group = copies.add(outlined[table], (name,))
        if group < number:
            groups[table] = group
            seen[group] += 1
            if seen[group] <= _OF_A_GROUP:
                chosen.append(table)
    return Shortlist(np.array(chosen, np.int64), groups)


def _outlines(lake: LakeColumns, tables: Array) -> dict[int, Outline]:
    found: dict[int, Outline] = {}
    for first, end, segment in zip(lake.first_tables, lake.first_tables[1:], lake.segments, strict=False):
        mine = tables[(tables >= first) & (tables < end)].tolist()
        found.update(zip(mine, outlines(segment.catalog, [table - int(first) for table in mine]), strict=True))
    return found
