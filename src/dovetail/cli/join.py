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
from dovetail.join.equi import KINDS, Joined
from dovetail.join.transformation import Transformation
from dovetail.join.two_tables import WAYS, TwoTables, join

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
    help="With --index, or one pair with --by semantic: the columns to join on, several with commas; else found.",
)
@click.option("--how", type=click.Choice(list(KINDS)), help="With --index: the kind of join; left without it.")
@click.option(
    "--by", type=click.Choice(WAYS), help="Two files: join in this way only. With --index: transform, of --on if given."
)
@click.option(
    "--pairs", type=click.Path(path_type=Path), help="Two files: write the joined row numbers, from 0, as CSV."
)
@click.option("--equal", metavar="MINE=THEIRS", help="Two files, --by fuzzy: columns that must be equal beside.")
@click.option("--save", type=click.Path(path_type=Path), help="Two files: write the program that was learned, as JSON.")
@click.option("--program", type=click.Path(path_type=Path), help="Two files: join by the program in this file.")
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
    equal: str | None,
    save: Path | None,
    program: Path | None,
    explain: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Join LEFT (a file, or a table of the lake) with RIGHT, a table of INDEX, on equal values as search counts them.

    Without an index, both are files, and the way is found: columns of equal values, a transformation of one table's
    columns that gives the key of the other, or likeness for the rows that are left. With --by semantic, rows go to
    what is nearest in spelling.

    \b
    Example:
      dovetail join sales.csv geo/countries.csv --index ./idx --on country=name -o joined.parquet
      dovetail join sales.csv weather.csv --index ./idx --on town=city,day=date
      dovetail join presidents.csv approval.csv --explain --save program.json
    """
    semantic = by == "semantic" and not index
    of_files = {
        "--by": None if by == "transform" else by,
        "--pairs": pairs,
        "--equal": equal,
        "--save": save,
        "--program": program,
    }
    _refuse_mixture(index, {"--on": None if semantic else on, "--how": how}, {**of_files, "--explain": explain})
    if by and program:
        raise InputError("--by looks for a way to join, --program has one: leave one of them out.")
    write = _writer(output) if output else None
    joined = _with_lake(index, left, right, on, how, by) if index else _two(left, right, by, equal, program, on)
    if output and write:
        write(joined.table, str(output))
    if pairs and isinstance(joined, TwoTables):
        rows = joined.pairs.to_pylist()
        lines = ["left_row,right_row", *(f"{row['left_row']},{row['right_row']}" for row in rows)]
        pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if save and isinstance(joined, TwoTables):
        _save(joined, save)
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


def _with_lake(index: Path, left: str, right: str, on: str | None, how: str | None, by: str | None) -> Joined:
    lake = Lake(index)
    if by != "transform":
        return lake.join(left, right, on=on, how=how or "left")
    hits = lake.search(left, on=on, how="transform", tables=(right,), include_self=True)
    if not hits:
        raise InputError(f"{hits.sentence} Asked was {right}.")
    return lake.join(left, hits[0], how=how or "left")


def _two(left: str, right: str, by: str | None, equal: str | None, program: Path | None, on: str | None) -> TwoTables:
    return join(left, right, Transformation.load(program) if program else by, _pair(equal), _pair(on))


def _pair(columns: str | None) -> tuple[str, str] | None:
    mine, equals, theirs = (columns or "").partition("=")
    return (mine, theirs if equals else mine) if columns else None


def _save(joined: TwoTables, path: Path) -> None:
    if joined.transformation is None:
        raise InputError("There is no program to save: the tables join without one, or not at all.")
    joined.transformation.save(path)


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
