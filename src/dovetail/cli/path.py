"""`dovetail path`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import print_json

_LEAST = 0.3  # less than for keys: what leads from here to there is asked for by name


@click.command("path", short_help="Find how two tables can be joined over others.")
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("start")
@click.argument("end")
@click.option("--hops", type=click.IntRange(1, 6), default=3, show_default=True, help="How many joins at most.")
@click.option("--limit", type=click.IntRange(min=1), default=3, show_default=True, help="How many paths.")
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=_LEAST, show_default=True,
    help="The least score of a foreign key on the way.",
)  # fmt: skip
@json_option
def path_command(index: Path, start: str, end: str, hops: int, limit: int, min_score: float, as_json: bool) -> int:
    """Find the best ways to join table START with table END of INDEX over likely foreign keys, as SQL.

    \b
    Example:
      dovetail path ./idx orders.csv countries.csv
    """
    lake = Lake(index)
    lake.table(start)
    lake.table(end)
    found = lake.graph(min_score).paths(start, end, hops, limit)
    if as_json:
        print_json(found.to_dicts())
    elif not found:
        click.echo(
            f"No path leads from {start} to {end} in {hops} joins. "
            f"Try --hops {hops + 1}, or --min-score {max(0.0, min_score - 0.1):.1f}."
        )
    else:
        click.echo("\n\n".join(f"-- {path.score:.2f}  {' – '.join(path.tables)}\n{path.sql()};" for path in found))
    return 0 if found else 1
