"""`dovetail search`"""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.files import from_standard_input
from dovetail.cli.options import (
    conf_of,
    index_option,
    json_option,
    need_index,
    spark_options,
    way_option,
    way_settings,
)
from dovetail.cli.output import echo, note, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.cli.search_lines import print_stages, search_folder, search_folder_on_spark
from dovetail.errors import InputError
from dovetail.search.hits import LOOSE, NUMBERS, Hit, Hits
from dovetail.search.request import METHODS, QUESTIONS_WITH_WAYS
from dovetail.search.semantic.hit import SemanticHit, write_mapping


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
@click.option("--by", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="The method.")
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
@click.option("--copies", is_flag=True, help="Show near-copies of a hit on lines of their own.")
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
@way_option(*itertools.chain(*QUESTIONS_WITH_WAYS.values()))
@spark_options("With --many: search on this Spark master; by default threads of this process do.")
def search_command(
    query: str | None,
    index: str | None,
    many: str | None,
    on: str | None,
    by: str,
    threshold: str | None,
    min_similarity: str | None,
    mapping: Path | None,
    k: int | None,
    tables: tuple[str, ...],
    min_overlap: int,
    include_self: bool,
    copies: bool,
    fast: bool,
    target: str | None,
    explain: int | None,
    as_json: bool,
    as_lines: bool,
    output: Path | None,
    choices: tuple[str, ...],
    master: str | None,
    conf: tuple[str, ...],
) -> int:
    """Find the tables of the index that join with QUERY: a file, - for standard input, or a table of the lake.

    By default, the columns that share most values with QUERY are found (JOSIE); with --threshold, all columns that
    contain at least that share of its values. Several columns, separated by commas, must match together, row by row
    (MATE).

    With --by transform, tables are found that join after a transformation, which is learned (Auto-Join): from first and
    last names to e-mail addresses, for example.

    With --by semantic, values match if they are similar in spelling or meaning (PEXESO). All columns are found in which
    half of the rows have a match, unless --threshold or -k is given. Numbers and short codes match only equal values.

    With --by through, tables are found that hold what belongs to the values of QUERY, as other tables of the lake say
    that hold both: capitals of countries, for example.

    With --target, hits are ranked by the share of the variance of COLUMN that their columns explain beyond those of
    QUERY, on a sample of the join.

    Near-copies of a hit, such as the other days of a daily report, are counted in its line ("and 69 like it"); --copies
    shows them all, and --json names them.

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
      dovetail search sales.csv --on country --index ./idx --set way=merge_list
      dovetail search weather.csv --on city,date --index ./idx --set way=mate --set start=city
      dovetail search flats.csv --target price --index ./idx
      dovetail search --many ./reports --index ./idx -o hits.parquet
      dovetail search --many ./reports --index ./idx -o hits.parquet --master spark://head:7077
    """
    if mapping and by != "semantic":
        raise InputError("--mapping needs --by semantic.")
    if (query is None) == (many is None):
        raise InputError("Name one table to search with, or a folder of them with --many.")
    for name, given in (("--output", output), ("--master", master)):
        if given and not many:
            raise InputError(f"{name} needs --many.")
    if conf and not master:
        raise InputError("--conf needs --master.")
    if (many or as_lines) and (mapping or explain is not None or as_json):
        raise InputError("--many and --json-lines do not go with --json, --explain and --mapping.")
    folder = need_index(index)
    if target and (many is not None or as_lines):
        raise InputError("--target does not go with --many or --json-lines.")
    options: dict[str, Any] = {
        "on": on, "k": k, "by": by, "min_similarity": min_similarity, "threshold": threshold, "tables": tables,
        "min_overlap": min_overlap, "include_self": include_self, "copies": copies, **way_settings(choices),
    }  # fmt: skip
    if many is not None and master:
        return search_folder_on_spark(folder, many, output, {**options, "fast": fast}, master, conf_of(conf))
    if many is not None:
        return search_folder(Lake(folder), many, output, {**options, "fast": fast})
    assert query is not None  # as checked above
    with from_standard_input(query) as (data,):
        if as_lines:
            return print_stages(Lake(folder), data, {**options, "fast": fast})
        lake = Lake(folder)
        if not (as_json or mapping or target or explain is not None) and (fast or sys.stdout.isatty()):
            answers = lake.search_iter(data, **options, when_long=True)
            if fast:
                answers = (lake.search(data, **options, fast=stage) for stage in (True, False))
            return _print_answers(answers, query, folder)
        with long_question() as progress:
            progress("searching", 0, 0)
            hits = lake.search(data, **options, fast=fast, target=target)
        if mapping:
            write_mapping(hits, mapping)
        if explain is not None:
            _explain(_chosen(hits, explain), as_json)
        elif as_json:
            print_json(hits.to_json())
        else:
            _show(hits)
            _say_next(hits, query, folder)
    return 0 if hits or hits.to_append else 1


