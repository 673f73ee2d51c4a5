"""`dovetail columns`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api import Column, Lake
from dovetail.cli.output import count, json_option, print_json, print_table


@click.command("columns")
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("table")
@json_option
def columns_command(index: Path, table: str, as_json: bool) -> int:
    """Show the columns of TABLE and what is in them.

    \b
    Example:
      dovetail columns ./idx geo/countries.csv
    """
    found = Lake(index).table(table)
    if as_json:
        print_json(found.columns.to_dicts())
    elif found.error:
        click.echo(f"{found.name} is in the index as a skipped file: {found.error}.")
    else:
        ragged = f" ({count(found.record.ragged_rows, 'ragged row')})" if found.record.ragged_rows else ""
        click.echo(f"{found.name}: {count(found.rows, 'row')}{ragged}, {count(len(found.columns), 'column')}")
        headings = ("column", "type", "nulls", "distinct", "unique", "length", "range", "most frequent")
        print_table(headings, [_line(column) for column in found.columns], numbers=("nulls", "distinct", "unique"))
    return 1 if found.error else 0


def _line(column: Column) -> tuple[object, ...]:
    record = column.record
    unique = "key" if record.is_key else f"{record.uniqueness:.0%}"
    length = f"{record.mean_length:.0f} to {record.max_length}" if record.max_length else ""
    span = f"{record.minimum[:20]} … {record.maximum[:20]}" if record.distinct > 1 else record.minimum[:20]
    top = ", ".join(f"{value[:24]} ({rows:,})" if rows > 1 else value[:24] for value, rows in record.top[:3])
    return (column.name, record.type.kind, record.nulls, record.distinct, unique, length, span, top)
