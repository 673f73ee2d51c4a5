"""`dovetail index`"""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from dovetail.api.lake import Lake
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.memory import memory_limit
from dovetail.cli.options import (
    INDEX_VARIABLE,
    conf_of,
    json_option,
    keep_option,
    parts_of,
    settings_of,
    settings_option,
    spark_options,
)
from dovetail.cli.output import count, distinct, echo, print_json, size
from dovetail.embedders import DEFAULT, EMBEDDERS
from dovetail.errors import InputError
from dovetail.lake.dialect import parse_override
from dovetail.lake.formats import FORMAT_BY_SUFFIX
from dovetail.normalise.keyed import KEY_FILE_VARIABLE, KEY_VARIABLE
from dovetail.pipeline.report import Progress, Report
from dovetail.settings import SETTINGS

_SHOWN_SKIPS = 10
_REMEMBERED = "May be repeated; the index remembers it until '' is given."


@click.command("index", short_help="Index a lake, or bring its index up to date.")
@click.argument("lakes", metavar="LAKE...", nargs=-1, required=True)
@click.option(
    "--to", "--index", "to", required=True, metavar="PATH", envvar=INDEX_VARIABLE,
    help=f"The folder of the index, or its address (s3://bucket/folder). Default: the environment variable "
    f"{INDEX_VARIABLE}.",
)  # fmt: skip
@click.option("--tables", multiple=True, metavar="GLOB", help=f"Only tables whose path matches. {_REMEMBERED}")
@click.option("--exclude", multiple=True, metavar="GLOB", help=f"Leave out tables whose path matches. {_REMEMBERED}")
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="GLOB:DIALECT",
    help=f"How to read matching text files, e.g. '*.txt:delimiter=|,header=no,encoding=cp1252'. {_REMEMBERED}",
)
@click.option(
    "--exclude-columns", multiple=True, metavar="GLOB",
    help=f"Leave out columns whose name matches, or those of some tables: 'crm/*:phone'. {_REMEMBERED}",
)  # fmt: skip
@click.option(
    "--hash-columns", multiple=True, metavar="GLOB",
    help=f"Keep only keyed hashes of the values of matching columns; {KEY_VARIABLE} or {KEY_FILE_VARIABLE} gives the "
    f"key. {_REMEMBERED}",
)  # fmt: skip
@click.option("--add", is_flag=True, help="Put another lake into an index that already has one.")
@click.option("--allow-drop", is_flag=True, help="Go on even if more than half of the indexed tables are gone.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any file was skipped, or a lake did not answer.")
@spark_options("The Spark master; by default all cores of this machine.")
@click.option(
    "--embedder",
    metavar="NAME",
    help=f"For a new index: the embedder for search by spelling or meaning: {', '.join(EMBEDDERS)}, one of an "
    f"installed package, or module:attribute; {DEFAULT} without it.",
)
@click.option(
    "--abbreviations",
    type=click.Path(path_type=Path),
    help="For a new index: a file of abbreviations to expand before embedding, besides the built-in ones.",
)
@click.option(
    "--without",
    metavar="PARTS",
    help="For a new index: parts to leave out, such as 'pexeso,mate'; `dovetail compact --with` adds them later.",
)
@keep_option
@settings_option(*(setting.name for setting in SETTINGS))
@json_option
def index_command(
    lakes: tuple[str, ...],
    to: str,
    tables: tuple[str, ...],
    exclude: tuple[str, ...],
    dialects: tuple[str, ...],
    exclude_columns: tuple[str, ...],
    hash_columns: tuple[str, ...],
    add: bool,
    allow_drop: bool,
    strict: bool,
    master: str | None,
    conf: tuple[str, ...],
    embedder: str | None,
    abbreviations: Path | None,
    without: str | None,
    keep_hours: float | None,
    choices: tuple[str, ...],
    as_json: bool,
) -> int:
    """Index the tables of each LAKE (a folder, a glob, a file or an address), or bring their index up to date.

    Reads only what is new or changed, and drops what is gone. --tables, --exclude, --dialect, --exclude-columns
    and --hash-columns are remembered from the last run unless given again. The index holds the lake's values in clear
    text, but those of hashed columns.

    \b
    Example:
      dovetail index ./lake --to ./idx --exclude 'backup/*'
      dovetail index s3://bucket/path postgresql://me@host/shop app.sqlite --to ./idx
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline.budget import within_memory
    from dovetail.pipeline.run import Request, index_lake

    settings, spark = within_memory(memory_limit(), settings_of(choices), SparkRequest(None, master, conf_of(conf)))
    request = Request(
        lakes, to, add, allow_drop, _globs(tables), _globs(exclude), _dialects(dialects), settings,
        spark=spark, embedder=embedder, abbreviations=abbreviations,
        without=None if without is None else parts_of(without), keep_hours=keep_hours,
        exclude_columns=_globs(exclude_columns), hash_columns=_globs(hash_columns),
    )  # fmt: skip
    named = ", ".join(lakes)
    with stops_in_order(), _ProgressBar(named) as bar:
        report = index_lake(request, bar.show)
    if (exclude_columns or hash_columns) and report.changed:
        click.echo(f"Values that the index had before stay on disk until `dovetail compact {to}`.", err=True)
    for silent in report.unreachable:
        echo(f"{silent.lake} was not updated; its tables stay as they were. {silent.reason}", err=True)
    if as_json:
        print_json(report.to_dict())
    elif report.tables or report.skipped:
        _print_summary(report, to)
    else:
        echo(f"No table was found in {named}. Tables are files that end in {', '.join(FORMAT_BY_SUFFIX)}.")
    return 1 if not report.tables or (strict and (report.skipped or report.unreachable)) else 0


class _ProgressBar:
    """A bar on the terminal's error stream; without a terminal, only the sentence about disk space."""

    def __init__(self, lake: str) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Bar(
            TextColumn(f"Indexing {lake}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("tables"),
            TimeElapsedColumn(), console=self._console, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("index", total=None, start=False)

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, progress: Progress) -> None:
        if progress.stage == "plan":
            echo(
                f"{count(progress.total, 'file')} to read; the index will need up to about {size(progress.disk)} "
                f"of disk ({size(progress.free)} free).",
                err=True,
            )
            self._bar.start()
            self._bar.start_task(self._task)
        self._bar.update(self._task, total=progress.total, completed=progress.done)


def _print_summary(report: Report, to: str) -> None:
    skipped = f" · {count(len(report.skipped), 'file')} skipped" if report.skipped else ""
    echo(
        f"{count(report.tables, 'table')} · {count(report.columns, 'column')} · {count(report.rows, 'row')} · "
        f"{distinct(report.values, report.values_are_exact)}{skipped}"
    )
    for skip in report.skipped[:_SHOWN_SKIPS]:
        echo(f"  skipped {skip.path}: {skip.reason}")
    if len(report.skipped) > _SHOWN_SKIPS:
        rest = len(report.skipped) - _SHOWN_SKIPS
        echo(f"  … and {rest:,} more: dovetail tables {to} --skipped")
    echo(_what_was_done(report))
    echo(
        f"Index: {to}  (generation {report.generation}, {count(report.segments, 'segment')}, "
        f"{size(Lake(to).info()['index_bytes'])})"
    )


def _what_was_done(report: Report) -> str:
    """Which files were read in this run, and how long that took; the speed leaves out the start of Spark."""
    kinds = {"new": report.added, "changed": report.changed}
    read = " and ".join(count(number, f"{kind} file") for kind, number in kinds.items() if number)
    gone = f"{count(report.removed, 'file')} gone" if report.removed else ""
    same = f"{report.unchanged:,} unchanged" if report.unchanged else ""
    if not read:
        return f"Nothing to read: {', '.join(filter(None, (gone, same))) or 'no files'} · {report.seconds:.1f} s"
    working = max(report.seconds - report.spark_start_seconds, 0.001)
    facts = (
        f"Read {read} ({size(report.bytes_read)}) in {report.seconds:.1f} s",
        f"{report.spark_start_seconds:.1f} s to start Spark, then {report.bytes_read / 1e6 / working:.1f} MB/s",
        gone,
        same,
    )
    return " · ".join(filter(None, facts))


def _globs(written: tuple[str, ...]) -> tuple[str, ...] | None:
    """None where nothing was said; an empty glob forgets what the index remembers."""
    return tuple(filter(None, written)) if written else None


def _dialects(written: tuple[str, ...]) -> tuple[tuple[str, str], ...] | None:
    pairs = []
    for text in filter(None, written):
        pattern, colon, dialect = text.partition(":")
        if not (pattern and colon and dialect):
            raise InputError(f"--dialect {text!r} is not of the form GLOB:DIALECT, e.g. '*.txt:delimiter=|'.")
        parse_override(dialect)
        pairs.append((pattern, dialect))
    return tuple(pairs) if written else None
