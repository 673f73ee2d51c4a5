"""The command `dovetail`: its verbs, and how failures reach the user: one sentence and exit code 2, no traceback."""

from __future__ import annotations

import os
import sys
import warnings

import click

from dovetail import __version__
from dovetail.cli.columns import columns_command
from dovetail.cli.compact import compact_command
from dovetail.cli.find import find_command
from dovetail.cli.index import index_command
from dovetail.cli.info import info_command
from dovetail.cli.remove import remove_command
from dovetail.cli.tables import tables_command
from dovetail.cli.verify import verify_command
from dovetail.errors import DovetailError

BAD_INPUT = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="dovetail")
def cli() -> None:
    """Find, explain and make joins in a data lake.

    \b
    Example:
      dovetail index ./lake --to ./idx
    """


for command in (
    index_command, info_command, tables_command, columns_command, find_command,
    verify_command, remove_command, compact_command,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    warnings.showwarning = lambda message, *_: click.echo(f"Note: {message}", err=True)
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except DovetailError as error:
        click.echo(str(error), err=True)
        code = BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped. What was committed stays; run the same command again to go on.", err=True)
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code or 0)
