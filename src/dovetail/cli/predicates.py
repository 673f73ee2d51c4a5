"""`dovetail predicates`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.join import predicates
from dovetail.api.lake import Lake
from dovetail.cli.files import from_standard_input
from dovetail.cli.options import index_option, json_option
from dovetail.cli.output import echo, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.join.best_predicate.scores import DEFAULT, PREFERENCES
from dovetail.join.request import SECONDS


@click.command("predicates", short_help="Rank the columns on which files join.")
@click.argument("files", nargs=-1, required=True)
@index_option
@click.option(
    "--prefer",
    type=click.Choice(list(PREFERENCES)),
    help="What counts as best; by default, for two files, how likely a person would accept the join, and for more "
    f"{DEFAULT}. " + "; ".join(f"{each.name}: {each.wants}" for each in PREFERENCES.values()) + ".",
)
@click.option("-k", default=5, show_default=True, help="How many predicates to list.")
@click.option("--seconds", type=float, default=SECONDS, show_default=True, help="Time limit of the search.")
@json_option
def predicates_command(
    files: tuple[str, ...], index: str | None, prefer: str | None, k: int, seconds: float, as_json: bool
) -> int:
    """List the best predicates for joining two FILES or more on equal values, with their scores.

    With an index, each may be a table of the lake, and what was decided about its columns counts.

    A predicate is a set of pairs of columns whose values must be equal. With a preference, it includes every pair that
    is equal in all joined rows anyway. The exit code is 1 if there are no predicates.

    \b
    Example:
      dovetail predicates people.csv orders.csv --prefer compact -k 3
    """
    with from_standard_input(*files) as tables, long_question("comparing columns"):
        ask = predicates if index is None else Lake(index).predicates
        found = ask(*tables, prefer=prefer, k=k, seconds=seconds)
    if as_json:
        listed = [predicate.to_dict() for predicate in found.predicates]
        print_json({"prefer": found.prefer, "complete": found.complete, "predicates": listed})
    elif not len(found):
        echo("Nothing joins. No columns with equal values connect the tables.")
    else:
        headings, rows = found.shown([Path(file).stem for file in files])
        print_table(headings, rows, headings[:2])
        if not found.complete:
            echo(f"The search stopped after {seconds:g} seconds; there may be better predicates.")
    return 0 if len(found) else 1
