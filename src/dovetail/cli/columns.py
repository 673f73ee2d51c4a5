"""`dovetail columns`"""

from __future__ import annotations

import click

from dovetail.api.lake import Lake
from dovetail.api.tables import Column
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, echo, note, print_json, print_table


@click.command("columns", short_help="Profile the columns of a table.")
@arguments("TABLE")
@index_option
@json_option
def columns_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Profile the columns of TABLE.

    Nulls, distinct values and uniqueness are counted after normalisation, as a join would see them. A column is a key
    if every row has a value and no value repeats. Length is the mean and the maximum number of characters. The last
    column shows the most frequent values with their numbers of rows, or the first values if none repeats; after it
    come the keys that the database declares, if it does: primary key, unique, and what a foreign key refers to. Where
    cells hold several values, the type says what separates them ([] for JSON lists).

    \b
    Example:
      dovetail columns ./idx geo/countries.csv
    """
    folder, (table,) = split_index(index, arguments, ("TABLE",))
    found = Lake(folder).table(table)
    if as_json:
        print_json(found.columns.to_dicts())
    elif found.error:
        echo(f"{found.name} was skipped: {found.error}.")
    else:
        ragged = f" ({count(found.record.ragged_rows, 'ragged row')})" if found.record.ragged_rows else ""
        note(f"{found.name}: {count(found.rows, 'row')}{ragged}, {count(len(found.columns), 'column')}")
        declared = ("declared",) if found.declared else ()
        print_table(
            ("column", "type", "nulls", "distinct", "unique", "length", "range", "such as", *declared),
            [_line(column, bool(declared)) for column in found.columns],
            numbers=("nulls", "distinct", "unique"),
            loose={"column": 16, "range": 9, "such as": 14},
        )
    return 1 if found.error else 0


def _line(column: Column, declared: bool) -> tuple[object, ...]:
    record = column.record
    share = ">99%" if 0.99 < record.uniqueness < 1 else f"{record.uniqueness:.0%}"
    unique = "key" if record.is_key else share
    length = f"{record.mean_length:.0f}, max {record.max_length:,}" if record.max_length else ""
    span = f"{record.minimum[:20]} … {record.maximum[:20]}" if record.distinct > 1 else record.minimum[:20]
    top = ", ".join(f"{value[:24]} ({rows:,})" if rows > 1 else value[:24] for value, rows in record.top[:3])
    keys = ("; ".join(column.declared.sentences()),) if declared else ()
    kind = record.type.kind if column.separator is None else f"{record.type.kind}, several by {column.separator}"
    return (column.name, kind, record.nulls, record.distinct, unique, length, span, top, *keys)
