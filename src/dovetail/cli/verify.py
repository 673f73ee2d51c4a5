"""`dovetail verify`"""

from __future__ import annotations

import click

from dovetail.api.lake import verify
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, echo, print_json, size


@click.command("verify", short_help="Check every checksum and every cross-reference.")
@arguments("")
@index_option
@json_option
def verify_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Check every checksum and every cross-reference of INDEX. Exits with 1 if anything is broken.

    \b
    Example:
      dovetail verify ./idx
    """
    index, _ = split_index(index, arguments)
    found = verify(index)
    if as_json:
        print_json({**vars(found), "problems": list(found.problems), "whole": not found.problems})
    elif found.problems:
        echo(f"{index} is damaged: {count(len(found.problems), 'problem')}.")
        for problem in found.problems:
            echo(f"  {problem}")
        echo("The lake itself is not touched: build the index again into a new folder with `dovetail index`.")
    else:
        echo(
            f"{index} is whole: generation {found.generation}, {count(found.segments, 'segment')}, "
            f"{count(found.tables, 'file')}, {size(found.bytes)} checked."
        )
    return 1 if found.problems else 0
