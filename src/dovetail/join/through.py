"""Joins through the lake: rows join whose values occur together in rows of other tables.

Each value of one of the two columns has one partner at most (through/votes.py), whose number it takes as its key.
Several values may have the same partner: so a continent joins all of its countries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.join.keys import THROUGH, JoinKeys
from dovetail.join.through_sql import Carrier, Crossing
from dovetail.tables.column_names import Pair
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable, lake_table
from dovetail.through.columns import is_of, likely_columns
from dovetail.through.lookup import Effort, map_columns
from dovetail.through.mapping import ValueMapping

_SHOWN = 3  # tables that a sentence names
_TRIED_CARRIERS = 3  # tables that hold all pairs, over which a query is tried; arbitrary, for time


def through_keys(
    segments: Sequence[OpenSegment],
    left: InputTable,
    right: InputTable,
    on: Pair | None,
    deadline: Deadline,
    unasked: bool = False,
) -> tuple[Pair, JoinKeys, ValueMapping] | None:
    """The columns, found if none are named, the keys and the mapping; None if no tables of the lake hold both.

    `unasked`: nobody named the method, or the search has shown what joins; values must be equal or similar to those of
    one table. The two tables carry no join of their own: that would be one on other columns.
    """
    is_own = is_of(segments, left.id, right.id)
    pair = on or likely_columns(segments, left, right, deadline, unasked, is_own)
    if pair is None:
        return None
    mine, theirs = left.column(pair[0]), right.column(pair[1])
    mapping = map_columns(segments, mine, theirs, is_own, Effort.SPELLED if unasked else Effort.ALL)
    return pair, keys_of(mapping, mine, theirs), mapping


def keys_of(mapping: ValueMapping, left: InputColumn, right: InputColumn) -> JoinKeys:
    source, target = (right, left) if mapping.reversed else (left, right)
    values, partners = mapping.places[::-1] if mapping.reversed else mapping.places
    key_of, probability = np.full(source.size + 1, -1, np.int64), np.zeros(source.size + 1)
    key_of[values] = partners
    probability[values] = [pair.probability for pair in mapping]
    codes = source.codes()
    found, origin = key_of[codes], np.full(len(codes), THROUGH, np.int8)
    likely: Array = probability[codes]
    one, other = (target.codes(), found) if mapping.reversed else (found, target.codes())
    return JoinKeys(one, other, target.size, int(mapping.reversed), origin, likely, likely)


def carriers_of(segments: Sequence[OpenSegment], mapping: ValueMapping) -> tuple[Carrier, ...]:
    """Tables of the lake, or two in a row, that hold all pairs of the mapping."""
    whole = [bridge for bridge in mapping.tables if bridge.pairs == len(mapping)]
    return tuple(
        tuple(
            Crossing(lake_table(*find_table(segments, step.table, "")), step.left_column, step.right_column)
            for step in bridge.steps
        )
        for bridge in whole[:_TRIED_CARRIERS]
    )


def carried_by(mapping: ValueMapping) -> str:
    """One sentence: which tables of the lake carry the mapping."""
    names = list(dict.fromkeys(bridge.name for bridge in mapping.tables))
    if len(names) == 1:
        return f"{names[0]} holds both columns."
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{len(names):,} tables of the lake hold both columns: {', '.join(names[:_SHOWN])}{more}."
