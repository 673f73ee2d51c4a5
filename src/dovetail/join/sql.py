"""The query for DuckDB that does what a join did.

DuckDB does not have our normaliser. So a condition is printed only after it has been tried on the distinct values of
both columns: the plainest that pairs exactly the values that joined. Where none does, the values themselves are listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.profile import count_values
from dovetail.normalise import tokens
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
) -> str | None:
    """`columns` of both tables decide; `equal`, whether their values are equal after normalisation.

    None where DuckDB cannot read a table as we do, or too many values would have to be listed.
    """
    if not all(columns) or not all(_is_readable(side) for side in (left, right)):
        return None
    if equal:
        conditions = [_condition(left, right, *pair) for pair in zip(*columns, strict=True)]
        if all(conditions):
            texts = [_read(side) for side in (left, right)]
            return _query(left, right, texts, " AND ".join(str(each) for each in conditions), how, suffix)
    if not len(matches[0]):
        return None
    names = tuple(dict.fromkeys(columns[0])), tuple(dict.fromkeys(columns[1]))
    listed = _listed(left, right, matches, names)
    if listed is None:
        return None
    texts = [_keyed(side, of, values) for side, of, values in zip((left, right), names, listed, strict=True)]
    return _query(left, right, texts, "l._key = r._key", how, suffix)


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


def _query(left: InputTable, right: InputTable, texts: list[str], condition: str, how: str, suffix: str) -> str:
    columns = [f"l.{_name(name)}" for name in left.names]
    order = "l._row"
    if how not in ("semi", "anti"):
        renamed = zip(right.names, result_names(left.names, right.names, suffix), strict=True)
        columns += [f"r.{_name(name)}" + (f" AS {_name(new)}" if new != name else "") for name, new in renamed]
        order += ", r._row"
    return (
        f"WITH l AS ({texts[0]}),\n     r AS ({texts[1]})\n"
        f"SELECT {', '.join(columns)}\nFROM l {_KINDS[how]} JOIN r ON {condition}\nORDER BY {order}"
    )


def _read(side: InputTable) -> str:
    return f"SELECT row_number() OVER () AS _row, * FROM {_source(side)}"


def _is_readable(side: InputTable) -> bool:
    """Whether DuckDB finds as many rows in the file. A frame will be a table."""
    import duckdb

    layout = side.layout
    if side.path is None or layout is None:
        return True
    if layout.format == "parquet":
        return _is_plain(side)
    if layout.format != "delimited" or layout.encoding.lower() not in _PLAIN_ENCODINGS or layout.comment:
        return False
    with duckdb.connect() as connection:
        try:
            return _number(connection, f"SELECT count(*) FROM {_source(side)}") == side.rows
        except duckdb.Error:  # a ragged file, say
            return False


def _source(side: InputTable) -> str:
    """A file that DuckDB reads as the same text; of a frame, a table of the side's name."""
    layout = side.layout
    if side.path is None or layout is None:
        return _name(side.name)
    if layout.format == "parquet":
        columns = ", ".join(f"CAST({_name(name)} AS VARCHAR) AS {_name(name)}" for name in side.names)
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


def _is_plain(side: InputTable) -> bool:
    """Whether DuckDB writes the values as we do."""
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(side.path)
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_date)
    return schema.names == side.names and all(any(test(kind) for test in plain) for kind in schema.types)


def _condition(left: InputTable, right: InputTable, mine: str, theirs: str) -> str | None:
    """The plainest expression that pairs exactly the values whose tokens are equal."""
    import duckdb

    with duckdb.connect() as connection:
        for name, values in (("l", _values(left, mine)), ("r", _values(right, theirs))):
            connection.register(name, values)
        wanted = _number(connection, "SELECT count(*) FROM l JOIN r USING (token)")
        for expression in _EXPRESSIONS:
            equal = f"{expression.format('l.raw')} = {expression.format('r.raw')}"
            nulls = connection.execute(
                f"SELECT DISTINCT l.raw FROM l JOIN r ON {equal} WHERE l.token IS NULL"
            ).fetchall()
            if len(nulls) > _MOST_MARKERS:
                continue
            markers = ", ".join(sorted(_text(value) for (value,) in nulls))
            without = " AND {} NOT IN (" + markers + ")" if nulls else ""
            joined = f"FROM l JOIN r ON {equal}{without.format('l.raw')}"
            found = _number(connection, f"SELECT count(*) {joined}")
            if found == wanted == _number(connection, f"SELECT count(*) {joined} WHERE l.token = r.token"):
                names = f"l.{_name(mine)}", f"r.{_name(theirs)}"
                return f"{expression.format(names[0])} = {expression.format(names[1])}{without.format(names[0])}"
    return None


def _values(side: InputTable, name: str) -> pa.Table:
    """The distinct values of a column and their tokens."""
    counted = count_values(side.text.column(name))
    return pa.table({"raw": counted.values, "token": tokens(counted.folded, side.column(name).type)})


def _number(connection: DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


def _listed(
    left: InputTable, right: InputTable, matches: tuple[Array, Array], reads: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[list[tuple[Any, ...]]] | None:
    """The values that joined, each with the number of its group; None where they are many, or no groups."""
    lefts = _distinct(left, reads[0], matches[0])
    rights = _distinct(right, reads[1], matches[1])
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


def _distinct(side: InputTable, names: tuple[str, ...], rows: Array) -> tuple[list[tuple[Any, ...]], Array]:
    """The distinct tuples of values of some rows, and which one each row has."""
    columns = side.text.select(list(names)).take(pa.array(rows)).to_pydict()
    numbers: dict[tuple[Any, ...], int] = {}
    places = [numbers.setdefault(key, len(numbers)) for key in zip(*columns.values(), strict=True)]
    return list(numbers), np.array(places, np.int64)


def _keyed(side: InputTable, names: tuple[str, ...], values: list[tuple[Any, ...]]) -> str:
    rows = ", ".join(f"({', '.join(_literals(row))})" for row in values)
    heads = ", ".join([*(f"v{place}" for place in range(len(names))), "_key"])
    equal = " AND ".join(f"t.{_name(name)} IS NOT DISTINCT FROM k.v{place}" for place, name in enumerate(names))
    return f"SELECT t.*, k._key FROM ({_read(side)}) t LEFT JOIN (VALUES {rows}) k({heads}) ON {equal}"


def _literals(row: tuple[Any, ...]) -> Iterator[str]:
    for value in row:
        yield "NULL" if value is None else str(value) if isinstance(value, int) else _text(value)


def _name(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _text(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))
