"""`dovetail join`"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from dovetail.api import Lake
from dovetail.cli.output import json_option, print_json, print_table
from dovetail.errors import InputError
from dovetail.join.equi import KINDS, Joined

_WRITERS: dict[str, Callable[[pa.Table, str], None]] = {
    ".csv": pyarrow.csv.write_csv,
    ".parquet": pyarrow.parquet.write_table,
    ".arrow": pyarrow.feather.write_feather,
    ".feather": pyarrow.feather.write_feather,
}
_SHOWN_ROWS = 10
_SHOWN_COLUMNS = 8


@click.command("join", short_help="Join my table with one of the lake.")
@click.argument("mine")
@click.argument("table")
@click.option("--index", "index", required=True, type=click.Path(path_type=Path), help="The folder of the index.")
@click.option(
    "--on",
    metavar="MINE=THEIRS,…",
    help="The columns to join on, several with commas; without it, the best pair is found.",
)
@click.option("--how", type=click.Choice(list(KINDS)), default="left", show_default=True, help="The kind of join.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(_WRITERS)}.")
@json_option
def join_command(
    mine: str, table: str, index: Path, on: str | None, how: str, output: Path | None, as_json: bool
) -> None:
    """Join MINE (a file, or a table of the lake) with TABLE of INDEX, on equal values as search counts them.

    \b
    Example:
      dovetail join sales.csv geo/countries.csv --index ./idx --on country=name -o joined.parquet
      dovetail join sales.csv weather.csv --index ./idx --on town=city,day=date
    """
    write = _writer(output) if output else None
    joined = Lake(index).join(mine, table, on=on, how=how)
    if output and write:
        write(joined.table, str(output))
    if as_json:
        print_json({**joined.report(), "output": str(output) if output else None})
        return
    _print_report(joined)
    if output:
        click.echo(f"Written: {output}")
    else:
        _print_rows(joined.table)


def _writer(output: Path) -> Callable[[pa.Table, str], None]:
    if output.suffix not in _WRITERS:
        raise InputError(f"Cannot write {output.suffix or 'a file without suffix'}: use {', '.join(_WRITERS)}.")
    return _WRITERS[output.suffix]


def _print_report(joined: Joined) -> None:
    on = " and ".join(f"{mine} = {theirs}" for mine, theirs in joined.on)
    click.echo(
        f"{joined.table.num_rows:,} rows, {len(joined.table.column_names)} columns: {joined.how} join on {on}. "
        f"{joined.matched_left:,} of your {joined.left_rows:,} rows match {joined.matched_right:,} of "
        f"{joined.right_rows:,}."
    )
    if joined.unmatched:
        click.echo(f"Not matched: {', '.join(joined.unmatched)}")


def _print_rows(table: pa.Table) -> None:
    names = table.column_names[:_SHOWN_COLUMNS]
    rows = [[value or "" for value in row.values()] for row in table.select(names).slice(0, _SHOWN_ROWS).to_pylist()]
    more = len(table.column_names) - len(names)
    print_table([*names, f"(+{more})"] if more else names, [[*row, ""] if more else row for row in rows])
