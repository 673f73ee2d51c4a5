"""`dovetail join`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from dovetail._output import check_place, whole_file
from dovetail.api.lake import Lake
from dovetail.cli.join_explained import print_joined, print_many, print_two_tables
from dovetail.cli.options import json_option
from dovetail.cli.output import count, print_json, print_table
from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import SECONDS
from dovetail.join.best_predicate.scores import PREFERENCES
from dovetail.join.joined import KINDS, MOST_ROWS, Joined
from dovetail.join.many_tables import ManyTables
from dovetail.join.tables import join
from dovetail.join.two_tables import WAYS, TwoTables
from dovetail.transform.transformation import Transformation

_WRITERS: dict[str, Callable[[pa.Table, str], None]] = {
    ".csv": pyarrow.csv.write_csv,
    ".parquet": pyarrow.parquet.write_table,
    ".arrow": pyarrow.feather.write_feather,
    ".feather": pyarrow.feather.write_feather,
}
_OF_HITS = ("transform", "semantic")
_SHOWN_ROWS = 10
_SHOWN_COLUMNS = 8


@click.command("join", short_help="Join my table with one of the lake, or files.")
@click.argument("left")
@click.argument("right")
@click.argument("more", nargs=-1)
@click.option("--index", type=click.Path(path_type=Path), help="The folder of the index that RIGHT is a table of.")
@click.option(
    "--on",
    metavar="MINE=THEIRS,…",
    help="The columns to join on, several with commas; without it, the best are found.",
)
@click.option("--how", type=click.Choice(KINDS), help="The kind of join; without it inner, and left with --index.")
@click.option(
    "--by", type=click.Choice(WAYS), help="Join in this way only; with --index: transform or semantic, of --on."
)
@click.option(
    "--prefer",
    type=click.Choice(list(PREFERENCES)),
    help="Files: what the best columns are; without it a key, where the values show one.",
)
@click.option(
    "--seconds", type=float, default=SECONDS, show_default=True, help="Files: the most to spend on finding columns."
)
@click.option(
    "--most-rows", type=int, default=MOST_ROWS, show_default=True, help="Files: refuse a join of more rows than this."
)
@click.option(
    "--pairs", type=click.Path(path_type=Path), help="Two files: write the joined row numbers, from 0, as CSV."
)
@click.option("--equal", metavar="MINE=THEIRS", help="Two files, --by fuzzy: columns that must be equal beside.")
@click.option("--save", type=click.Path(path_type=Path), help="Two files: write the program that was learned, as JSON.")
@click.option("--program", type=click.Path(path_type=Path), help="Two files: join by the program in this file.")
@click.option("--explain", is_flag=True, help="Two files: the program in words, as Python and as SQL; the join as SQL.")
@click.option(
    "--master",
    metavar="URL",
    help="Two files that do not fit into memory: join them on this Spark master, with --on, into a folder.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(_WRITERS)}.")
@json_option
def join_command(
    left: str,
    right: str,
    more: tuple[str, ...],
    index: Path | None,
    on: str | None,
    how: str | None,
    by: str | None,
    prefer: str | None,
    seconds: float,
    most_rows: int,
    pairs: Path | None,
    equal: str | None,
    save: Path | None,
    program: Path | None,
    explain: bool,
    master: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Join LEFT (a file, or a table of the lake) with RIGHT, a table of INDEX, on equal values as search counts them.

    Without an index, all are files, and the way is found: the columns that are given; else those whose equal values
    join best; else a transformation of one table's columns that gives the key of the other, or likeness. With --by
    semantic, rows go to what is nearest in spelling. MORE files are joined on equal values.

    \b
    Example:
      dovetail join people.csv orders.csv --prefer compact --how outer -o out.parquet
      dovetail join sales.csv geo/countries.csv --index ./idx --on country=name -o joined.parquet
      dovetail join presidents.csv approval.csv --explain --save program.json
    """
    of_two = {"--pairs": pairs, "--equal": equal, "--save": save, "--program": program, "--explain": explain}
    _refuse_mixtures(of_two, by, prefer, index, more, master)
    if master:
        if not (on and output) or more or index:
            raise InputError("With --master, two files, --on and -o are needed.")
        _join_on_spark((left, right), on, how or "inner", output, master, most_rows, as_json)
        return 0
    write = _writer(output, (left, right, *more)) if output else None
    joined = (
        _with_lake(index, left, right, on, how, by)
        if index
        else join(
            left,
            right,
            *more,
            by=Transformation.load(program) if program else by,
            equal=_pair(equal),
            prefer=prefer,
            how=how or "inner",
            on=on,
            seconds=seconds,
            most_rows=most_rows,
        )
    )
    if save and isinstance(joined, TwoTables):
        _save(joined, save)
    if output and write:
        with whole_file(output) as draft:
            write(joined.table, str(draft))
    if pairs and isinstance(joined, TwoTables):
        _write_pairs(joined, pairs)
    found = 1 if isinstance(joined, TwoTables) and not joined.pairs.num_rows else 0
    if as_json:
        report = joined.report() if isinstance(joined, Joined) else joined.report
        print_json({**report, "output": str(output) if output else None})
        return found
    _print_report(joined, explain)
    if output:
        click.echo(f"Written: {output}")
    elif not (pairs or explain) and joined.rows:
        _print_rows(joined.table)
    return found


