"""`dovetail tables`, `columns`, `find` and `info`: what is in an index."""

from __future__ import annotations

from typing import Any

import click

from dovetail.api.lake import Lake
from dovetail.api.tables import Column, ColumnLine, Occurrence
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, distinct, echo, note, print_json, print_table, size, wider
from dovetail.errors import InputError
from dovetail.results import Rows

_MANY_SEGMENTS = 16


@click.command("tables", short_help="List the tables of an index.")
@arguments("[GLOB]")
@index_option
@click.option("--skipped", is_flag=True, help="List only skipped files, with the reason.")
@json_option
def tables_command(arguments: tuple[str, ...], index: str | None, skipped: bool, as_json: bool) -> int:
    """List the tables of INDEX, or those whose id matches GLOB, one line each.

    \b
    Example:
      dovetail tables ./idx 'geo/*'
    """
    folder, given = split_index(index, arguments, ("[GLOB]",))
    lake, pattern = Lake(folder), (given or ["*"])[0]
    lines = [line for line in lake.tables(pattern) if line.error or not skipped]
    if as_json:
        print_json([line.to_dict() for line in lines])
    elif lines:
        rows = [
            (line.table, line.rows, line.columns, size(line.bytes), f"skipped: {line.error}" if line.error else "")
            for line in lines
        ]
        headings = ("table", "rows", "columns", "size", "")
        print_table(headings, rows, numbers=("rows", "columns", "size"), loose={"table": 30})
    else:
        hint = "" if skipped else wider(pattern, lake.tables)
        echo(f"No {'skipped file' if skipped else 'table'} of {folder} matches {pattern!r}.{hint}")
    return 0 if lines else 1


