"""What a person decided about pairs of values, in the keys of a join: accepted pairs join, rejected ones never do.

A method gives each value of the source at most one key of the target (keys.py). An accepted pair gives the source's
value the key of the target's; of several for one value, the last counts. A rejected pair takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.catalog.decisions import JOINS, Decision, TableDecisions
from dovetail.join.execute import execute
from dovetail.join.keys import DECIDED, EQUAL, JoinKeys
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.normalise import normalise_value
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

ColumnNames = tuple[tuple[str, ...], tuple[str, ...]]


def execute_decided(
    left: InputTable, right: InputTable, keys: JoinKeys, request: JoinRequest, by: str, columns: ColumnNames,
    decisions: TableDecisions, first: int | None = None,
) -> JoinResult:  # fmt: skip
    """As `execute`, and as a person decided about values."""
    decided = with_decided_values(keys, left, right, columns, decisions)
    result = execute(left, right, decided, request, by, columns, first)
    return result if decided is keys else replace(result, by_hand=True)


def with_decided_values(
    keys: JoinKeys, left: InputTable, right: InputTable, columns: ColumnNames, decisions: TableDecisions
) -> JoinKeys:
    """The keys of a join on these columns, as decisions about their values want them."""
    decided = decisions.of_values(*columns)
    if not decided:
        return keys
    sides = left.column(columns[0][0]), right.column(columns[1][0])
    codes = [side.codes() for side in sides]
    for decision in decided:
        rows = [_rows(side, of, value) for side, of, value in zip(sides, codes, decision.values, strict=True)]
        keys = _decided(keys, decision, *(rows[::-1] if keys.source else rows))
    return keys


def _rows(column: InputColumn, codes: Array, value: str) -> Array:
    """Which rows have the value, however it is written."""
    token = normalise_value(value, column.type)
    place = -1 if token is None else pc.index(column.tokens, pa.scalar(token, column.tokens.type)).as_py()
    found: Array = (codes == place) & (codes >= 0)
    return found


def _decided(keys: JoinKeys, decision: Decision, of_source: Array, of_target: Array) -> JoinKeys:
    partner = np.unique(keys.of_target[of_target & (keys.of_target >= 0)])
    if not len(partner) or not of_source.any():
        return keys
    if decision.verdict == JOINS:
        return _accepted(_as_one(keys, partner), int(partner[0]), of_source)
    source = np.where(of_source & np.isin(keys.of_source, partner), -1, keys.of_source)
    return keys.with_source(source, *_described(keys))


def _accepted(keys: JoinKeys, partner: int, rows: Array) -> JoinKeys:
    origin, similarity, probability = _described(keys)
    similarity, probability = (np.where(rows, 1.0, each) for each in (similarity, probability))
    source = np.where(rows, partner, keys.of_source)
    return keys.with_source(source, np.where(rows, DECIDED, origin).astype(np.int8), similarity, probability)


def _as_one(keys: JoinKeys, same: Array) -> JoinKeys:
    """A value that is written in several ways may have several keys; an accepted pair is about all of them."""
    left, right = (np.where(np.isin(side, same), same[0], side) for side in (keys.left, keys.right))
    return JoinKeys(left, right, keys.size, keys.source, keys.origin, keys.similarity, keys.probability)


def _described(keys: JoinKeys) -> Sequence[Array]:
    rows = len(keys.of_source)
    return (
        np.full(rows, EQUAL, np.int8) if keys.origin is None else keys.origin,
        np.ones(rows) if keys.similarity is None else keys.similarity,
        np.ones(rows) if keys.probability is None else keys.probability,
    )
