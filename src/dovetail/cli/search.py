"""`dovetail search`"""

from __future__ import annotations

import functools
import shlex
from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import print_json, print_table
from dovetail.errors import InputError
from dovetail.search.hits import LOOSE, NUMBERS, Hit, Hits
from dovetail.search.planner import HOWS


@click.command("search", short_help="Find the tables that join with mine.")
@click.argument("query")
@click.option("--index", "index", required=True, type=click.Path(path_type=Path), help="The folder of the index.")
@click.option(
    "--on", metavar="COLUMN,…", help="The column of mine to join on, or several together; without it, each is tried."
)
@click.option("--threshold", metavar="SHARE", help="Every column that holds at least this share of mine, e.g. 0.7.")
@click.option(
    "--how",
    type=click.Choice(HOWS),
    default=HOWS[0],
    show_default=True,
    help="By equal values, after a transformation of one side, or by near values.",
)
@click.option("--tau", metavar="SHARE", help="With --how semantic: how far apart values may be; 0.06 without it.")
@click.option(
    "--mapping", type=click.Path(path_type=Path), help="With --how semantic: write which values match, as CSV."
)
@click.option("-k", "k", type=int, help="How many hits; 10 without it.")
@click.option("--tables", multiple=True, metavar="GLOB", help="Only tables whose path matches. May be repeated.")
@click.option("--min-overlap", default=1, show_default=True, help="The least number of common values.")
@click.option("--include-self", is_flag=True, help="Let my own table be a hit, where it is in the lake.")
@click.option("--fast", is_flag=True, help="Answer from sketches first, which may miss some; then the exact answer.")
@click.option("--explain", type=int, metavar="RANK", help="Say why the hit with this rank is one.")
@json_option
def search_command(
    query: str,
    index: Path,
    on: str | None,
    threshold: str | None,
    how: str,
    tau: str | None,
    mapping: Path | None,
    k: int | None,
    tables: tuple[str, ...],
    min_overlap: int,
    include_self: bool,
    fast: bool,
    explain: int | None,
    as_json: bool,
) -> int:
    """Find the tables of INDEX that join with QUERY (a file, or a table of the lake), exactly.

    By default the columns that share most values are found (JOSIE); with --threshold all that hold a share of mine.
    Several columns, with commas, must match together, row by row (MATE); any columns of a table may stand for them.
    With --how transform, tables are found whose values can be made of mine, or mine of theirs, by a program that is
    learned (Auto-Join): first and last names that are e-mail addresses there.
    With --how semantic values match that are spelt or meant alike (PEXESO): all columns are found in which 60 % of my
    rows have a match, or what --threshold or -k say; numbers and short codes only match their equals.
    --fast shows what sketches find (LSH Ensemble) before the exact answer; with --json it gives only that.

    \b
    Example:
      dovetail search sales.csv --on country --index ./idx
      dovetail search weather.csv --on city,date --index ./idx
      dovetail search staff.csv --on name --how transform --index ./idx
      dovetail search hotels.csv --on address --how semantic --index ./idx
    """
    lake = Lake(index)
    search = functools.partial(
        lake.search,
        query,
        on,
        k,
        how=how,
        tau=tau,
        threshold=threshold,
        tables=tables,
        min_overlap=min_overlap,
        include_self=include_self,
    )
    if mapping and how != "semantic":
        raise InputError("--mapping is for search by spelling or meaning: add --how semantic.")
    hits = search(fast=fast)
    if mapping:
        from dovetail.search.semantic.hit import write_mapping

        write_mapping(hits, mapping)
    if explain is not None:
        click.echo(_chosen(hits, explain).explain())
    elif as_json:
        print_json(hits.to_json())
    elif fast:
        hits = _refined(hits, search(), query, index)
    else:
        _say(hits, query, index)
    return 0 if hits else 1


def _say(hits: Hits, query: str, index: Path) -> None:
    if hits:
        _print(hits)
        click.echo(_next(query, index, hits[0]))
    else:
        click.echo(hits.sentence + _hint(hits))
    if hits.note:
        click.echo(hits.note)


def _refined(about: Hits, exact: Hits, query: str, index: Path) -> Hits:
    """Say what the sketches found and what the exact answer changes; return the latter."""
    pairs = [[(hit.table, hit.columns, hit.overlap) for hit in hits] for hits in (about, exact)]
    if about:
        _print(about)
    else:
        click.echo("The sketches find nothing.")
    if about and pairs[0] == pairs[1]:
        click.echo(f"The exact answer is the same.\n{_next(query, index, exact[0])}")
    else:
        click.echo("The exact answer:")
        _say(exact, query, index)
    return exact


def _chosen(hits: Hits, rank: int) -> Hit:
    if not 1 <= rank <= len(hits):
        raise InputError(f"There is no hit {rank}: the search found {len(hits)}.")
    return hits[rank - 1]


def _print(hits: Hits) -> None:
    headings, rows = hits.shown()
    print_table(headings, rows, NUMBERS, LOOSE)


def _next(query: str, index: Path, hit: Hit) -> str:
    """The command that joins the best hit, ready to paste."""
    if type(hit) is Hit:
        how = ["--on", ",".join(f"{mine}={theirs}" for mine, theirs in zip(hit.on, hit.columns, strict=True))]
    else:
        from dovetail.search.semantic.hit import SemanticHit

        how = ["--on", ",".join(hit.on), "--by", "semantic" if isinstance(hit, SemanticHit) else "transform"]
    command = ["dovetail", "join", query, hit.table, "--index", str(index), *how, "-o", "joined.parquet"]
    return f"Try:  {shlex.join(command)}"


def _hint(hits: Hits) -> str:
    """How to see what was not good enough."""
    if hits.how == "semantic":
        return "\nTry a lower --threshold, or a larger --tau (at most 0.1)."
    least = min((hit.overlap for hit in hits.nearest), default=0)
    if hits.how == "containment" and least:
        return "\nTry a lower --threshold."
    return f"\nTry --min-overlap {least} to see them, or --on COLUMN to search with one column." if least > 1 else ""
