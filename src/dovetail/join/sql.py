"""The query for DuckDB that does what a join did.

DuckDB does not have our normaliser. So a condition is printed only after it has been tried on the distinct values of
both columns: the plainest that pairs exactly the values that joined. Where none does, the values themselves are listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.profile import count_values
from dovetail.normalise import ColumnType, tokens
from dovetail.normalise.keyed import HASHED
from dovetail.tables.input_table import InputTable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_KINDS = {"inner": "INNER", "left": "LEFT", "right": "RIGHT", "outer": "FULL", "semi": "SEMI", "anti": "ANTI"}
_EXPRESSIONS = (
    "{}",
    "lower(trim({}))",
    "try_cast({} AS DECIMAL(38, 9))",
    "try_cast({} AS DATE)",
    "lower(strip_accents(trim({})))",
    "lower(strip_accents(regexp_replace(trim({}), '\\s+', ' ', 'g')))",
)
"""What makes values of both sides equal, the plainest first."""
_MOST_MARKERS = 20  # values that mean null, and would join
_MOST_VALUES = 1_000  # that are listed
_PLAIN_ENCODINGS = ("utf-8", "utf-8-sig", "utf8", "ascii")


def join_sql(
    left: InputTable,
    right: InputTable,
    matches: tuple[Array, Array],
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    how: str,
    equal: bool,
    suffix: str,
    once: Sequence[str] = (),
) -> str | None:
    """`columns` of both tables decide; `equal`, whether their values are equal after normalisation; `once` are the
    names of those that appear once.

    None where DuckDB cannot read a table as we do, where values are hashed, or where too many would have to be listed.
    """
    if not all(columns) or not all(is_readable(side) for side in (left, right)):
        return None
    if any(side.column(name).type == HASHED for side, of in zip((left, right), columns, strict=True) for name in of):
        return None
    if equal:
        conditions = [_condition(left, right, *pair) for pair in zip(*columns, strict=True)]
        if all(conditions):
            texts = [numbered_rows(side) for side in (left, right)]
            return _query(left, right, texts, " AND ".join(str(each) for each in conditions), how, suffix, once)
    if not len(matches[0]):
        return None
    names = tuple(dict.fromkeys(columns[0])), tuple(dict.fromkeys(columns[1]))
    listed = _listed(left, right, matches, names)
    if listed is None:
        return None
    texts = [_keyed(side, of, values) for side, of, values in zip((left, right), names, listed, strict=True)]
    return _query(left, right, texts, "l._key = r._key", how, suffix, once)


def result_names(left: Sequence[str], right: Iterable[str], suffix: str) -> list[str]:
    """The right table's columns in the joined table: those that clash get the suffix."""
    taken = set(left)
    names = []
    for name in right:
        while name in taken:
            name += suffix
        taken.add(name)
        names.append(name)
    return names


def _query(
    left: InputTable, right: InputTable, texts: list[str], condition: str, how: str, suffix: str, once: Sequence[str]
) -> str:
    return f"WITH l AS ({texts[0]}),\n     r AS ({texts[1]})\n" + selected(
        left, right, f"l {_KINDS[how]} JOIN r ON {condition}", how, suffix, once
    )


def selected(left: InputTable, right: InputTable, joined: str, how: str, suffix: str, once: Sequence[str] = ()) -> str:
    """The columns and the order of the joined table."""
    columns = [f"l.{quoted(name)}" for name in left.names]
    order = "l._row"
    if how not in ("semi", "anti"):
        if how in ("right", "outer"):
            for name in once:
                key = quoted(name)
                columns[left.names.index(name)] = f"CASE WHEN l._row IS NULL THEN r.{key} ELSE l.{key} END AS {key}"
        others = [name for name in right.names if name not in once]
        renamed = zip(others, result_names(left.names, others, suffix), strict=True)
        columns += [f"r.{quoted(name)}" + (f" AS {quoted(new)}" if new != name else "") for name, new in renamed]
        order += ", r._row"
    return f"SELECT {', '.join(columns)}\nFROM {joined}\nORDER BY {order}"


def numbered_rows(side: InputTable) -> str:
    return f"SELECT row_number() OVER () AS _row, * FROM {source(side)}"


def is_readable(side: InputTable, names: Sequence[str] | None = None) -> bool:
    """Whether DuckDB finds as many rows in the file, and in these columns the same text. A frame will be a table."""
    import duckdb

    layout = side.layout
    if side.path is None or layout is None:
        return True
    if layout.format == "parquet":
        return _is_plain(side, side.names if names is None else names)
    if layout.format != "delimited" or layout.encoding.lower() not in _PLAIN_ENCODINGS or layout.comment:
        return False
    with duckdb.connect() as connection:
        try:
            return _number(connection, f"SELECT count(*) FROM {source(side)}") == side.rows
        except duckdb.Error:  # a ragged file, say
            return False


def source(side: InputTable, names: Sequence[str] | None = None) -> str:
    """A file that DuckDB reads as the same text, of these columns at least; of a frame, a table of the side's name."""
    layout = side.layout
    if side.path is None or layout is None:
        return quoted(side.name)
    if layout.format == "parquet":
        columns = ", ".join(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in names or side.names)
        return f"(SELECT {columns} FROM read_parquet({_text(str(side.path))}))"
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in side.names)
    filled = ", ".join(_text(name) for name in side.names)
    options = {
        "auto_detect": "false",
        "header": "true" if layout.header else "false",
        "skip": str(layout.skip_lines),
        "delim": _text(layout.delimiter),
        "quote": _text(layout.quote),
        "escape": _text(layout.escape or layout.quote),
        "columns": f"{{{columns}}}",
        "force_not_null": f"[{filled}]",
    }
    return f"read_csv({_text(str(side.path))}, {', '.join(f'{name} = {text}' for name, text in options.items())})"


