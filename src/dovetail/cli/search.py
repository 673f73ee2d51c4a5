"""`dovetail search`"""

from __future__ import annotations

import functools
import shlex
from pathlib import Path

import click

from dovetail.api import Lake
from dovetail.cli.output import json_option, print_json, print_table
from dovetail.errors import InputError
from dovetail.search.results import Hit, Hits

_SHOWN_COLUMNS = 3


@click.command("search", short_help="Find the tables that join with mine.")
@click.argument("query")
@click.option("--index", "index", required=True, type=click.Path(path_type=Path), help="The folder of the index.")
@click.option(
    "--on", metavar="COLUMN,…", help="The column of mine to join on, or several together; without it, each is tried."
)
@click.option("--threshold", metavar="SHARE", help="Every column that holds at least this share of mine, e.g. 0.7.")
@click.option("-k", "k", default=10, show_default=True, help="How many hits.")
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
    k: int,
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
    --fast shows what sketches find (LSH Ensemble) before the exact answer; with --json it gives only that.

    \b
    Example:
      dovetail search sales.csv --on country --index ./idx
      dovetail search weather.csv --on city,date --index ./idx
    """
    lake = Lake(index)
    search = functools.partial(
        lake.search,
        query,
        on,
        k,
        threshold=threshold,
        tables=tables,
        min_overlap=min_overlap,
        include_self=include_self,
    )
    hits = search(fast=fast)
    if explain is not None:
        click.echo(_chosen(hits, explain).explain())
    elif as_json:
        print_json(hits.to_json())
    elif fast:
        _print(hits)
        hits = _refined(hits, search())
    elif hits:
        _print(hits)
        click.echo(f"Try:  dovetail join {query} {hits[0].table} --index {index}{_pairs(hits[0])} -o joined.parquet")
    else:
        click.echo(_nothing(hits))
    return 0 if hits else 1


def _refined(about: Hits, exact: Hits) -> Hits:
    """Say what the exact answer changes, and return it."""
    pairs = [[(hit.table, hit.columns, hit.overlap) for hit in hits] for hits in (about, exact)]
    if pairs[0] == pairs[1]:
        click.echo("The exact answer is the same.")
    else:
        click.echo("The exact answer:")
        _print(exact)
    return exact


def _chosen(hits: Hits, rank: int) -> Hit:
    if not 1 <= rank <= len(hits):
        raise InputError(f"There is no hit {rank}: the search found {len(hits)}.")
    return hits[rank - 1]


def _print(hits: Hits) -> None:
    rows = []
    for hit in hits:
        more = len(hit.brings) - _SHOWN_COLUMNS
        brings = ", ".join(hit.brings[:_SHOWN_COLUMNS]) + (f" (+{more})" if more > 0 else "")
        covers = f"{hit.overlap:,} of {hit.query_size:,}"
        note = hit.warning.split(":")[0]
        on = f"{', '.join(hit.on)} → {', '.join(hit.columns)}"
        rows.append((hit.rank, hit.table, on, covers, hit.cardinality, brings, note))
    print_table(("#", "table", "on", "covers", "join", "brings", ""), rows, numbers=("#", "covers"))


def _pairs(hit: Hit) -> str:
    """The columns of a key; a single pair is what join finds by itself."""
    if len(hit.on) < 2:
        return ""
    pairs = ",".join(f"{mine}={theirs}" for mine, theirs in zip(hit.on, hit.columns, strict=True))
    return f" --on {shlex.quote(pairs)}"


def _nothing(hits: Hits) -> str:
    if hits.nearest is None:
        what = (
            "table of the lake holds a tuple of the key of"
            if hits.how == "keys"
            else "column of the lake shares a value with"
        )
        return f"No {what} {hits.query}."
    near = hits.nearest
    return (
        f"No table joins well with {hits.query}. The nearest: {near.table}, {near.columns[0]} shares {near.overlap:,} "
        f"of the {near.query_size:,} values of {near.on[0]}. Try --min-overlap 2 to see such hits."
    )
