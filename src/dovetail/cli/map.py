"""`dovetail map`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.files import WRITERS, check_output, from_standard_input, write_table
from dovetail.cli.options import index_option, json_option, need_index
from dovetail.cli.output import count, echo, note, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.errors import InputError
from dovetail.tables.input_table import only_column, open_table
from dovetail.through.mapping import ValueMapping


@click.command("map", short_help="Find the values that belong to those of a column.")
@click.argument("table")
@click.argument("column", required=False)
@index_option
@click.option("--example", "examples", multiple=True, metavar="VALUE=PARTNER", help="A pair that belongs together.")
@click.option("--to", metavar="TABLE", help="A table with the values to choose from.")
@click.option("--to-column", metavar="COLUMN", help="Its column. Default: its only one.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help=f"Write the pairs to a file ({', '.join(WRITERS)})."
)
@click.option(
    "-k", type=click.IntRange(min=1), default=20, show_default=True, help="How many pairs to print; --json prints all."
)
@json_option
def map_command(
    table: str,
    column: str | None,
    index: str | None,
    examples: tuple[str, ...],
    to: str | None,
    to_column: str | None,
    output: Path | None,
    k: int,
    as_json: bool,
) -> int:
    """Find what belongs to each value of COLUMN of TABLE, by the tables of the index that have both in one row.

    TABLE is a file, - for standard input, or a table of the lake. With --example, the partners come from the lake, as
    normalised values; with --to, from a table of yours. The exit code is 1 if no value has a partner.

    \b
    Example:
      dovetail map countries.csv name --example Japan=Tokyo --example Peru=Lima --index ./idx
      dovetail map countries.csv name --to capitals.csv --to-column city --index ./idx -o mapping.csv
    """
    if bool(examples) == bool(to):
        raise InputError("Give either --example VALUE=PARTNER, once or several times, or --to TABLE.")
    lake = Lake(need_index(index))
    if output:
        check_output(output, [table, *([to] if to else [])])
    with from_standard_input(table, *([to] if to else [])) as tables, long_question("mapping"):
        mine = open_table(tables[0], segments=lake.segments)
        size = only_column(mine, column).size
        found = lake.map(mine, _target(lake, tables[1:], to_column) or dict(map(_pair, examples)), column=column)
    if output:
        write_table(found.to_arrow(), output)
    if as_json:
        print_json({"pairs": found.to_dicts(), "tables": found.tables.to_dicts(), "values": size})
    else:
        _print(found, size, k)
    return 0 if found else 1


def _target(lake: Lake, tables: list[str], column: str | None) -> list[str] | None:
    if not tables:
        return None
    found = only_column(open_table(tables[0], segments=lake.segments), column)
    values: list[str] = found.written.to_pylist()
    return values


def _pair(written: str) -> tuple[str, str]:
    value, sign, partner = written.partition("=")
    if not (value and sign and partner):
        raise InputError(f"--example {written!r} is not of the form VALUE=PARTNER.")
    return value, partner


def _print(found: ValueMapping, size: int, k: int) -> None:
    if not found:
        echo("No table of the lake relates these values.")
        return
    mapped = len({pair.value for pair in found})
    pairs = f" in {count(len(found), 'pair')}" if len(found) > mapped else ""
    tables = len({step.table for bridge in found.tables for step in bridge.steps})
    echo(f"{count(mapped, 'value')} of {size:,}{pairs}, by {count(tables, 'table')}.")
    names, rows = found.shown()
    print_table(list(names), [tuple(row) for row in rows[:k]], numbers=("probability", "support"))
    if len(found) > k:
        note(f"… and {len(found) - k:,} more; -k {len(found)} shows all.")
