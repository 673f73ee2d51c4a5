"""What `dovetail join` says about two files."""

from __future__ import annotations

import click

from dovetail.cli.output import count
from dovetail.join.transform.explain import explained, in_words
from dovetail.join.two_tables import TwoTables

_WAYS = {
    "equal": "on equal values",
    "transform": "after a transformation",
    "fuzzy": "by likeness",
    "semantic": "by near vectors",
}
_LABELS = {"words": "In words", "python": "Python", "duckdb": "DuckDB", "spark": "Spark"}


def print_two_tables(joined: TwoTables, explain: bool) -> None:
    if not joined.pairs.num_rows:
        click.echo("Nothing joins: no columns of the two tables have equal, transformable or like values.")
        return
    left, right = (" and ".join(names) for names in (joined.left_columns, joined.right_columns))
    alike = (
        f", {count(joined.fuzzy_pairs, 'pair')} of them by likeness"
        if joined.fuzzy_pairs and joined.way != "fuzzy"
        else ""
    )
    click.echo(
        f"{count(joined.pairs.num_rows, 'pair')} of rows{alike}: {left} = {right}, {_WAYS[joined.way]}. "
        f"{joined.matched_left:,} of {joined.left.num_rows:,} rows on the left match {joined.matched_right:,} of "
        f"{joined.right.num_rows:,} on the right."
    )
    if joined.key:
        click.echo(f"Of the composite key of the other table is taken: {in_words(joined.key)}")
    for number, program in enumerate(joined.programs, start=1):
        told = explained(program)
        title = f"Program {number} of {len(joined.programs)}" if len(joined.programs) > 1 else "Program"
        click.echo(f"{title}, on the {joined.transformed} table: {told['words']}")
        for name in ("python", "duckdb", "spark") if explain else ():
            click.echo(f"  {_LABELS[name]}: {told[name]}")
