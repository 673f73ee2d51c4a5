"""What `dovetail join` says about a join."""

from __future__ import annotations

import click

from dovetail.cli.output import count
from dovetail.join.joined import Joined
from dovetail.join.many_tables import ManyTables
from dovetail.join.two_tables import TwoTables
from dovetail.transform.explain import explained, in_words

_NOTHING = {"given": "the columns have no value in common.", "semantic": "no values are near."}
_WAYS = {
    "given": "on equal values",
    "equal": "on equal values",
    "transform": "after a transformation",
    "fuzzy": "by likeness",
    "semantic": "by near vectors",
}
_LABELS = {"words": "In words", "python": "Python", "duckdb": "DuckDB", "spark": "Spark"}


def print_joined(joined: Joined) -> None:
    """Of a table of the lake."""
    on = " and ".join(f"{mine} = {theirs}" for mine, theirs in joined.on)
    click.echo(
        f"{joined.table.num_rows:,} rows, {len(joined.table.column_names)} columns: {joined.how} join on {on}. "
        f"{joined.matched_left:,} of your {joined.left_rows:,} rows match {joined.matched_right:,} of "
        f"{joined.right_rows:,}."
    )
    _print_unmatched(joined)


def print_two_tables(joined: TwoTables, explain: bool) -> None:
    if not joined.pairs.num_rows:
        click.echo(f"Nothing joins: {_NOTHING.get(joined.way, 'there are no equal, transformable or like values.')}")
        return
    alike = (
        f", {count(joined.fuzzy_pairs, 'pair')} of them by likeness"
        if joined.fuzzy_pairs and joined.way != "fuzzy"
        else ""
    )
    click.echo(
        f"{count(joined.pairs.num_rows, 'pair')} of rows{alike}: {_columns(joined)}, {_WAYS[joined.way]}. "
        f"{joined.matched_left:,} of {joined.left.num_rows:,} rows on the left match {joined.matched_right:,} of "
        f"{joined.right.num_rows:,} on the right."
    )
    click.echo(f"{_kind(joined.how)}, {joined.joined.cardinality}: {count(joined.rows, 'row')}. {joined.why}")
    if joined.key:
        click.echo(f"Of the composite key of the other table is taken: {in_words(joined.key)}")
    for number, program in enumerate(joined.programs, start=1):
        told = explained(program)
        title = f"Program {number} of {len(joined.programs)}" if len(joined.programs) > 1 else "Program"
        click.echo(f"{title}, on the {joined.transformed} table: {told['words']}")
        for name in ("python", "duckdb", "spark") if explain else ():
            click.echo(f"  {_LABELS[name]}: {told[name]}")
    _print_unmatched(joined.joined)
    if explain:
        click.echo(f"SQL:\n{joined.sql or 'No short query gives the same rows.'}")


def print_many(joined: ManyTables) -> None:
    on = joined.predicate.written([side.name for side in joined.sides])
    click.echo(f"{count(joined.rows, 'row')}: {joined.how} join of {len(joined.sides)} tables on {on}. {joined.why}")
    for table, step in zip(joined.order[1:], joined.steps, strict=True):
        click.echo(
            f"  {joined.sides[table].name}: {step.matched_right:,} of {step.right_rows:,} rows match "
            f"{step.matched_left:,} of the {step.left_rows:,} before, {step.cardinality}."
        )


def _columns(joined: TwoTables) -> str:
    if joined.predicate:
        return " and ".join(f"{left} = {right}" for left, right in joined.predicate)
    return " = ".join(" and ".join(names) for names in (joined.left_columns, joined.right_columns))


def _kind(how: str) -> str:
    return f"{how.capitalize()} join"


def _print_unmatched(joined: Joined) -> None:
    for where, values in (("", joined.unmatched), (" on the right", joined.unmatched_right)):
        if values:
            click.echo(f"Not matched{where}: {', '.join(values)}")
