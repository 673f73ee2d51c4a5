"""`dovetail keys`"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, check_conf, conf_of, index_option, json_option, spark_options, split_index
from dovetail.cli.output import count, echo, print_json, print_written, wider
from dovetail.cli.progress import long_question
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph.arrow_answer import SUFFIXES, ArrowAnswer, check_suffix


@click.command("keys", short_help="Find which columns are likely keys and foreign keys, and why.")
@arguments("[GLOB]")
@index_option
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=LIKELY_REFERENCE, show_default=True,
    help="The lowest score of a foreign key, from 0 to 1.",
)  # fmt: skip
@click.option("--candidates", is_flag=True, help="Only candidate keys: columns that could be keys.")
@spark_options("Find them on this Spark master, if they are not kept; by default, in threads of this process.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "-k", type=click.IntRange(min=1), default=25, show_default=True, help="How many to print; --json and -o have all."
)
@json_option
def keys_command(
    arguments: tuple[str, ...],
    index: str | None,
    min_score: float,
    candidates: bool,
    master: str | None,
    conf: tuple[str, ...],
    output: Path | None,
    k: int,
    as_json: bool,
) -> int:
    """Find likely foreign keys, best first, and the candidate keys that they may refer to, with the reasons.

    A foreign key is a column whose values, or nearly all of them, occur in a column that repeats none. Many do by
    chance; names, values, sizes and folders tell which ones are meant. GLOB limits the answer to foreign keys from or
    to matching tables, and to their candidate keys. -o and --json have the foreign keys, or with --candidates the
    candidate keys.

    The first question to an index finds the keys of the whole lake and keeps them; later ones are quick.

    \b
    Example:
      dovetail keys ./idx
      dovetail keys ./idx orders.csv
      dovetail keys ./idx 'sales/*' --min-score 0.3 -o keys.csv
      dovetail keys ./idx --candidates --json
    """
    if output:
        check_suffix(output)
    check_conf(conf, master)
    index, rest = split_index(index, arguments, ["[GLOB]"])
    pattern = rest[0] if rest else None
    # On Spark an interrupt has to stop tasks first, which may take longer than a second.
    with stops_in_order() if master else nullcontext(), long_question() as progress:
        lake = Lake(index)
        if pattern and not lake.tables(pattern):
            echo(f"No table of {index} matches {pattern!r}.{wider(pattern, lake.tables)}", err=True)
            return 1
        keys = lake.keys(tables=pattern, master=master, conf=conf_of(conf), progress=progress)
        found: ArrowAnswer = keys if candidates else lake.foreign_keys(min_score, tables=pattern)
        rows = found.write(output) if output else len(found)
    if output:
        print_written(count(rows, "candidate key" if candidates else "likely foreign key"), rows, output, as_json)
    elif as_json:
        print_json(found.to_dicts())
    else:
        place = f"{index} ({pattern})" if pattern else str(index)
        if not candidates:
            _print_foreign_keys(found, place, min_score, k)
            echo()
        if candidates or len(keys) <= k:
            _print_candidates(keys, place, k)
        else:
            echo(f"Candidate keys ({len(keys):,}): --candidates lists them.")
    return 0 if rows else 1


def _print_foreign_keys(found: ArrowAnswer, place: str, min_score: float, k: int) -> None:
    if not len(found):
        echo(f"No likely foreign key in {place}. Try --min-score {max(0.0, min_score - 0.2):.1f}.")
        return
    echo(f"Likely foreign keys ({len(found):,}):")
    for row in found.to_dicts(k):
        echo(f"{row['score']:.2f}  {_side(row, 'dependent_')} → {_side(row, 'referenced_')}")
        echo(f"      {'; '.join(row['reasons'])}")
    _print_rest(found, k)


def _print_candidates(found: ArrowAnswer, place: str, k: int) -> None:
    if not len(found):
        echo(f"No candidate key in {place}: every column repeats values.")
        return
    echo(f"Candidate keys ({len(found):,}):")
    for row in found.to_dicts(k):
        echo(f"{row['score']:.2f}  {_side(row, '')}: {'; '.join(row['reasons'])}")
    _print_rest(found, k)


def _print_rest(found: ArrowAnswer, k: int) -> None:
    if len(found) > k:
        echo(f"… and {len(found) - k:,} more: -k for more lines, -o FILE for all.")


def _side(row: dict[str, Any], side: str) -> str:
    return f"{row[f'{side}table']} ({', '.join(row[f'{side}columns'])})"
