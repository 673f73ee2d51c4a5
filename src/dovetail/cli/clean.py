"""`dovetail clean`"""

from __future__ import annotations

import click

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, index_option, json_option, keep_option, split_index
from dovetail.cli.output import count, echo, print_json, size


@click.command("clean", short_help="Remove generations that nobody needs any more.")
@arguments("")
@index_option
@keep_option
@json_option
def clean_command(arguments: tuple[str, ...], index: str | None, keep_hours: float | None, as_json: bool) -> None:
    """Remove old generations of INDEX, what builds that were stopped have left, and say how much that was.

    Commands that write to an index do the same. A generation that is being read stays. In an object store nobody knows
    who reads: there old generations, and segments that no generation has, stay for a day.

    \b
    Example:
      dovetail clean s3://lake/index --keep 2
    """
    from dovetail.api.index import clean

    address, _ = split_index(index, arguments)
    with stops_in_order():
        done = clean(address, keep_hours=keep_hours)
    if as_json:
        print_json(vars(done))
    elif done.generations or done.segments:
        echo(
            f"Removed {count(done.generations, 'old generation')} and {count(done.segments, 'segment')} "
            f"({size(done.bytes)}) of {address}."
        )
    else:
        echo(f"Nothing to remove from {address}.")
