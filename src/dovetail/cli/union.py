"""`dovetail union`"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.api.union import union
from dovetail.cli.files import STANDARD, WRITERS, check_output, from_standard_input, print_rows, write_table
from dovetail.cli.options import index_option, json_option, need_index
from dovetail.cli.output import echo, note, print_explanation, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.errors import InputError
from dovetail.union.append import UnionResult
from dovetail.union.hits import LOOSE, NUMBERS


@click.command("union", short_help="Find tables to append to a table of yours, or append them.")
@click.argument("mine")
@click.argument("appended", nargs=-1, metavar="[TABLE]...")
@index_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True),
    help=f"Write all rows to a file ({', '.join(WRITERS)}), or to standard output as CSV (-).",
)  # fmt: skip
@click.option("--all-columns", is_flag=True, help="Keep the columns of TABLE that MINE does not have, too.")
@click.option("-k", "k", type=int, default=10, show_default=True, help="How many tables to find.")
@click.option("--tables", multiple=True, metavar="GLOB", help="Find only tables whose id matches. May be repeated.")
@click.option("--include-self", is_flag=True, help="Include MINE itself, if it is in the lake.")
@click.option("--explain", type=int, metavar="RANK", help="Explain the hit with this rank.")
@json_option
def union_command(
    mine: str,
    appended: tuple[str, ...],
    index: str | None,
    output: Path | None,
    all_columns: bool,
    k: int,
    tables: tuple[str, ...],
    include_self: bool,
    explain: int | None,
    as_json: bool,
) -> int:
    """Find the tables of the index whose rows could be appended to MINE; or, if TABLE is given, append them.

    MINE is a file, - for standard input, or a table of the lake; TABLE is a file or a table of the lake. Columns are
    aligned one to one, by their values, names, types and spelling. The appended table has the columns of MINE, null
    where TABLE has no counterpart, and a column `origin` with the name of each row's table. Copies and versions of
    MINE are marked as such. The exit code is 1 if nothing is found.

    \b
    Example:
      dovetail union sales-2024.csv --index ./idx
      dovetail union sales-2024.csv archive/sales-2023.csv --index ./idx -o sales.parquet
      dovetail union january.csv february.csv march.csv -o quarter.csv
    """
    if not appended:
        if output or all_columns:
            raise InputError("-o and --all-columns need a TABLE to append.")
        return _find(mine, need_index(index), k, tables, include_self, explain, as_json)
    if output:
        check_output(output, (mine, *appended))
    with from_standard_input(mine, *appended) as given, long_question("appending"):
        result = union(*given, all_columns=all_columns, index=index)
    if output and str(output) == STANDARD:
        print_rows(result.table, False)
        return 0
    if output:
        write_table(result.table, output)
    if as_json:
        print_json({**result.report, "output": str(output) if output else None})
    else:
        _say(result, output)
    return 0


def _find(
    mine: str, index: str, k: int, tables: tuple[str, ...], include_self: bool, explain: int | None, as_json: bool
) -> int:
    with from_standard_input(mine) as (data,), long_question("searching"):
        hits = Lake(index).union(data, k, tables=tables, include_self=include_self)
    if explain is not None:
        print_explanation(hits, explain, as_json)
    elif as_json:
        print_json(hits.to_json())
    elif hits:
        headings, rows = hits.shown()
        print_table(headings, rows, NUMBERS, LOOSE)
        command = ["dovetail", "union", mine, hits[0].table, "--index", str(index), "-o", "appended.parquet"]
        note(f"Try:  {shlex.join(command)}")
    else:
        echo(hits.sentence)
    return 0 if hits else 1


def _say(appended: UnionResult, output: Path | None) -> None:
    echo(appended.sentence)
    for part in appended.report["appended"]:
        pairs = ", ".join(f"{pair['mine']} = {pair['theirs']}" for pair in part["columns"])
        echo(f"{part['table']}: {part['rows']:,} rows; {pairs}")
        for words, names in (("no counterpart of", part["only_mine"]), ("besides", part["only_theirs"])):
            if names:
                echo(f"  {words}: {', '.join(names)}")
    if output:
        echo(f"Written: {output}")
    else:
        print_table(*appended.shown())
