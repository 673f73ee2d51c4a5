"""`dovetail remove`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, echo, print_json, wider
from dovetail.errors import InputError


@click.command("remove", short_help="Take tables out of an index.")
@arguments("GLOB...")
@index_option
@json_option
def remove_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Take tables out of INDEX. Their files stay, and the next `index` finds them again unless excluded.

    \b
    Example:
      dovetail remove ./idx 'old/*.csv'
    """
    from dovetail.pipeline.maintain import remove_tables

    index, patterns = split_index(index, arguments, ["GLOB..."])
    if Path(patterns[0]).is_dir():
        raise InputError(f"{patterns[0]} is not an index, nor a glob for tables of {index}.")
    with stops_in_order():
        removed = remove_tables(index, patterns)
    if as_json:
        print_json({"removed": removed})
    elif removed:
        echo(f"Removed {count(len(removed), 'table')}: {', '.join(removed[:5])}{', …' if len(removed) > 5 else ''}")
        echo("`dovetail index` finds them again while their files are there; --exclude keeps them out.")
    else:
        hint = wider(patterns[0], Lake(index).tables)
        echo(f"No table of {index} matches {' or '.join(map(repr, patterns))}.{hint}")
    return 0 if removed else 1
