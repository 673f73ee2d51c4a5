"""`dovetail path`"""

from __future__ import annotations

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import echo, print_json
from dovetail.cli.progress import long_question
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph.join_paths import JoinPath


@click.command("path", short_help="Find how two tables can be joined over others.")
@arguments("START END")
@index_option
@click.option("--hops", type=click.IntRange(1, 6), default=3, show_default=True, help="The most joins of a path.")
@click.option("-k", type=click.IntRange(min=1), default=3, show_default=True, help="How many paths.")
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=LIKELY_REFERENCE, show_default=True,
    help="The lowest probability of a foreign key on the path.",
)  # fmt: skip
@json_option
def path_command(
    arguments: tuple[str, ...], index: str | None, hops: int, k: int, min_score: float, as_json: bool
) -> int:
    """Find the best ways to join table START with table END over likely foreign keys, as SQL.

    If no foreign key leads from one to the other directly, columns of texts of the two may also be joined through other
    tables of the lake that hold values of both.

    \b
    Example:
      dovetail path ./idx orders.csv countries.csv
    """
    index, (start, end) = split_index(index, arguments, ["START", "END"])
    with long_question() as progress:
        found = Lake(index).paths(start, end, hops, k, min_score=min_score, progress=progress)
    if as_json:
        print_json(found.to_dicts())
    elif not found:
        echo(
            f"No path of likely foreign keys leads from {start} to {end} in {hops} joins. Nor do other tables relate "
            f"their texts. "
            f"Try --hops {hops + 1}, or --min-score {max(0.0, min_score - 0.2):.1f} for unlikely ones."
        )
    else:
        echo("\n\n".join(f"{_head(path)}\n{path.sql()};" for path in found))
    return 0 if found else 1


def _head(path: JoinPath) -> str:
    """The score and the tables; which joins a person decided on, and which tables of the lake carry one."""
    notes = [note for step in path.steps for note in step.notes]
    return "\n".join(f"-- {line}" for line in [f"{path.score:.2f}  {' – '.join(path.tables)}", *notes])
