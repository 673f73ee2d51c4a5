"""`dovetail tables`"""

from __future__ import annotations

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import echo, print_json, print_table, size, wider


@click.command("tables", short_help="List the tables of an index.")
@arguments("[GLOB]")
@index_option
@click.option("--skipped", is_flag=True, help="List only skipped files, with the reason.")
@json_option
def tables_command(arguments: tuple[str, ...], index: str | None, skipped: bool, as_json: bool) -> int:
    """List the tables of INDEX, or those whose id matches GLOB, one line each.

    \b
    Example:
      dovetail tables ./idx 'geo/*'
    """
    folder, given = split_index(index, arguments, ("[GLOB]",))
    lake, pattern = Lake(folder), (given or ["*"])[0]
    lines = [line for line in lake.tables(pattern) if line.error or not skipped]
    if as_json:
        print_json([line.to_dict() for line in lines])
    elif lines:
        rows = [
            (line.table, line.rows, line.columns, size(line.bytes), f"skipped: {line.error}" if line.error else "")
            for line in lines
        ]
        headings = ("table", "rows", "columns", "size", "")
        print_table(headings, rows, numbers=("rows", "columns", "size"), loose={"table": 30})
    else:
        hint = "" if skipped else wider(pattern, lake.tables)
        echo(f"No {'skipped file' if skipped else 'table'} of {folder} matches {pattern!r}.{hint}")
    return 0 if lines else 1
