"""Options and arguments that several verbs share: the index, how many, JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dovetail._objects import is_remote
from dovetail._storage.marker import is_index
from dovetail.errors import InputError
from dovetail.settings import SETTINGS, Settings

Command = TypeVar("Command", bound=Callable[..., Any])

INDEX_VARIABLE = "DOVETAIL_INDEX"

json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with stable keys (docs/reference/json.md)."
)
index_option: Callable[[Command], Command] = click.option(
    "--index",
    metavar="PATH",
    envvar=INDEX_VARIABLE,
    help=f"The index. Default: the environment variable {INDEX_VARIABLE}.",
)
keep_option: Callable[[Command], Command] = click.option(
    "--keep",
    "keep_hours",
    type=click.FloatRange(min=0),
    metavar="HOURS",
    help="Keep a generation for so long after the next one has come, for readers on other machines. Default: 24 in an "
    "object store, otherwise 0.",
)


def arguments(metavar: str) -> Callable[[Command], Command]:
    """The positional arguments of a verb that asks an index alone; the index may come first."""
    return click.argument("arguments", nargs=-1, metavar=f"[INDEX] {metavar}".strip())


def split_index(index: str | None, given: Sequence[str], names: Sequence[str] = ()) -> tuple[str, list[str]]:
    """The index and the other arguments, which are called `names`; in brackets: optional, with dots: several.

    Without --index and DOVETAIL_INDEX the first argument is the index; with them it is one where it can only be that.
    """
    least = sum(not name.startswith("[") for name in names)
    most = len(names) if not any(name.rstrip("]").endswith("...") for name in names) else len(given)
    if index is None or len(given) > most or (given and (is_remote(given[0]) or is_index(Path(given[0])))):
        if not given:
            raise InputError(f"No index given: name its folder first, use --index, or set {INDEX_VARIABLE}.")
        index, given = given[0], given[1:]
    if len(given) < least:
        required = [name for name in names if not name.startswith("[")]
        raise click.UsageError(f"Missing argument '{required[len(given)]}'.", click.get_current_context())
    if len(given) > most:
        raise click.UsageError(f"Got unexpected extra argument ({given[most]}).", click.get_current_context())
    return index, list(given)


def need_index(index: str | None) -> str:
    if index is None:
        raise InputError(f"No index given: use --index, or set {INDEX_VARIABLE}.")
    return index


def settings_option(*names: str) -> Callable[[Command], Command]:
    """The option --set of a verb that takes these settings."""
    rows = "; ".join(f"{s.name} ({s.default}): {s.help}" for s in SETTINGS if s.name in names)
    frozen = " Those of super keys are frozen with the first tables." if "super_key_bits" in names else ""
    return click.option(
        "--set", "choices", multiple=True, metavar="NAME=VALUE", help=f"Settings of this run: {rows}.{frozen}"
    )


def parts_of(written: str) -> tuple[str, ...]:
    """The names of parts, which commas separate."""
    return tuple(filter(None, (part.strip() for part in written.split(","))))


def settings_of(choices: Sequence[str]) -> Settings:
    """The settings that --set gives."""
    values = {}
    for choice in choices:
        name, equals, value = choice.partition("=")
        if not equals or not value.isdigit():
            raise InputError(f"--set {choice!r} is not of the form NAME=NUMBER.")
        values[name] = int(value)
    return Settings.of(values)


def spark_options(master: str) -> Callable[[Command], Command]:
    """The options --master, with this help, and --conf."""

    def add(command: Command) -> Command:
        command = click.option(
            "--conf",
            multiple=True,
            metavar="KEY=VALUE",
            help="A setting for the Spark session that is started. May be repeated.",
        )(command)
        return click.option("--master", metavar="URL", help=master)(command)

    return add


def check_conf(written: Sequence[str], master: str | None) -> None:
    """Of verbs that start Spark only with --master."""
    if written and not master:
        raise InputError("--conf needs --master.")


def conf_of(written: Sequence[str]) -> dict[str, str]:
    """The Spark settings that --conf gives."""
    settings = {}
    for setting in written:
        name, equals, value = setting.partition("=")
        if not (equals and name.startswith("spark.")):
            raise InputError(f"--conf {setting!r} is not of the form spark.NAME=VALUE.")
        settings[name] = value
    return settings
