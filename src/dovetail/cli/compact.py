"""`dovetail compact`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.cli.output import count, json_option, print_json, size


@click.command("compact")
@click.argument("index", type=click.Path(path_type=Path))
@click.option("--master", default=None, help="The Spark master; by default all cores of this machine.")
@json_option
def compact_command(index: Path, master: str | None, as_json: bool) -> None:
    """Merge the small segments of INDEX and free the space of removed tables.

    \b
    Example:
      dovetail compact ./idx
    """
    from dovetail.verbs import compact

    done = compact(index, master)
    if as_json:
        print_json(vars(done))
    else:
        click.echo(
            f"{count(done.segments_before, 'segment')} ({size(done.bytes_before)}) are now "
            f"{count(done.segments_after, 'segment')} ({size(done.bytes_after)}), generation {done.generation}."
        )