def _is_plain(side: InputTable, names: Sequence[str]) -> bool:
    """Whether DuckDB writes the values as we do."""
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(side.path)
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_date)
    kinds = [schema.field(name).type for name in names]
    return schema.names == side.names and all(any(test(kind) for test in plain) for kind in kinds)


def _condition(left: InputTable, right: InputTable, mine: str, theirs: str) -> str | None:
    found = equal_values(distinct_values(left, mine), distinct_values(right, theirs))
    return found and found.condition(f"l.{quoted(mine)}", f"r.{quoted(theirs)}")


class EqualValues(NamedTuple):
    """An expression that makes values equal, and those on the left that mean null and would join."""

    expression: str
    markers: tuple[str, ...]

    def of(self, value: str) -> str:
        return self.expression.format(value)

    def condition(self, left: str, right: str) -> str:
        return self.joins(left, self.of(right))

    def joins(self, left: str, made: str) -> str:
        """The same, with what the expression has made of the right values."""
        return " AND ".join([f"{self.of(left)} = {made}", *self._no_null(left)])

    def made_of(self, table: str, column: str) -> str:
        """A query for what the expression makes of a column of the left table."""
        value = f"{table}.{quoted(column)}"
        where = "".join(f" WHERE {condition}" for condition in self._no_null(value))
        return f"SELECT {self.of(value)} FROM {table}{where}"

    def _no_null(self, left: str) -> list[str]:
        return [f"{left} NOT IN ({', '.join(self.markers)})"] if self.markers else []


def equal_values(left: pa.Table, right: pa.Table) -> EqualValues | None:
    """The plainest expression that pairs exactly the values whose tokens are equal."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("l", left)
        connection.register("r", right)
        wanted = _number(connection, "SELECT count(*) FROM l JOIN r USING (token)")
        for expression in _EXPRESSIONS:
            equal = f"{expression.format('l.raw')} = {expression.format('r.raw')}"
            nulls = connection.execute(
                f"SELECT DISTINCT l.raw FROM l JOIN r ON {equal} WHERE l.token IS NULL"
            ).fetchall()
            if len(nulls) > _MOST_MARKERS:
                continue
            found = EqualValues(expression, tuple(sorted(_text(value) for (value,) in nulls)))
            joined = f"FROM l JOIN r ON {found.condition('l.raw', 'r.raw')}"
            number = _number(connection, f"SELECT count(*) {joined}")
            if number == wanted == _number(connection, f"SELECT count(*) {joined} WHERE l.token = r.token"):
                return found
    return None


def distinct_values(side: InputTable, name: str, type: ColumnType | None = None) -> pa.Table:
    """The distinct values of a column and their tokens; `type` is that of the column, unless another one is meant."""
    counted = count_values(side.text.column(name))
    return pa.table({"raw": counted.values, "token": tokens(counted.folded, type or side.column(name).type)})


def _number(connection: DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


def _listed(
    left: InputTable, right: InputTable, matches: tuple[Array, Array], reads: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[list[tuple[Any, ...]]] | None:
    """The values that joined, each with the number of its group; None where they are many, or no groups."""
    lefts = distinct_tuples(left, reads[0], matches[0])
    rights = distinct_tuples(right, reads[1], matches[1])
    if max(len(lefts[0]), len(rights[0])) > _MOST_VALUES:
        return None
    partners: dict[int, set[int]] = {}
    for mine, theirs in set(zip(lefts[1].tolist(), rights[1].tolist(), strict=True)):
        partners.setdefault(mine, set()).add(theirs)
    groups: dict[frozenset[int], int] = {}
    of_left = {mine: groups.setdefault(frozenset(each), len(groups)) for mine, each in partners.items()}
    if sum(len(group) for group in groups) != len(rights[0]):
        return None  # a value of the right table is in two groups
    of_right = {theirs: number for group, number in groups.items() for theirs in group}
    return [
        [(*values[place], number) for place, number in sorted(of.items())]
        for values, of in ((lefts[0], of_left), (rights[0], of_right))
    ]


def distinct_tuples(side: InputTable, names: tuple[str, ...], rows: Array) -> tuple[list[tuple[Any, ...]], Array]:
    """The distinct tuples of values of some rows, and which one each row has."""
    columns = side.text.select(list(names)).take(pa.array(rows)).to_pydict()
    numbers: dict[tuple[Any, ...], int] = {}
    places = [numbers.setdefault(key, len(numbers)) for key in zip(*columns.values(), strict=True)]
    return list(numbers), np.array(places, np.int64)


def _keyed(side: InputTable, names: tuple[str, ...], values: list[tuple[Any, ...]]) -> str:
    rows = ", ".join(f"({', '.join(_literals(row))})" for row in values)
    heads = ", ".join([*(f"v{place}" for place in range(len(names))), "_key"])
    equal = " AND ".join(f"t.{quoted(name)} IS NOT DISTINCT FROM k.v{place}" for place, name in enumerate(names))
    return f"SELECT t.*, k._key FROM ({numbered_rows(side)}) t LEFT JOIN (VALUES {rows}) k({heads}) ON {equal}"


def _literals(row: tuple[Any, ...]) -> Iterator[str]:
    for value in row:
        yield "NULL" if value is None else str(value) if isinstance(value, int) else _text(value)


def quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _text(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))
