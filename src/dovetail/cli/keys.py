"""`dovetail keys`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import print_json
from dovetail.graph.answer import Answer
from dovetail.graph.foreign_keys import LIKELY
from dovetail.graph.output import SUFFIXES, check_suffix


@click.command("keys", short_help="Find which columns are likely keys and foreign keys, and why.")
@click.argument("index", type=click.Path(path_type=Path))
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=LIKELY, show_default=True, help="The least score, from 0 to 1."
)
@click.option("--candidates", is_flag=True, help="Only the columns that could be keys, alone or a few together.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=25, show_default=True,
    help="How many to print; --json and --output have all.",
)  # fmt: skip
@json_option
def keys_command(
    index: Path, min_score: float, candidates: bool, output: Path | None, limit: int, as_json: bool
) -> int:
    """Find which columns of the lake in INDEX are likely foreign keys, best first, and why; and which are keys.

    A foreign key is a column whose values, or nearly all of them, stand in a column that repeats none. Many do by
    chance; names, values, sizes and where the tables lie tell which are meant. A key candidate repeats no value. A file
    and --json have the foreign keys, or with --candidates the key candidates.

    \b
    Example:
      dovetail keys ./idx
      dovetail keys ./idx --min-score 0.3 -o keys.csv
      dovetail keys ./idx --candidates --json
    """
    if output:
        check_suffix(output)
    lake = Lake(index)
    found: Answer = lake.keys() if candidates else lake.foreign_keys(min_score)
    if output:
        click.echo(
            f"{found.write(output):,} {'key candidates' if candidates else 'likely foreign keys'} written: {output}"
        )
        return 0
    if as_json:
        print_json(found.to_dicts())
        return 0 if len(found) else 1
    if not candidates:
        _print_foreign_keys(found, index, min_score, limit)
        click.echo()
    _print_candidates(found if candidates else lake.keys(), index, limit)
    return 0 if len(found) else 1


def _print_foreign_keys(found: Answer, index: Path, min_score: float, limit: int) -> None:
    if not len(found):
        click.echo(f"No column of {index} looks like a foreign key. Try --min-score {max(0.0, min_score - 0.2):.1f}.")
        return
    click.echo(f"Likely foreign keys ({len(found):,}):")
    for row in found.to_dicts(limit):
        click.echo(f"{row['score']:.2f}  {_side(row, 'dependent_')} → {_side(row, 'referenced_')}")
        click.echo(f"      {'; '.join(row['reasons'])}")
    _print_rest(found, limit)


def _print_candidates(found: Answer, index: Path, limit: int) -> None:
    if not len(found):
        click.echo(f"No column of {index} tells the rows of its table apart.")
        return
    click.echo(f"Key candidates ({len(found):,}):")
    for row in found.to_dicts(limit):
        click.echo(f"{row['score']:.2f}  {_side(row, '')}: {'; '.join(row['reasons'])}")
    _print_rest(found, limit)


def _print_rest(found: Answer, limit: int) -> None:
    if len(found) > limit:
        click.echo(f"… and {len(found) - limit:,} more; -o FILE writes all.")


def _side(row: dict[str, Any], side: str) -> str:
    return f"{row[f'{side}table']} ({', '.join(row[f'{side}columns'])})"
