"""`dovetail find`"""

from __future__ import annotations

import click

from dovetail.api.lake import Lake
from dovetail.api.tables import ColumnLine, Occurrence
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, echo, note, print_json, print_table, wider
from dovetail.errors import InputError
from dovetail.results import Rows


@click.command("find", short_help="Find a value, or columns by name.")
@arguments("[VALUE]")
@index_option
@click.option("--column", "pattern", metavar="PATTERN", help="Find columns by name (a glob).")
@click.option(
    "-k", type=click.IntRange(min=1), default=50, show_default=True,
    help="How many lines to print; --json prints all.",
)  # fmt: skip
@json_option
def find_command(arguments: tuple[str, ...], index: str | None, pattern: str | None, k: int, as_json: bool) -> int:
    """Show where VALUE occurs in INDEX, or with --column, which columns have a name.

    VALUE is normalised by each column's type: in a column of numbers, 7.0 finds 7; in text, case does not matter.
    Put -- before a value that begins with a hyphen: dovetail find ./idx -- -5

    \b
    Example:
      dovetail find ./idx Zürich
      dovetail find ./idx --column '*country*'
    """
    folder, given = split_index(index, arguments, ("[VALUE]",))
    value = given[0] if given else None
    if (value is None) == (pattern is None):
        raise InputError("Give either a value or --column PATTERN, as in: dovetail find ./idx Zürich")
    lake = Lake(folder)
    found: Rows[Occurrence] | Rows[ColumnLine]
    found = lake.find(value) if value is not None else lake.find_columns(str(pattern))
    if as_json:
        print_json(found.to_dicts())
        return 0 if found else 1
    if not found:
        if value is not None:
            echo(f"No column of {folder} contains {value!r}.")
        else:
            echo(f"No column of {folder} is called {pattern!r}.{wider(str(pattern), lake.find_columns)}")
        return 1
    rows = [tuple(row.to_dict().values()) for row in found[:k]]
    print_table(
        list(found[0].to_dict()), rows, numbers=("rows", "nulls", "distinct"), loose={"table": 30, "column": 16}
    )
    if len(found) > k:
        note(f"… and {count(len(found) - k, 'more column')}; -k {len(found)} shows all.")
    return 0
