"""`dovetail verify`, `remove`, `compact` and `clean`: what is done to an index without reading the lake."""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import (
    arguments,
    conf_of,
    index_option,
    json_option,
    keep_option,
    parts_of,
    settings_of,
    settings_option,
    spark_options,
    split_index,
)
from dovetail.cli.output import count, echo, print_json, size, wider
from dovetail.errors import InputError


@click.command("compact", short_help="Merge segments and free the space of removed tables.")
@arguments("")
@index_option
@spark_options("The Spark master; by default all cores of this machine.")
@click.option("--with", "with_parts", default="", metavar="PARTS", help="Add parts that were left out, e.g. 'pexeso'.")
@click.option("--without", default="", metavar="PARTS", help="Drop parts: of lists, mate, pexeso and pieces.")
@settings_option("segment_mb", "memory_mb")
@json_option
def compact_command(
    arguments: tuple[str, ...],
    index: str | None,
    master: str | None,
    conf: tuple[str, ...],
    with_parts: str,
    without: str,
    choices: tuple[str, ...],
    as_json: bool,
) -> None:
    """Merge the small segments of INDEX and free the space of removed tables.

    The index remembers which parts it has.

    \b
    Example:
      dovetail compact ./idx
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline.maintain import compact

    index, _ = split_index(index, arguments)
    with stops_in_order():
        done = compact(
            index, SparkRequest(None, master, conf_of(conf)), settings_of(choices),
            with_parts=parts_of(with_parts), without=parts_of(without),
        )  # fmt: skip
    if as_json:
        print_json(vars(done))
    elif (done.segments_before, done.bytes_before) == (done.segments_after, done.bytes_after):
        echo(f"Nothing to merge: {count(done.segments_after, 'segment')}, {size(done.bytes_after)}.")
    else:
        echo(
            f"{index} had {count(done.segments_before, 'segment')} of {size(done.bytes_before)} and has "
            f"{count(done.segments_after, 'segment')} of {size(done.bytes_after)} now (generation {done.generation})."
        )


@click.command("remove", short_help="Take tables out of an index.")
@arguments("GLOB...")
@index_option
@json_option
def remove_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Take tables out of INDEX. Their files stay, and the next `index` finds them again unless excluded.

    \b
    Example:
      dovetail remove ./idx 'old/*.csv'
    """
    from dovetail.api.lake import Lake
    from dovetail.pipeline.maintain import remove_tables

    index, patterns = split_index(index, arguments, ["GLOB..."])
    if Path(patterns[0]).is_dir():
        raise InputError(f"{patterns[0]} is not an index, nor a glob for tables of {index}.")
    with stops_in_order():
        removed = remove_tables(index, patterns)
    if as_json:
        print_json({"removed": removed})
    elif removed:
        echo(f"Removed {count(len(removed), 'table')}: {', '.join(removed[:5])}{', …' if len(removed) > 5 else ''}")
        echo("`dovetail index` finds them again while their files are there; --exclude keeps them out.")
    else:
        hint = wider(patterns[0], Lake(index).tables)
        echo(f"No table of {index} matches {' or '.join(map(repr, patterns))}.{hint}")
    return 0 if removed else 1


@click.command("verify", short_help="Check every checksum and every cross-reference.")
@arguments("")
@index_option
@json_option
def verify_command(arguments: tuple[str, ...], index: str | None, as_json: bool) -> int:
    """Check every checksum and every cross-reference of INDEX. Exits with 1 if anything is broken.

    \b
    Example:
      dovetail verify ./idx
    """
    from dovetail.api.lake import verify

    index, _ = split_index(index, arguments)
    found = verify(index)
    if as_json:
        print_json({**vars(found), "problems": list(found.problems), "whole": not found.problems})
    elif found.problems:
        echo(f"{index} is damaged: {count(len(found.problems), 'problem')}.")
        for problem in found.problems:
            echo(f"  {problem}")
        echo("The lake itself is not touched: build the index again into a new folder with `dovetail index`.")
    else:
        echo(
            f"{index} is whole: generation {found.generation}, {count(found.segments, 'segment')}, "
            f"{count(found.tables, 'file')}, {size(found.bytes)} checked."
        )
    return 1 if found.problems else 0


@click.command("clean", short_help="Remove generations that nobody needs any more.")
@arguments("")
@index_option
@keep_option
@json_option
def clean_command(arguments: tuple[str, ...], index: str | None, keep_hours: float | None, as_json: bool) -> None:
    """Remove old generations of INDEX, what builds that were stopped have left, and say how much that was.

    Commands that write to an index do the same. A generation that is being read stays. In an object store nobody knows
    who reads: there old generations, and segments that no generation has, stay for a day.

    \b
    Example:
      dovetail clean s3://lake/index --keep 2
    """
    from dovetail.api.index import clean

    address, _ = split_index(index, arguments)
    with stops_in_order():
        done = clean(address, keep_hours=keep_hours)
    if as_json:
        print_json(vars(done))
    elif done.generations or done.segments:
        echo(
            f"Removed {count(done.generations, 'old generation')} and {count(done.segments, 'segment')} "
            f"({size(done.bytes)}) of {address}."
        )
    else:
        echo(f"Nothing to remove from {address}.")