def _refuse_mixtures(
    of_two: dict[str, Any],
    by: str | None,
    prefer: str | None,
    index: Path | None,
    more: tuple[str, ...],
    master: str | None,
) -> None:
    """Options that go together with no index, two files, or no cluster only."""
    if index:
        other = None if by in _OF_HITS else by
        _refuse({"--by": other, "--prefer": prefer, **of_two, "MORE": more}, "files, without --index")
    if more:
        _refuse(of_two, "two files")
    if by and of_two["--program"]:
        raise InputError("--by looks for a way to join, --program has one: leave one of them out.")
    if master:
        _refuse({"--by": by, "--prefer": prefer, **of_two}, "joins without --master")


def _with_lake(index: Path, left: str, right: str, on: str | None, how: str | None, by: str | None) -> Joined:
    lake = Lake(index)
    if by not in _OF_HITS:
        return lake.join(left, right, on=on, how=how or "left")
    lake.table(right)  # or one sentence
    hits = lake.search(left, on=on, how=by, k=1, tables=(right,), include_self=True)
    if not hits:
        raise InputError(f"{hits.sentence} Asked was {right}.")
    return lake.join(left, hits[0], how=how or "left")


def _pair(written: str | None) -> tuple[str, str] | None:
    mine, sign, theirs = (written or "").partition("=")
    return (mine, theirs if sign else mine) if written else None


def _save(joined: TwoTables, path: Path) -> None:
    if joined.transformation is None:
        raise InputError("There is no program to save: the tables join without one, or not at all.")
    joined.transformation.save(path)


def _join_on_spark(
    files: tuple[str, str], on: str, how: str, output: Path, master: str, most_rows: int, as_json: bool
) -> None:
    from dovetail.join.spark import join_on_spark

    joined = join_on_spark(*files, on, how, output, master, most_rows)
    if as_json:
        print_json(joined.report())
        return
    click.echo(
        f"{count(joined.rows, 'row')}: {how} join. {joined.matched_left:,} of {joined.left_rows:,} rows on the left "
        f"match {joined.matched_right:,} of {joined.right_rows:,} on the right.\nWritten: {output}"
    )


def _refuse(options: dict[str, Any], what: str) -> None:
    for name, value in options.items():
        if value:
            raise InputError(f"{name} is for {what}.")


def _writer(output: Path, inputs: Sequence[str]) -> Callable[[pa.Table, str], None]:
    if output.suffix not in _WRITERS:
        raise InputError(f"Cannot write {output.suffix or 'a file without suffix'}: use {', '.join(_WRITERS)}.")
    check_place(output)
    if any(Path(each).exists() and output.exists() and output.samefile(each) for each in inputs):
        raise InputError(f"{output} is one of the files to join: write to another.")
    return _WRITERS[output.suffix]


def _write_pairs(joined: TwoTables, path: Path) -> None:
    with whole_file(path) as draft, draft.open("wb") as file:
        file.write(b"left_row,right_row\n")  # Arrow would put names in quotes
        pyarrow.csv.write_csv(joined.pairs, file, pyarrow.csv.WriteOptions(include_header=False))


def _print_report(joined: Joined | TwoTables | ManyTables, explain: bool) -> None:
    if isinstance(joined, Joined):
        print_joined(joined)
    elif isinstance(joined, ManyTables):
        print_many(joined)
    else:
        print_two_tables(joined, explain)


def _print_rows(table: pa.Table) -> None:
    names = table.column_names[:_SHOWN_COLUMNS]
    rows = [[value or "" for value in row.values()] for row in table.select(names).slice(0, _SHOWN_ROWS).to_pylist()]
    more = len(table.column_names) - len(names)
    print_table([*names, f"(+{more})"] if more else names, [[*row, ""] if more else row for row in rows])
