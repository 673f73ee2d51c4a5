"""The command `dovetail`: its verbs, and how failures reach the user: one sentence and exit code 2, no traceback."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence

import click

from dovetail import __version__
from dovetail._compile import tell_of_compiling
from dovetail.cli.columns import columns_command
from dovetail.cli.compact import compact_command
from dovetail.cli.find import find_command
from dovetail.cli.graph import graph_command
from dovetail.cli.index import index_command
from dovetail.cli.inds import inds_command
from dovetail.cli.info import info_command
from dovetail.cli.join import join_command
from dovetail.cli.keys import keys_command
from dovetail.cli.path import path_command
from dovetail.cli.predicates import predicates_command
from dovetail.cli.remove import remove_command
from dovetail.cli.search import search_command
from dovetail.cli.tables import tables_command
from dovetail.cli.verify import verify_command
from dovetail.errors import DovetailError

BAD_INPUT = 2
INTERRUPTED = 130


class _InOrder(click.Group):
    """Lists the commands as they were added: in the order in which a person meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="dovetail")
def cli() -> None:
    """Find and make joins in a data lake.

    Exit codes: 0; 1 where nothing was found or something is wrong with the data; 2 for bad input.

    \b
    Example:
      dovetail index ./lake --to ./idx
    """


for command in (
    index_command, search_command, join_command, predicates_command, inds_command, keys_command, path_command,
    graph_command, info_command, tables_command, columns_command, find_command, verify_command, remove_command,
    compact_command,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default that of this process, and return its exit code."""
    warnings.showwarning = lambda message, *_: click.echo(f"Note: {message}", err=True)
    logging.getLogger().addHandler(logging.NullHandler())  # an interrupt makes Spark's libraries log tracebacks
    if sys.stderr.isatty():
        tell_of_compiling(lambda: click.echo("Compiling for this machine: the first run takes longer.", err=True))
    try:
        return cli.main(arguments, prog_name="dovetail", standalone_mode=False) or 0
    except click.UsageError as error:
        return _show_usage_error(error)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DovetailError as error:
        click.echo(str(error), err=True)
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped. What was committed stays; run the same command again to go on.", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        click.echo(f"Cannot use {os.fsdecode(error.filename)}: {error.strerror}.", err=True)
        return BAD_INPUT


def _show_usage_error(error: click.UsageError) -> int:
    if error.ctx is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        click.echo(f"{error.format_message()} See `{error.ctx.command_path} --help`.", err=True)
    return error.exit_code