def _explain(hit: Hit, as_json: bool) -> None:
    if as_json:
        print_json({**hit.to_dict(), "explanation": hit.explain()})
    else:
        echo(hit.explain())


def _show(hits: Hits) -> None:
    if hits:
        print_table(*hits.shown(), NUMBERS, LOOSE)
    else:
        echo(hits.sentence)


def _say_next(hits: Hits, query: str, index: str) -> None:
    """What to do next, and what to know of the answer."""
    if hits.append_sentence:
        note(hits.append_sentence)
    if hits or hits.to_append:
        note(f"Try:  {shlex.join(_next(hits, query, index))}")
    elif hint := _hint(hits):
        echo(hint)
    if hits.note:
        note(hits.note)


def _print_answers(answers: Iterator[Hits], query: str, index: str) -> int:
    """Print each answer as it comes, the exact one only where it says something new. Returns the exit code."""
    last: Hits | None = None
    while (hits := _awaited(answers)) is not None:
        same = last is not None and _same(last, hits)
        if last is not None:
            echo("The exact answer is the same." if same else "The exact answer:")
        if not same:
            _show(hits)
        last = hits
    assert last is not None  # every search has an answer
    _say_next(last, query, index)
    return 0 if last or last.to_append else 1


def _awaited(answers: Iterator[Hits]) -> Hits | None:
    with long_question() as progress:
        progress("searching", 0, 0)
        return next(answers, None)


def _same(one: Hits, other: Hits) -> bool:
    shown = ([(hit.table, hit.columns, hit.overlap) for hit in hits] for hits in (one, other))
    return next(shown) == next(shown)


def _chosen(hits: Hits, rank: int) -> Hit:
    if not 1 <= rank <= len(hits):
        raise InputError(f"There is no hit {rank}; the search found {len(hits)}.")
    return hits[rank - 1]


def _next(hits: Hits, query: str, index: str) -> list[str]:
    """The command that joins the best hit, or appends it, ready to paste."""
    if not hits or hits[0].rather == "union":
        table = hits[0].table if hits else hits.to_append[0].table
        return ["dovetail", "union", query, table, "--index", str(index), "-o", "appended.parquet"]
    hit = hits[0]
    theirs = hit.columns * len(hit.on) if len(hit.columns) == 1 else hit.columns
    on = ",".join(f"{mine}={other}" for mine, other in zip(hit.on, theirs, strict=True))
    method = [] if hit.by == "equal" else ["--by", hit.by]
    if isinstance(hit, SemanticHit):
        method += ["--min-similarity", f"{hit.min_similarity:g}"]
    command = ["dovetail", "join", query, hit.table, "--index", str(index), "--on", on, *method]
    return [*command, "-o", "joined.parquet"]


def _hint(hits: Hits) -> str:
    """How to see the nearest matches."""
    if hits.by == "semantic":
        return "Try a lower --threshold, or a lower --min-similarity."
    least = min((hit.overlap for hit in hits.nearest), default=0)
    if hits.question == "containment" and least:
        return "Try a lower --threshold."
    return f"Try --min-overlap {least} to see them, or --on COLUMN to search with one column." if least > 1 else ""
