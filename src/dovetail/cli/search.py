"""`dovetail search`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.files import from_standard_input
from dovetail.cli.options import conf_of, index_option, json_option, need_index, spark_options
from dovetail.cli.output import print_explanation, print_json
from dovetail.cli.progress import long_question
from dovetail.cli.search_options import SearchOptions
from dovetail.cli.search_report import print_answer, print_answers, print_stages, search_folder, search_folder_on_spark
from dovetail.methods.registry import EQUAL, SEARCH_METHODS
from dovetail.search.hits import Hits
from dovetail.search.semantic.hit import write_mapping


@click.command("search", short_help="Find the tables that join with a table of yours.")
@click.argument("query", required=False)
@index_option
@click.option(
    "--many",
    metavar="FOLDER",
    help="Search with every table of FOLDER, here or in an object store, instead of QUERY.",
)
@click.option(
    "--on", metavar="COLUMN,…", help="The column of QUERY to join on, or several together. Default: each is tried."
)
@click.option("--by", type=click.Choice(SEARCH_METHODS), default=EQUAL.name, show_default=True, help="The method.")
@click.option("--threshold", metavar="SHARE", help="Find all columns that contain this share of the values, e.g. 0.7.")
@click.option(
    "--min-similarity",
    metavar="NUMBER",
    help="With --by semantic: how likely two values must name the same thing to match, up to 1 (equal). Default: 0.5.",
)
@click.option(
    "--mapping", type=click.Path(path_type=Path), help="With --by semantic: write the matching values as CSV."
)
@click.option("-k", "k", type=int, help="How many hits to find. Default: 10.")
@click.option("--tables", multiple=True, metavar="GLOB", help="Only tables whose id matches. May be repeated.")
@click.option("--min-overlap", default=1, show_default=True, help="The smallest number of common values.")
@click.option("--include-self", is_flag=True, help="Include QUERY itself, if it is in the lake.")
@click.option(
    "--copies/--no-copies",
    default=None,
    help="Show near-copies of a hit on lines of their own. Default: only with --threshold.",
)
@click.option("--fast", is_flag=True, help="First show what sketches find, which may miss some hits.")
@click.option("--target", metavar="COLUMN", help="Rank by what the columns of a hit add to predicting COLUMN of QUERY.")
@click.option("--explain", type=int, metavar="RANK", help="Explain the hit with this rank.")
@json_option
@click.option("--json-lines", "as_lines", is_flag=True, help="Print hits as JSON lines: first approximate, then exact.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="With --many: write all hits to .parquet, .arrow or .feather.",
)
@spark_options("With --many: search on this Spark master; by default threads of this process do.")
def search_command(**options: Any) -> int:
    """Find the tables of the index that join with QUERY: a file, - for standard input, or a table of the lake.

    By default, the columns that share most values with QUERY are found (JOSIE); with --threshold, all columns that
    contain at least that share of its values, or the best -k of them. Several columns, separated by commas, must match
    together, row by row (MATE).

    With --by transform, tables are found that join after a transformation, which is learned (Auto-Join): from first and
    last names to e-mail addresses, for example.

    With --by semantic, values match if they are similar in spelling or meaning (PEXESO). All columns are found in which
    half of the rows have a match, unless --threshold or -k is given. Numbers and short codes match only equal values.

    With --by through, tables are found that hold what belongs to the values of QUERY, as other tables of the lake say
    that hold both: capitals of countries, for example.

    With --target, hits are ranked by the share of the variance of COLUMN that their columns explain beyond those of
    QUERY, on a sample of the join.

    Near-copies of a hit, such as the other days of a daily report, are counted in its line ("and 69 like it"); --copies
    and --threshold show them all, and --json names them.

    --json-lines prints hits as they are found: first those of sketches (LSH Ensemble), then the exact ones, with what
    has changed. --fast prints both as tables; with --json or --json-lines, only those of sketches. On a terminal, those
    of sketches are shown unasked where the values occur in so many columns that the exact answer takes a while. --many
    searches with all tables of a folder and prints their hits as JSON lines, or writes them to a file.

    The exit code is 1 if nothing is found.

    \b
    Example:
      dovetail search sales.csv --on country --index ./idx
      dovetail search weather.csv --on city,date --index ./idx
      dovetail search staff.csv --on name --by transform --index ./idx
      dovetail search hotels.csv --on address --by semantic --index ./idx
      dovetail search countries.csv --on name --by through --index ./idx
      dovetail search flats.csv --target price --index ./idx
      dovetail search --many ./reports --index ./idx -o hits.parquet
      dovetail search --many ./reports --index ./idx -o hits.parquet --master spark://head:7077
    """
    return _answer(SearchOptions(**options))


def _answer(asked: SearchOptions) -> int:
    """Ask the index and print what it finds. Returns the exit code."""
    index, request = need_index(asked.index), asked.request
    if asked.many is not None:
        return _search_folder(asked, asked.many, index, {**request, "fast": asked.fast})
    assert asked.query is not None  # or many would be given
    with from_standard_input(asked.query) as (data,):
        lake = Lake(index)
        if asked.as_lines:
            return print_stages(lake, data, {**request, "fast": asked.fast})
        if asked.in_stages:
            return print_answers(_stages(lake, data, request, asked.fast), asked.query, index)
        with long_question("searching"):
            hits = lake.search(data, **request, fast=asked.fast, target=asked.target)
        _print_hits(hits, asked, index)
    return 0 if hits or hits.to_append else 1


def _search_folder(asked: SearchOptions, folder: str, index: str, request: dict[str, Any]) -> int:
    if asked.master:
        return search_folder_on_spark(index, folder, asked.output, request, asked.master, conf_of(asked.conf))
    return search_folder(Lake(index), folder, asked.output, request)


def _stages(lake: Lake, data: Any, request: dict[str, Any], fast: bool) -> Iterator[Hits]:
    """The approximate answer and the exact one; without `fast`, the first only where the second takes a while."""
    if not fast:
        return lake.search_iter(data, **request, when_long=True)
    return (lake.search(data, **request, fast=stage) for stage in (True, False))


def _print_hits(hits: Hits, asked: SearchOptions, index: str) -> None:
    if asked.mapping:
        write_mapping(hits, asked.mapping)
    if asked.explain is not None:
        print_explanation(hits, asked.explain, asked.as_json)
    elif asked.as_json:
        print_json(hits.to_json())
    else:
        print_answer(hits, str(asked.query), index)
