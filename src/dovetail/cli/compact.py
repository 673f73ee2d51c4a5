"""`dovetail compact`"""

from __future__ import annotations

import click

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import (
    arguments,
    conf_of,
    index_option,
    json_option,
    parts_of,
    settings_of,
    settings_option,
    spark_options,
    split_index,
)
from dovetail.cli.output import count, echo, print_json, size


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
