"""`dovetail inds`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import count, print_json, print_table
from dovetail.graph.output import SUFFIXES, check_suffix


@click.command("inds", short_help="Find which columns are included in which.")
@click.argument("index", type=click.Path(path_type=Path))
@click.option("--partial", metavar="SHARE", help="Also where at least this share of the values is included.")
@click.option(
    "--nary", type=click.IntRange(2, 6), metavar="N", help="Dependencies of 2 to N columns together, instead of one."
)
@click.option("--nulls", "nulls", is_flag=True, help="Keep columns without values (with --null-equal).")
@click.option("--integers", "integers", is_flag=True, help="Keep columns of whole numbers.")
@click.option("--non-unique", "non_unique", is_flag=True, help="Let columns be referenced that repeat values.")
@click.option(
    "--coverage", metavar="SHARE", default="0.2", show_default=True,
    help="How much of the referenced column the dependent one has at least; 0 keeps all.",
)  # fmt: skip
@click.option("--null-equal", is_flag=True, help="Take null for a value that equals null, as the paper does.")
@click.option(
    "--master", metavar="URL", default=None,
    help="A Spark master to spread the work over; by default, threads of this process.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=25, show_default=True,
    help="How many lines to print; --json and --output have all.",
)  # fmt: skip
@json_option
def inds_command(
    index: Path,
    partial: str | None,
    nary: int | None,
    nulls: bool,
    integers: bool,
    non_unique: bool,
    coverage: str,
    null_equal: bool,
    master: str | None,
    output: Path | None,
    limit: int,
    as_json: bool,
) -> int:
    """Find the inclusion dependencies of the lake in INDEX: columns whose values all stand in another, best first.

    Most are true and useless, as every small number stands in every long list of numbers. So columns of whole numbers
    are left out, only columns without repeated values are referenced, and a fifth of them must be in use, unless the
    options say otherwise. `dovetail keys` ranks those that are likely to be foreign keys.

    \b
    Example:
      dovetail inds ./idx
      dovetail inds ./idx --partial 0.9 --integers -o inds.parquet
    """
    if output:
        check_suffix(output)
    found = Lake(index).inds(
        partial=partial or 1,
        coverage=coverage,
        null_columns=nulls,
        integers=integers,
        non_unique=non_unique,
        null_equal=null_equal,
        nary=nary or 1,
        master=master,
    )
    if output:
        click.echo(
            f"{count(found.write(output), 'dependency')} written: {output}".replace("dependencys", "dependencies")
        )
        return 0
    if as_json:
        print_json(found.to_dicts())
        return 0 if len(found) else 1
    if not len(found):
        click.echo(f"No column of {index} is included in another. Try --integers, --non-unique or --partial 0.9.")
        return 1
    rows = [
        (
            *(r["dependent_table"], ", ".join(r["dependent_columns"])),
            *(r["referenced_table"], ", ".join(r["referenced_columns"])),
            *(f"{r['containment']:.0%}", f"{r['coverage']:.0%}", f"{r['score']:.2f}"),
        )
        for r in found.to_dicts(limit)
    ]
    print_table(
        ("table", "column", "table ", "column ", "contained", "covers", "score"),
        rows,
        numbers=("contained", "covers", "score"),
        loose={"table": 20, "table ": 20, "column": 12, "column ": 12},
    )
    if len(found) > limit:
        click.echo(f"… and {len(found) - limit:,} more; -o FILE writes all.")
    return 0