@click.command("columns", short_help="Profile the columns of a table.")
@arguments("TABLE")
@index_option
@json_option
def columns_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Profile the columns of TABLE.

    Nulls, distinct values and uniqueness are counted after normalisation, as a join would see them. A column is a key
    if every row has a value and no value repeats. Length is the mean and the maximum number of characters. The last
    column shows the most frequent values with their numbers of rows, or the first values if none repeats; after it
    come the keys that the database declares, if it does: primary key, unique, and what a foreign key refers to. Where
    cells hold several values, the type says what separates them ([] for JSON lists).

    \b
    Example:
      dovetail columns ./idx geo/countries.csv
    """
    folder, (table,) = split_index(index, arguments, ("TABLE",))
    found = Lake(folder).table(table)
    if as_json:
        print_json(found.columns.to_dicts())
    elif found.error:
        echo(f"{found.name} was skipped: {found.error}.")
    else:
        ragged = f" ({count(found.record.ragged_rows, 'ragged row')})" if found.record.ragged_rows else ""
        note(f"{found.name}: {count(found.rows, 'row')}{ragged}, {count(len(found.columns), 'column')}")
        declared = ("declared",) if found.declared else ()
        print_table(
            ("column", "type", "nulls", "distinct", "unique", "length", "range", "such as", *declared),
            [_line(column, bool(declared)) for column in found.columns],
            numbers=("nulls", "distinct", "unique"),
            loose={"column": 16, "range": 9, "such as": 14},
        )
    return 1 if found.error else 0


def _line(column: Column, declared: bool) -> tuple[object, ...]:
    record = column.record
    share = ">99%" if 0.99 < record.uniqueness < 1 else f"{record.uniqueness:.0%}"
    unique = "key" if record.is_key else share
    length = f"{record.mean_length:.0f}, max {record.max_length:,}" if record.max_length else ""
    span = f"{record.minimum[:20]} … {record.maximum[:20]}" if record.distinct > 1 else record.minimum[:20]
    top = ", ".join(f"{value[:24]} ({rows:,})" if rows > 1 else value[:24] for value, rows in record.top[:3])
    keys = ("; ".join(column.declared.sentences()),) if declared else ()
    kind = record.type.kind if column.separator is None else f"{record.type.kind}, several by {column.separator}"
    return (column.name, kind, record.nulls, record.distinct, unique, length, span, top, *keys)


@click.command("find", short_help="Find a value, or columns by name.")
@arguments("[VALUE]")
@index_option
@click.option("--column", "pattern", metavar="PATTERN", help="Find columns by name (a glob).")
@click.option(
    "-k", type=click.IntRange(min=1), default=50, show_default=True,
    help="How many lines to print; --json prints all.",
)  # fmt: skip
@json_option
def find_command(arguments: tuple[str, ...], index: str | None, pattern: str | None, k: int, as_json: bool) -> int:
    """Show where VALUE occurs in INDEX, or with --column, which columns have a name.

    VALUE is normalised by each column's type: in a column of numbers, 7.0 finds 7; in text, case does not matter.
    Put -- before a value that begins with a hyphen: dovetail find ./idx -- -5

    \b
    Example:
      dovetail find ./idx Zürich
      dovetail find ./idx --column '*country*'
    """
    folder, given = split_index(index, arguments, ("[VALUE]",))
    value = given[0] if given else None
    if (value is None) == (pattern is None):
        raise InputError("Give either a value or --column PATTERN, as in: dovetail find ./idx Zürich")
    lake = Lake(folder)
    found: Rows[Occurrence] | Rows[ColumnLine]
    found = lake.find(value) if value is not None else lake.find_columns(str(pattern))
    if as_json:
        print_json(found.to_dicts())
        return 0 if found else 1
    if not found:
        if value is not None:
            echo(f"No column of {folder} contains {value!r}.")
        else:
            echo(f"No column of {folder} is called {pattern!r}.{wider(str(pattern), lake.find_columns)}")
        return 1
    rows = [tuple(row.to_dict().values()) for row in found[:k]]
    print_table(
        list(found[0].to_dict()), rows, numbers=("rows", "nulls", "distinct"), loose={"table": 30, "column": 16}
    )
    if len(found) > k:
        note(f"… and {count(len(found) - k, 'more column')}; -k {len(found)} shows all.")
    return 0


@click.command("info", short_help="Show what an index is made of.")
@arguments("")
@index_option
@json_option
def info_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> None:
    """Show what INDEX is made of: generation, segments, sizes by index, settings.

    \b
    Example:
      dovetail info ./idx
    """
    folder, _ = split_index(index, arguments)
    info = Lake(folder).info()
    if as_json:
        print_json(info)
        return
    echo(f"{info['path']}: generation {info['generation']}, {count(info['segments'], 'segment')}")
    echo(
        f"{count(info['tables'], 'table')} · {count(info['columns'], 'column')} · {count(info['rows'], 'row')} · "
        f"{distinct(info['values'], info['values_are_exact'])} · {size(info['bytes'])} of raw tables"
    )
    parts = ", ".join(f"{name} {size(number)}" for name, number in sorted(info["index_bytes_by_part"].items()))
    echo(f"{size(info['index_bytes'])} of index" + (f": {parts}" if parts else ""))
    for root in info["roots"]:
        echo(f"Lake: {_root(root)}")
    if info["settings"]:
        echo("Frozen settings: " + ", ".join(f"{name} {value}" for name, value in info["settings"].items()))
    if info["dead_tables"] or info["segments"] > _MANY_SEGMENTS:
        dead = f"{count(info['dead_tables'], 'removed table')} still on disk. " if info["dead_tables"] else ""
        echo(f"{dead}`dovetail compact {folder}` makes it smaller and faster.")


def _root(root: dict[str, Any]) -> str:
    """A root with the choices that the index remembers of it."""
    choices = [f"tables below {root['prefix']}"] if root["prefix"] else []
    choices += [f"only {pattern}" for pattern in root["tables"]]
    choices += [f"without {pattern}" for pattern in root["exclude"]]
    choices += [f"{pattern} read as {dialect}" for pattern, dialect in root["dialects"]]
    place = root["path"] if root["pattern"] == "*" else f"{root['path']}/{root['pattern']}"
    return place + (f" ({'; '.join(choices)})" if choices else "")
