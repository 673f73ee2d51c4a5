"""The query for DuckDB of a join through the lake: a table of the lake, or the written mapping, joined in between.

As of other joins, the query is printed only after it has been tried on the distinct values of all tables: it pairs
exactly the values that joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.join.sql import (
    EqualValues,
    distinct_tuples,
    distinct_values,
    equal_values,
    is_readable,
    numbered_rows,
    quoted,
    selected,
    source,
)  # fmt: skip
from dovetail.normalise import ColumnType
from dovetail.tables.input_table import InputTable

Carrier = tuple["Crossing", ...]  # one table that is joined in between, or several in a row
MOST_ROWS = 200_000  # of a bridge that is read to write the query; arbitrary, for time
_KINDS = {
    "inner": ("JOIN", "JOIN"), "left": ("LEFT JOIN", "LEFT JOIN"), "right": ("JOIN", "RIGHT JOIN"),
    "outer": ("LEFT JOIN", "FULL JOIN"), "semi": ("SEMI JOIN", None), "anti": ("ANTI JOIN", None),
}  # fmt: skip
"""How the bridge joins the left table, and the right table that."""


class Crossing(NamedTuple):
    """A table that is joined in between, from one of its columns to another."""

    table: InputTable
    left: str
    right: str
    types: tuple[ColumnType | None, ColumnType | None] = (None, None)  # by which it was normalised, if not its own


def through_sql(
    left: InputTable,
    right: InputTable,
    matches: tuple[Array, Array],
    columns: tuple[str, str],
    bridge: Carrier,
    how: str,
    suffix: str,
) -> str | None:
    """The query over a bridge of one table or several in a row; None if it would not give the same rows."""
    try:
        if any(table.rows > MOST_ROWS or not is_readable(table, (one, other)) for table, one, other, _ in bridge):
            return None
        if not (is_readable(left) and is_readable(right)):
            return None
        found = _equalities(left, right, columns, bridge)
        if found is None or _pairs(left, right, columns, bridge, found) != _wanted(left, right, columns, matches):
            return None
    except InputError:  # a file of the lake that changed or is gone since it was indexed
        return None
    head = f"WITH l AS ({numbered_rows(left)}),\n     r AS ({numbered_rows(right)}),\n"
    reached = how not in ("inner", "right")  # other partners would repeat rows of the left table
    tables = [source(table, (one, other)) for table, one, other, _ in bridge]
    made = _bridge_rows(tables, bridge, found, columns[1] if reached else None)
    return f"{head}     b AS ({made})\n{selected(left, right, _joined(columns, found, how), how, suffix)}"


def _equalities(
    left: InputTable, right: InputTable, columns: tuple[str, str], bridge: Carrier
) -> list[EqualValues] | None:
    """What makes the values of each two neighbours equal: left table, tables of the bridge, right table."""
    exits = [distinct_values(left, columns[0])] + [distinct_values(b.table, b.right, b.types[1]) for b in bridge]
    entries = [distinct_values(b.table, b.left, b.types[0]) for b in bridge] + [distinct_values(right, columns[1])]
    found = [equal_values(one, other) for one, other in zip(exits[:-1], entries[:-1], strict=True)]
    found.append(equal_values(entries[-1], exits[-1]))  # as `right = bridge`: nulls of mine are left out
    return None if None in found else [each for each in found if each]


def _bridge_rows(tables: Sequence[str], bridge: Carrier, found: Sequence[EqualValues], reached: str | None) -> str:
    """The pairs of values of the bridge, each once; with `reached`, only those of this column of the right table."""
    last = len(bridge) - 1
    one, other = found[0].of(f"b0.{quoted(bridge[0].left)}"), found[-1].of(f"b{last}.{quoted(bridge[last].right)}")
    joined = f"{tables[0]} b0"
    for place, (before, after) in enumerate(itertools.pairwise(bridge)):
        equal = found[place + 1].condition(f"b{place}.{quoted(before.right)}", f"b{place + 1}.{quoted(after.left)}")
        joined += f" JOIN {tables[place + 1]} b{place + 1} ON {equal}"
    kept = f" WHERE {other} IN ({found[-1].made_of('r', reached)})" if reached is not None else ""
    return f"SELECT DISTINCT {one} AS one, {other} AS other FROM {joined}{kept}"


def _joined(columns: tuple[str, str], found: Sequence[EqualValues], how: str) -> str:
    first, second = _KINDS[how]
    mine = f"l {first} b ON {found[0].joins(f'l.{quoted(columns[0])}', 'b.one')}"
    return f"{mine} {second} r ON {found[-1].joins(f'r.{quoted(columns[1])}', 'b.other')}" if second else mine


def _pairs(
    left: InputTable,
    right: InputTable,
    columns: tuple[str, str],
    bridge: Carrier,
    found: Sequence[EqualValues],
) -> set[tuple[str, str]]:
    """The pairs of raw values that the query joins."""
    import duckdb

    with duckdb.connect() as connection:
        for name, table, column in (("l", left, columns[0]), ("r", right, columns[1])):
            connection.register(name, pa.table({column: table.text.column(column)}).group_by(column).aggregate([]))
        for place, each in enumerate(bridge):
            connection.register(f"t{place}", each.table.text)
        made = _bridge_rows([f"t{place}" for place in range(len(bridge))], bridge, found, None)
        query = f"SELECT l.{quoted(columns[0])}, r.{quoted(columns[1])} FROM {_joined(columns, found, 'inner')}"
        return set(connection.execute(f"WITH b AS ({made}) {query}").fetchall())


def _wanted(
    left: InputTable, right: InputTable, columns: tuple[str, str], matches: tuple[Array, Array]
) -> set[tuple[str, str]]:
    sides = zip((left, right), columns, matches, strict=True)
    values = [distinct_tuples(table, (column,), rows) for table, column, rows in sides]
    pairs = set(zip(values[0][1].tolist(), values[1][1].tolist(), strict=True))
    return {(values[0][0][i][0], values[1][0][j][0]) for i, j in pairs}
