"""The option --memory, which every verb takes."""

from __future__ import annotations

import click

from dovetail.cli.interrupt import stop_for
from dovetail.cli.output import size

_TOO_MUCH = 2  # the exit code, as of other input that cannot be worked with
_KEY = "dovetail.memory"


def memory_limit() -> int | None:
    """The bytes that --memory allows the command that runs."""
    limit: int | None = click.get_current_context().meta.get(_KEY)
    return limit


def _keep(context: click.Context, option: click.Parameter, written: str | None) -> None:
    if written is None:
        return
    from dovetail._memory import guard_memory, parse_size

    limit = context.meta[_KEY] = parse_size(written)

    def exceeded(used: int) -> None:
        stop_for(f"Stopped: this needs more memory than --memory {written} allows ({size(used)} so far).", _TOO_MUCH)

    guard_memory(limit, exceeded)


memory_option = click.Option(
    ["--memory"],
    metavar="SIZE",
    expose_value=False,
    callback=_keep,
    help="Stop rather than take more memory than this, such as 2GB, with all processes that are started; without the "
    "files of the index that are mapped.",
)
