"""`dovetail join`"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from dovetail.api import Lake
from dovetail.cli.join_explained import print_two_tables
from dovetail.cli.output import json_option, print_json, print_table
from dovetail.errors import InputError
from dovetail.join.joined import KINDS, Joined
from dovetail.join.two_tables import WAYS, TwoTables
from dovetail.join.tables import join

_WRITERS: dict[str, Callable[[pa.Table, str], None]] = {
    ".csv": pyarrow.csv.write_csv,
    ".parquet": pyarrow.parquet.write_table,
    ".arrow": pyarrow.feather.write_feather,
    ".feather": pyarrow.feather.write_feather,
}
_SHOWN_ROWS = 10
_SHOWN_COLUMNS = 8


@click.command("join", short_help="Join my table with one of the lake, or two files.")
@click.argument("left")
@click.argument("right")
@click.option("--index", type=click.Path(path_type=Path), help="The folder of the index that RIGHT is a table of.")
@click.option(
    "--on",
    metavar="MINE=THEIRS,…",
    help="With --index: the columns to join on, several with commas; without it, the best pair is found.",
)
@click.option("--how", type=click.Choice(list(KINDS)), help="With --index: the kind of join; left without it.")
@click.option("--by", type=click.Choice(WAYS), help="Two files: join in this way only.")
@click.option(
    "--pairs", type=click.Path(path_type=Path), help="Two files: write the joined row numbers, from 0, as CSV."
)
@click.option("--explain", is_flag=True, help="Two files: the program in words, as Python and as SQL.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(_WRITERS)}.")
@json_option
def join_command(
    left: str,
    right: str,
    index: Path | None,
    on: str | None,
    how: str | None,
    by: str | None,
    pairs: Path | None,
    explain: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Join LEFT (a file, or a table of the lake) with RIGHT, a table of INDEX, on equal values as search counts them.

    Without an index, both are files, and the way is found: columns of equal values, a transformation of one table's
    columns that gives the key of the other, or likeness for the rows that are left.

    \b
    Example:
      dovetail join sales.csv geo/countries.csv --index ./idx --on country=name -o joined.parquet
      dovetail join sales.csv weather.csv --index ./idx --on town=city,day=date
      dovetail join presidents.csv approval.csv --explain
    """
    _refuse_mixture(index, {"--on": on, "--how": how}, {"--by": by, "--pairs": pairs, "--explain": explain})
    write = _writer(output) if output else None
    joined = Lake(index).join(left, right, on=on, how=how or "left") if index else join(left, right, by)
    if output and write:
        write(joined.table, str(output))
    if pairs and isinstance(joined, TwoTables):
        rows = joined.pairs.to_pylist()
        lines = ["left_row,right_row", *(f"{row['left_row']},{row['right_row']}" for row in rows)]
        pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if as_json:
        report = joined.report if isinstance(joined, TwoTables) else joined.report()
        print_json({**report, "output": str(output) if output else None})
        return
    if isinstance(joined, TwoTables):
        print_two_tables(joined, explain)
    else:
        _print_report(joined)
    if output:
        click.echo(f"Written: {output}")
    elif not (pairs or explain) and joined.table.num_rows:
        _print_rows(joined.table)


def _refuse_mixture(index: Path | None, of_lake: dict[str, Any], of_files: dict[str, Any]) -> None:
    for name, value in (of_files if index else of_lake).items():
        if value:
            raise InputError(f"{name} is for {'two files, without' if index else 'a table of the lake, with'} --index.")


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
