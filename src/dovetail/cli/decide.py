"""`dovetail decide`"""

from __future__ import annotations

import click

from dovetail.api.lake import Lake
from dovetail.catalog.decisions import JOINS, NEVER, Decision
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import echo, print_json, print_table
from dovetail.errors import InputError
from dovetail.results import Rows


@click.command("decide", short_help="Decide which columns join and which never do.")
@arguments("[LEFT RIGHT]")
@index_option
@click.option("--on", metavar="LEFT=RIGHT,…", help="The columns that the decision is about.")
@click.option("--values", metavar="LEFT=RIGHT", help="Decide about these values of the two columns alone.")
@click.option("--joins", is_flag=True, help="They join.")
@click.option("--never", is_flag=True, help="They never join.")
@click.option("--forget", is_flag=True, help="Forget what was decided about them.")
@click.option("--note", default="", metavar="TEXT", help="Why; shown with the decision.")
@json_option
def decide_command(
    arguments: tuple[str, ...],
    index: str | None,
    on: str | None,
    values: str | None,
    joins: bool,
    never: bool,
    forget: bool,
    note: str,
    as_json: bool,
) -> int:
    """Decide that columns of table LEFT and table RIGHT join, or that they never do; without tables, list decisions.

    Decisions are kept with the index, whatever happens to its tables. Columns that never join are not offered by
    search, join, predicates, inds, keys, path and graph; columns that join come first, with probability 1. Several
    columns, separated by commas, are one decision about all of them together.

    With --values, the decision is about a value of each column: joins on these columns pair them, or never do.

    \b
    Example:
      dovetail decide ./idx orders.csv customers.csv --on customer=id --joins
      dovetail decide ./idx orders.csv islands.csv --on number=height --never --note "heights are no numbers"
      dovetail decide ./idx visits.csv geo/countries.csv --on country=name --values "Ivory Coast=Côte d'Ivoire" --joins
      dovetail decide ./idx
      dovetail decide ./idx orders.csv islands.csv --on number=height --forget
    """
    folder, tables = split_index(index, arguments, ["[LEFT]", "[RIGHT]"])
    lake, asked = Lake(folder), joins + never + forget
    if not tables and not asked and on is None:
        return _list(lake.decisions(), folder, as_json)
    if len(tables) != 2 or on is None:
        raise InputError("A decision needs two tables and --on LEFT=RIGHT.")
    if asked != 1:
        raise InputError("A decision needs one of --joins, --never and --forget.")
    left, right = tables
    pair = None if values is None else _values(values)
    with stops_in_order():
        if forget:
            decision, said = lake.forget(left, right, on, values=pair), "Forgotten"
        else:
            decision, said = lake.decide(left, right, on, NEVER if never else JOINS, note, values=pair), "Kept"
    if as_json:
        print_json([decision.to_dict()])
    else:
        echo(f"{said}: {_sentence(decision)}.")
    return 0


def _values(written: str) -> tuple[str, str]:
    mine, sign, theirs = (part.strip() for part in written.partition("="))
    if not (mine and sign and theirs):
        raise InputError(f"--values is {written!r}; it must be of the form LEFT=RIGHT.")
    return mine, theirs


def _sentence(decision: Decision) -> str:
    verdict = "joins" if decision.verdict == JOINS else "never joins"
    return f"{decision.columns} {verdict}" + (f" ({decision.note})" if decision.note else "")


def _list(decisions: Rows[Decision], folder: str, as_json: bool) -> int:
    if as_json:
        print_json(decisions.to_dicts())
    elif decisions:
        print_table(
            ("decided", "verdict", "columns", "note", ""),
            [(each.decided[:10], each.verdict, each.columns, each.note, _state(each)) for each in decisions],
            loose={"columns": 40, "note": 16},
        )
    else:
        echo(f"Nothing was decided in {folder}.")
    return 0 if decisions else 1


def _state(decision: Decision) -> str:
    return f"not in the index: {', '.join(decision.missing)}" if decision.missing else ""
