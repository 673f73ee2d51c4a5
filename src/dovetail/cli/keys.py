"""`dovetail keys`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dovetail.api import Lake
from dovetail.cli.output import json_option, print_json
from dovetail.graph.foreign_keys import LIKELY
from dovetail.graph.output import SUFFIXES, check_suffix


@click.command("keys", short_help="Find which columns are likely foreign keys, and why.")
@click.argument("index", type=click.Path(path_type=Path))
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=LIKELY, show_default=True, help="The least score, from 0 to 1."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=25, show_default=True,
    help="How many to print; --json and --output have all.",
)  # fmt: skip
@json_option
def keys_command(index: Path, min_score: float, output: Path | None, limit: int, as_json: bool) -> int:
    """Find which columns of the lake in INDEX are likely foreign keys, best first, and why.

    A foreign key is a column whose values, or nearly all of them, stand in a column that repeats none. Many do by
    chance; names, values, sizes and where the tables lie tell which are meant.

    \b
    Example:
      dovetail keys ./idx
      dovetail keys ./idx --min-score 0.3 -o keys.csv
    """
    if output:
        check_suffix(output)
    found = Lake(index).foreign_keys(min_score)
    if output:
        click.echo(f"{found.write(output):,} likely foreign keys written: {output}")
        return 0
    if as_json:
        print_json(found.to_dicts())
        return 0 if len(found) else 1
    if not len(found):
        click.echo(f"No column of {index} looks like a foreign key. Try --min-score {max(0.0, min_score - 0.2):.1f}.")
        return 1
    for row in found.to_dicts(limit):
        click.echo(f"{row['score']:.2f}  {_side(row, 'dependent')} → {_side(row, 'referenced')}")
        click.echo(f"      {'; '.join(row['reasons'])}")
    if len(found) > limit:
        click.echo(f"… and {len(found) - limit:,} more; -o FILE writes all.")
    return 0


def _side(row: dict[str, Any], side: str) -> str:
    return f"{row[f'{side}_table']} ({', '.join(row[f'{side}_columns'])})"
