"""`dovetail join`, and what it prints about a join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from dovetail._output import whole_file, write_csv
from dovetail.api.join import join
from dovetail.cli.files import WRITERS, from_standard_input, print_rows, save_transformation, write_table
from dovetail.cli.join_on_spark import join_on_spark
from dovetail.cli.join_options import JoinOptions
from dovetail.cli.options import index_option, json_option, spark_options
from dovetail.cli.output import echo, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.join.best_predicate.scores import PREFERENCES
from dovetail.join.compete import Judged
from dovetail.join.request import (
    ALIASES,
    KINDS,
    MAX_GROWTH,
    MAX_ROWS,
    SECONDS,
    SUFFIX,
    VALIDATIONS,
)
from dovetail.join.result import JoinResult
from dovetail.methods.registry import JOIN_METHODS
from dovetail.through.mapping import ValueMapping
from dovetail.transform.explain import explained

_TABLES, _DISPUTED = 5, 3  # that are shown of a join through the lake
_LABELS = {"python": "Python", "duckdb": "DuckDB", "spark": "Spark"}


@click.command("join", short_help="Join two tables or more.")
@click.argument("left")
@click.argument("right")
@click.argument("more", nargs=-1)
@index_option
@click.option("--on", metavar="LEFT=RIGHT,…", help="The columns to join on. Default: the best that are found.")
@click.option("--left-on", metavar="COLUMN,…", help="The columns of LEFT to join on; needs --right-on.")
@click.option("--right-on", metavar="COLUMN,…", help="The columns of RIGHT to join on; needs --left-on.")
@click.option(
    "--how", type=click.Choice([*KINDS, *ALIASES]), default=KINDS[0], show_default=True, help="The kind of join."
)
@click.option("--by", type=click.Choice(JOIN_METHODS), help="The method. Default: what the values suggest.")
@click.option(
    "--prefer",
    type=click.Choice(list(PREFERENCES)),
    help="Which columns of equal values are best. Default: key. See: dovetail predicates --help",
)
@click.option(
    "--min-similarity",
    type=float,
    metavar="NUMBER",
    help="With --by similar or semantic: join each value with its most similar one, if at least this similar (0 to 1).",
)
@click.option("--one-to-one", is_flag=True, help="With --by similar: join each key with at most one value.")
@click.option("--equal", metavar="LEFT=RIGHT", help="With --by similar: columns that must also be equal.")
@click.option("--suffix", default=SUFFIX, show_default=True, help="Appended to names of RIGHT that LEFT has too.")
@click.option("--validate", type=click.Choice(list(VALIDATIONS)[:4]), help="Refuse a join with another cardinality.")
@click.option("--indicator", is_flag=True, help="Add columns with the similarity and the origin of each joined row.")
@click.option("--both-keys", is_flag=True, help="Keep equal key columns of the same name of both tables.")
@click.option("--seconds", type=float, default=SECONDS, show_default=True, help="Time limit of the search for columns.")
@click.option("--max-rows", type=int, default=MAX_ROWS, show_default=True, help="Refuse a join with more rows.")
@click.option(
    "--max-growth", type=float, default=MAX_GROWTH, show_default=True,
    help="Without --on: refuse a join with more than this many rows for each row of the larger table.",
)  # fmt: skip
@click.option(
    "--pairs",
    type=click.Path(path_type=Path),
    help="Write the joined pairs of row numbers (from 0) with similarity and origin, as CSV.",
)
@click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    help="With --by through: write the pairs of values with support, probability and tables to a file.",
)
@click.option("--save", type=click.Path(path_type=Path), help="Save the learned transformation as JSON.")
@click.option("--program", type=click.Path(path_type=Path), help="Join by a transformation that was saved with --save.")
@click.option("--explain", is_flag=True, help="Show the transformation in Python and SQL, and the join in SQL.")
@spark_options("Join two tables that do not fit in memory on this Spark master; needs -o, and --on, --by or --program.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True),
    help=f"Write the rows to a file ({', '.join(WRITERS)}), or to standard output as CSV (-).",
)  # fmt: skip
@click.option("--csv", "as_csv", is_flag=True, help="Print all rows as CSV.")
@click.option("--nl", "as_lines", is_flag=True, help="Print all rows as JSON lines.")
@json_option
def join_command(**options: Any) -> int:
    """Join LEFT with RIGHT, and with MORE.

    Each is a file or - for standard input. With an index, LEFT and RIGHT may be tables of the lake.

    Without --on and --by, all methods compete: equal values of one column or several, a transformation of one table's
    columns into the key of the other (Auto-Join), and similar values. The join that a person would most likely accept
    is made; if none is likely enough, nothing joins. With --by through, values join that occur together in
    rows of other tables of the index, as countries and capitals do. More than two tables are joined on equal values.
    The exit code is 1 if nothing joins.

    \b
    Example:
      dovetail join people.csv orders.csv --how outer -o out.parquet
      dovetail join sales.csv geo/countries.csv --index ./idx --on country=name -o joined.parquet
      dovetail join presidents.csv approval.csv --explain --save program.json
      dovetail join countries.csv capitals.csv --by through --index ./idx --mapping mapping.csv
      cat people.csv | dovetail join - orders.csv --csv > out.csv
    """
    asked = JoinOptions(**options)
    request = asked.request
    if asked.master:
        return join_on_spark(asked, request)
    with from_standard_input(*asked.tables) as tables:
        with long_question("joining"):
            joined = _joined(asked.index, tables, request)
        if joined.is_made:
            _write_files(joined, asked)
        _print_joined(joined, asked)
        if len(joined.matches.left):
            return 0
        if asked.to_standard_output or asked.as_json:  # which do not say it to a person
            echo("\n".join(report_lines(joined, False, None)), err=True)
        return 1


def _joined(index: str | None, tables: list[str], request: dict[str, Any]) -> JoinResult:
    """With the lake, if there is an index. More than two tables need none, though DOVETAIL_INDEX may be set."""
    if index is None or len(tables) > 2:
        return join(*tables, **request)
    from dovetail.api.lake import Lake

    return Lake(index).join(*tables, **request)


def _write_files(joined: JoinResult, asked: JoinOptions) -> None:
    if asked.save:
        save_transformation(joined.transformation, asked.save)
    if asked.mapping:
        write_table((joined.mapping or ValueMapping()).to_arrow(), asked.mapping)
    if asked.pairs:
        with whole_file(asked.pairs) as draft:
            write_csv(joined.pairs, str(draft))
    if asked.output and not asked.to_standard_output:
        write_table(joined.table if asked.output.suffix == ".csv" else joined.frame, asked.output)


def _print_joined(joined: JoinResult, asked: JoinOptions) -> None:
    """The rows, or what is to be said about them."""
    output = asked.output
    if asked.to_standard_output:
        if joined.is_made:
            print_rows(joined.table, asked.as_lines)
    elif asked.as_json:
        sql = _sql(joined, asked.mapping)
        print_json({**joined.report, "sql": sql, "output": str(output) if output and joined.is_made else None})
    else:
        sql = _sql(joined, asked.mapping) if asked.explain else None
        echo("\n".join(report_lines(joined, asked.explain, sql)))
        if output and joined.is_made:
            echo(f"Written: {output}")
        elif output:
            echo(f"Not written: {output}")
        elif joined.is_made and not (asked.pairs or asked.mapping or asked.explain) and joined.rows:
            print_table(*joined.shown())


def _sql(joined: JoinResult, mapping: Path | None) -> str | None:
    """Over the mapping if it was written, and if that gives the same rows."""
    return (joined.sql_over(mapping) if mapping and joined.mapping else None) or joined.sql


def report_lines(joined: JoinResult, explain: bool, sql: str | None) -> Iterator[str]:
    yield joined.sentence
    if not len(joined.matches.left):
        yield from _runner_up_lines(joined.runners_up[1:], "Considered")  # the sentence has the first
        return
    yield joined.why
    if joined.steps:
        yield from _step_lines(joined)
        return
    if joined.mapping is not None:
        yield from _bridge_lines(joined.mapping, explain)
    if joined.transformation:
        yield from _program_lines(joined, explain)
    for side, values in (("left", joined.unmatched_left), ("right", joined.unmatched_right)):
        if values:
            yield f"Not matched on the {side}: {'; '.join(values)}"
    yield from _runner_up_lines(joined.runners_up, "Less likely")
    if explain:
        yield f"SQL:\n{sql or 'No short query gives the same rows.'}"


def _bridge_lines(mapping: ValueMapping, explain: bool) -> Iterator[str]:
    for table in mapping.tables[: None if explain else _TABLES]:
        steps = ", then ".join(f"{step.table}, {step.columns}" for step in table.steps)
        yield f"  {steps}: {table.pairs:,} of {len(mapping):,} pairs, weight {table.weight:.2f}"
    for pair in mapping.disputed[: None if explain else _DISPUTED]:
        yield f"Least certain: {pair.value} = {pair.partner} ({pair.probability:.0%}), or {pair.contradictions[0]}"


def _program_lines(joined: JoinResult, explain: bool) -> Iterator[str]:
    if joined.transformation and joined.transformation.key:
        yield f"Part of the other table's key that is used: {joined.transformation.key.words}"
    for number, program in enumerate(joined.programs, start=1):
        title = f"Program {number} of {len(joined.programs)}" if len(joined.programs) > 1 else "Program"
        texts = explained(program)
        yield f"{title}, on the {joined.transformed} table: {texts['words']}"
        for name, label in _LABELS.items() if explain else ():
            yield f"  {label}: {texts[name] or 'no expression; it runs in the workers'}"


def _runner_up_lines(others: Sequence[Judged], title: str) -> Iterator[str]:
    for other in others:
        against = "; ".join(other.clauses[1])
        yield f"{title}: {other.sentence}{f'; {against}' if against else ''}."


def _step_lines(joined: JoinResult) -> Iterator[str]:
    for step in joined.steps:
        matched = (
            f"{step.matched_right:,} of {step.right.rows:,} rows match {step.matched_left:,} of {step.left.rows:,}"
        )
        yield f"  + {step.right.name} on {step.condition}: {matched} before, {step.cardinality}."
