"""`dovetail inds`"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import (
    arguments,
    check_conf,
    conf_of,
    index_option,
    json_option,
    spark_options,
    split_index,
)
from dovetail.cli.output import count, echo, note, print_json, print_table, print_written
from dovetail.cli.progress import long_question
from dovetail.graph.arrow_answer import SUFFIXES, check_suffix


@click.command("inds", short_help="Find which columns are included in which.")
@arguments("")
@index_option
@click.option(
    "--partial", metavar="SHARE", help="Find partial dependencies, too: at least this share of the values is included."
)
@click.option(
    "--nary", type=click.IntRange(2, 6), metavar="N", help="Find dependencies of 2 to N columns together, not of one."
)
@click.option("--nulls", is_flag=True, help="Include columns without any value; matters with --null-equal only.")
@click.option("--integers", is_flag=True, help="Include columns of whole numbers.")
@click.option("--non-unique", is_flag=True, help="Let referenced columns repeat values.")
@click.option(
    "--coverage", metavar="SHARE", default="0.2", show_default=True,
    help="The smallest share of the referenced column's values that the dependent column has; 0 keeps all.",
)  # fmt: skip
@click.option("--null-equal", is_flag=True, help="Treat null as equal to null, as most papers do.")
@spark_options("Find them on this Spark master; by default, in threads of this process.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "-k", type=click.IntRange(min=1), default=25, show_default=True, help="How many to print; --json and -o have all."
)
@json_option
def inds_command(
    arguments: tuple[str, ...],
    index: str | None,
    partial: str | None,
    nary: int | None,
    nulls: bool,
    integers: bool,
    non_unique: bool,
    coverage: str,
    null_equal: bool,
    master: str | None,
    conf: tuple[str, ...],
    output: Path | None,
    k: int,
    as_json: bool,
) -> int:
    """Find the inclusion dependencies of the lake: columns whose values all occur in another column, best first.

    Most are true and useless, since small numbers occur in every long list of numbers. By default, columns of whole
    numbers are left out, referenced columns must not repeat values, and a fifth of their values must be in use.
    `dovetail keys` shows which dependencies are likely foreign keys.

    \b
    Example:
      dovetail inds ./idx
      dovetail inds ./idx --partial 0.9 --integers -o inds.parquet
    """
    if output:
        check_suffix(output)
    check_conf(conf, master)
    index, _ = split_index(index, arguments)
    # On Spark an interrupt has to stop tasks and free the index first, which may take longer than a second.
    with stops_in_order() if master else nullcontext(), long_question() as progress:
        found = Lake(index).inds(
            partial=partial or 1,
            coverage=coverage,
            null_columns=nulls,
            integers=integers,
            non_unique=non_unique,
            null_equal=null_equal,
            nary=nary or 1,
            master=master,
            conf=conf_of(conf),
            progress=progress,
        )
        rows = found.write(output) if output else len(found)
    if output:
        print_written(count(rows, "inclusion dependency", "inclusion dependencies"), rows, output, as_json)
    elif as_json:
        print_json(found.to_dicts())
    elif not rows:
        echo(f"No column of {index} is included in another. Try --integers, --non-unique or --partial 0.9.")
    else:
        _print_best(found.to_dicts(k), rows)
    return 0 if rows else 1


def _print_best(best: list[dict[str, Any]], found: int) -> None:
    print_table(
        ("table", "column", "table ", "column ", "contained", "covers", "score"),
        [
            (
                *(r["dependent_table"], ", ".join(r["dependent_columns"])),
                *(r["referenced_table"], ", ".join(r["referenced_columns"])),
                *(f"{r['containment']:.0%}", f"{r['coverage']:.0%}"),
                "decided" if r["decided"] else f"{r['score']:.2f}",
            )
            for r in best
        ],
        numbers=("contained", "covers", "score"),
        loose={"table": 20, "table ": 20, "column": 12, "column ": 12},
    )
    if found > len(best):
        note(f"… and {found - len(best):,} more: -k for more lines, -o FILE for all.")
