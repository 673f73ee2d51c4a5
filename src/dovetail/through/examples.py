"""The partners of some values, by a few example pairs (`Japan`, `Tokyo`): the question of DataXFormer.

Tables that hold the examples in one row are bridges; what stands beside the other values in them is the answer. A
bridge is trusted as far as it agrees with the examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import open_table
from dovetail.through.bridges import LEAST_HELD, BridgePlace, Values, find_bridges
from dovetail.through.lookup import Lookup, values_of
from dovetail.through.mapping import ValueMapping, mapping_of

_LEAST_RIGHT = 0.5  # of the examples that a bridge knows


def example_columns(to: Any) -> tuple[InputColumn, InputColumn] | None:
    """The two sides of example pairs, a dict or a list of pairs; None if `to` is something else."""
    if isinstance(to, Mapping) and all(isinstance(value, str) for value in to.values()):
        pairs = list(to.items())
    elif isinstance(to, list) and to and all(isinstance(each, tuple) and len(each) == 2 for each in to):
        pairs = to
    else:
        return None
    table = open_table({"value": [str(a) for a, _ in pairs], "partner": [str(b) for _, b in pairs]}, "to")
    return table.column("value"), table.column("partner")


def map_by_examples(
    segments: Sequence[OpenSegment], column: InputColumn, examples: tuple[InputColumn, InputColumn]
) -> ValueMapping:
    """The partner of each value of the column. `examples` are the two sides of the example pairs, row by row."""
    pairs = dict(zip(*(side.codes().tolist() for side in examples), strict=True))
    trusted = _bridges_of_examples(segments, values_of(examples[0]), values_of(examples[1]), pairs)
    values = values_of(column)
    partners = sorted({token for place, _ in trusted for token in _beside(segments[place.segment], place, values)})
    if not partners:
        return ValueMapping()
    lookup = Lookup(segments, values, Values(pa.array(partners, pa.large_string())))
    read = [(lookup.read(place), trust) for place, trust in trusted]
    bridges = [bridge for bridge, _ in read if len(bridge)]
    if not bridges:
        return ValueMapping()
    votes = lookup.votes(bridges, np.array([trust for bridge, trust in read if len(bridge)]), directions=(False,))
    return mapping_of(segments, bridges, votes, column.written.to_pylist(), partners)


def _bridges_of_examples(
    segments: Sequence[OpenSegment], left: Values, right: Values, pairs: Mapping[int, int]
) -> list[tuple[BridgePlace, float]]:
    """Pairs of columns that hold the examples, and the share of them that they have in one row."""
    least = min(LEAST_HELD, len(left), len(right))
    if not least:
        raise InputError("`to` has no examples.")
    lookup = Lookup(segments, left, right)
    found = []
    for place in lookup.likeliest(find_bridges(segments, left, right, least)):
        bridge = lookup.read(place)
        right_ones = np.array(
            [pairs.get(i) == j for i, j in zip(bridge.left.tolist(), bridge.right.tolist(), strict=True)]
        )
        agreed = float((right_ones / bridge.fan_out).sum()) if len(bridge) else 0.0
        if right_ones.sum() >= least and agreed >= _LEAST_RIGHT * len(bridge.known[0]):
            found.append((place, agreed / len(bridge.known[0])))
    return found


def _beside(segment: OpenSegment, place: BridgePlace, values: Values) -> list[str]:
    """The tokens of the right column in rows whose left one is among the values."""
    one, other = (segment.rows.codes(column) for column in place.columns)
    wanted = np.append(values.places(segment, place.columns[0]) >= 0, False)[one] & (other >= 0)
    ids = segment.tokens.set_of(place.columns[1])[0]
    tokens: list[str] = segment.tokens.tokens(ids[np.unique(other[wanted])]).to_pylist()
    return tokens
