"""`dovetail info`"""

from __future__ import annotations

from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, distinct, echo, print_json, size

_MANY_SEGMENTS = 16


@click.command("info", short_help="Show what an index is made of.")
@arguments("")
@index_option
@json_option
def info_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> None:
    """Show what INDEX is made of: generation, segments, sizes by index, settings.

    \b
    Example:
      dovetail info ./idx
    """
    folder, _ = split_index(index, arguments)
    info = Lake(folder).info()
    if as_json:
        print_json(info)
        return
    echo(f"{info['path']}: generation {info['generation']}, {count(info['segments'], 'segment')}")
    echo(
        f"{count(info['tables'], 'table')} · {count(info['columns'], 'column')} · {count(info['rows'], 'row')} · "
        f"{distinct(info['values'], info['values_are_exact'])} · {size(info['bytes'])} of raw tables"
    )
    parts = ", ".join(f"{name} {size(number)}" for name, number in sorted(info["index_bytes_by_part"].items()))
    echo(f"{size(info['index_bytes'])} of index" + (f": {parts}" if parts else ""))
    for root in info["roots"]:
        echo(f"Lake: {_root(root)}")
    if info["settings"]:
        echo("Frozen settings: " + ", ".join(f"{name} {value}" for name, value in info["settings"].items()))
    if info["dead_tables"] or info["segments"] > _MANY_SEGMENTS:
        dead = f"{count(info['dead_tables'], 'removed table')} still on disk. " if info["dead_tables"] else ""
        echo(f"{dead}`dovetail compact {folder}` makes it smaller and faster.")


def _root(root: dict[str, Any]) -> str:
    """A root with the choices that the index remembers of it."""
    choices = [f"tables below {root['prefix']}"] if root["prefix"] else []
    choices += [f"only {pattern}" for pattern in root["tables"]]
    choices += [f"without {pattern}" for pattern in root["exclude"]]
    choices += [f"{pattern} read as {dialect}" for pattern, dialect in root["dialects"]]
    place = root["path"] if root["pattern"] == "*" else f"{root['path']}/{root['pattern']}"
    return place + (f" ({'; '.join(choices)})" if choices else "")
