"""Which columns of two tables the lake relates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._deadline import Deadline
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.column_names import Pair
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable
from dovetail.through.bridges import Bridge, Values
from dovetail.through.lookup import Effort, Excluded, Lookup, values_of
from dovetail.through.votes import Votes

_TRIED = 200  # values of a column by which columns are chosen; arbitrary, for time
_NEARLY_ONE_TO_ONE = (
    0.5  # different values on one side for each on the other; set by hand: real codes have a few doubles
)


def is_of(segments: Sequence[OpenSegment], *tables: str | None) -> Excluded:
    """Whether a bridge is one of these tables of the lake."""

    def excluded(bridge: Bridge) -> bool:
        return segments[bridge.place.segment].names[bridge.place.table] in tables

    return excluded


def likely_columns(
    segments: Sequence[OpenSegment],
    left: InputTable,
    right: InputTable,
    deadline: Deadline,
    unasked: bool,
    excluded: Excluded,
) -> Pair | None:
    """The pair of columns of which the lake relates the greatest share of a sample of the values.

    `unasked`: both columns must hold texts, since small numbers occur beside anything. Otherwise one must, and numbers
    must be codes of its texts, each of another: every price is beside `yes` or `no`. Pairs that only greater effort
    relates are looked for if there are no others.
    """
    pairs = [(a, b) for a in left.columns for b in right.columns if a.is_text + b.is_text >= 1 + unasked]
    for effort in (Effort.EQUAL,) if unasked else (Effort.EQUAL, Effort.ALL):
        best, found = 0.0, None
        for mine, theirs in pairs:
            if deadline.is_over:
                break
            one_to_one = not (mine.is_text and theirs.is_text)
            share = _related(segments, _sample(mine), _sample(theirs), excluded, effort, one_to_one)
            if share > best:
                best, found = share, (mine.name, theirs.name)
        if found is not None:
            return found
    return None


def _related(
    segments: Sequence[OpenSegment],
    left: Values,
    right: Values,
    excluded: Excluded,
    effort: Effort,
    one_to_one: bool,
) -> float:
    """The share of the values that have a likely partner; none if partners are shared that must be one to one."""
    lookup = Lookup(segments, left, right)
    bridges = lookup.bridges(excluded, effort)
    if not bridges:
        return 0.0
    votes = lookup.votes(bridges)
    if one_to_one and _is_shared(votes):
        return 0.0
    likely = votes.probability[votes.likely]
    return float(likely.sum()) / len(right if votes.reversed else left)


def _is_shared(votes: Votes) -> bool:
    """Whether there are fewer than half as many different values on one side of the likely pairs as on the other."""
    fewer, more = sorted(len(np.unique(side[votes.likely])) for side in (votes.left, votes.right))
    return fewer < _NEARLY_ONE_TO_ONE * more


def _sample(column: InputColumn) -> Values:
    values = values_of(column)
    step = -(-len(values) // _TRIED) or 1
    return Values(values.tokens.take(np.arange(len(values))[::step]), values.is_text, values.is_code)
