"""`dovetail tables`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import print_json, print_table, size, wider


@click.command("tables", short_help="List the tables, one line each.")
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("pattern", metavar="[GLOB]", default="*")
@click.option("--skipped", is_flag=True, help="Only files that are no tables, with the reason.")
@json_option
def tables_command(index: Path, pattern: str, skipped: bool, as_json: bool) -> int:
    """List the tables of INDEX, one line each.

    \b
    Example:
      dovetail tables ./idx 'geo/*'
    """
    lake = Lake(index)
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
        click.echo(f"No {'skipped file' if skipped else 'table'} of {index} matches {pattern!r}.{hint}")
    return 0 if lines else 1
