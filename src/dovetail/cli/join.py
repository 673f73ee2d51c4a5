"""`dovetail join`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dovetail._output import check_place, whole_file, write_csv
from dovetail.api.join import join
from dovetail.cli.files import STANDARD, WRITERS, check_output, from_standard_input, print_rows, write_table
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.join_report import report_lines
from dovetail.cli.options import conf_of, index_option, json_option, spark_options, way_option, way_settings
from dovetail.cli.output import count, echo, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.errors import InputError
from dovetail.join.best_predicate.scores import PREFERENCES
from dovetail.join.execute import condition_of
from dovetail.join.request import (
    ALIASES,
    KINDS,
    MAX_GROWTH,
    MAX_ROWS,
    METHODS,
    METHODS_WITH_WAYS,
    SECONDS,
    SUFFIX,
    VALIDATIONS,
    JoinRequest,
)
from dovetail.join.result import JoinResult
from dovetail.tables.column_names import paired
from dovetail.through.mapping import ValueMapping
from dovetail.transform.transformation import Transformation


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
@click.option("--by", type=click.Choice(METHODS), help="The method. Default: what the values suggest.")
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
@click.option("--seconds", type=float, default=SECONDS, show_default=True, help="Time limit of the search for columns.")
@click.option("--max-rows", type=int, default=MAX_ROWS, show_default=True, help="Refuse a join with more rows.")
@click.option(
    "--max-growth", type=float, default=MAX_GROWTH, show_default=True,
    help="Without --on: refuse a join with more than this many rows for each row of the larger table.",
)  # fmt: skip
@way_option(*METHODS_WITH_WAYS, answer="with --by transform or similar. Answers may differ")
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
def join_command(
    left: str,
    right: str,
    more: tuple[str, ...],
    index: str | None,
    on: str | None,
    left_on: str | None,
    right_on: str | None,
    how: str,
    choices: tuple[str, ...],
    pairs: Path | None,
    mapping: Path | None,
    save: Path | None,
    program: Path | None,
    explain: bool,
    master: str | None,
    conf: tuple[str, ...],
    output: Path | None,
    as_csv: bool,
    as_lines: bool,
    as_json: bool,
    **options: Any,
) -> int:
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
      dovetail join names.csv logins.csv --by transform --set way=greedy
      cat people.csv | dovetail join - orders.csv --csv > out.csv
    """
    to_standard_output = as_csv or as_lines or (output is not None and str(output) == STANDARD)
    if program and options["by"]:
        raise InputError("--program already has a transformation; drop --by.")
    if conf and not master:
        raise InputError("--conf needs --master.")
    for path in (pairs, save):
        if path:
            check_place(path)
    if mapping and options["by"] != "through":
        raise InputError("--mapping needs --by through.")
    for path in filter(None, (output, mapping)):
        check_output(path, (left, right, *more))
    options["by"] = Transformation.load(program) if program else options["by"]
    options["equal"] = _pair(options["equal"])
    options |= way_settings(choices)
    if master:
        if pairs or mapping or explain or to_standard_output:
            raise InputError("--master writes rows to -o; drop --pairs, --mapping, --explain, --csv and --nl.")
        request = JoinRequest(on=paired(on, _names(left_on), _names(right_on)), how=how, **options)
        return _join_on_spark((left, right, *more), index, request, output, save, (master, conf_of(conf)), as_json)
    options |= {"on": on, "left_on": _names(left_on), "right_on": _names(right_on), "how": how}
    with from_standard_input(left, right, *more) as tables:
        with long_question() as progress:
            progress("joining", 0, 0)
            joined = _joined(index, tables, options)
        if save:
            _save(joined.transformation, save)
        if mapping:
            write_table((joined.mapping or ValueMapping()).to_arrow(), mapping)
        if pairs:
            with whole_file(pairs) as draft:
                write_csv(joined.pairs, str(draft))
        if output and not to_standard_output:
            write_table(joined.table, output)
        found = 0 if len(joined.matches.left) else 1
        if to_standard_output:
            print_rows(joined.table, as_lines)
            return found
        if as_json:
            print_json({**joined.report, "sql": _sql(joined, mapping), "output": str(output) if output else None})
            return found
        echo("\n".join(report_lines(joined, explain, _sql(joined, mapping) if explain else None)))
        if output:
            echo(f"Written: {output}")
        elif not (pairs or mapping or explain) and joined.rows:
            print_table(*joined.shown())
        return found


def _joined(index: str | None, tables: list[str], options: dict[str, Any]) -> JoinResult:
    """With the lake, if there is an index. More than two tables need none, though DOVETAIL_INDEX may be set."""
    if index is None or len(tables) > 2:
        return join(*tables, **options)
    from dovetail.api.lake import Lake

    return Lake(index).join(*tables, **options)


def _sql(joined: JoinResult, mapping: Path | None) -> str | None:
    """Over the mapping if it was written, and if that gives the same rows."""
    return (joined.sql_over(mapping) if mapping and joined.mapping else None) or joined.sql


def _pair(written: str | None) -> tuple[str, str] | None:
    mine, sign, theirs = (written or "").partition("=")
    return (mine, theirs if sign else mine) if written else None


def _names(written: str | None) -> list[str] | None:
    return None if written is None else written.split(",")


def _save(transformation: Transformation | None, path: Path) -> None:
    """Say so if nothing was learned, and go on: the join must not be lost."""
    if transformation is None:
        echo(f"{path} was not written: no transformation was learned.", err=True)
    else:
        transformation.save(path)


def _join_on_spark(
    tables: tuple[str, ...], index: str | None, request: JoinRequest, output: Path | None, save: Path | None,
    spark: tuple[str, dict[str, str]], as_json: bool,
) -> int:  # fmt: skip
    if len(tables) > 2 or not output or (request.on is None and request.by is None):
        raise InputError("--master needs two tables, -o, and --on, --by or --program.")
    from dovetail._spark.session import SparkRequest
    from dovetail.api.lake import Lake
    from dovetail.join.spark import join_on_spark

    segments = Lake(index).segments if index and request.by == "through" else None
    with stops_in_order():
        joined = join_on_spark(tables[0], tables[1], request, output, SparkRequest(None, *spark), segments)
    if save:
        _save(joined.transformation, save)
    if as_json:
        print_json(joined.report)
    else:
        lines = [
            f"{count(joined.rows, 'row')}: {joined.how} join by {joined.by}. {joined.matched_left:,} of "
            f"{joined.left_rows:,} rows on the left match {joined.matched_right:,} of {joined.right_rows:,} on the "
            f"right.",
            f"Columns: {condition_of(joined.columns)}. {joined.why}",
            *([f"Transformation: {joined.transformation}"] if joined.transformation else []),
            f"Written: {output}",
        ]
        echo("\n".join(lines))
    return 0 if joined.matched_left else 1
