"""The command `dovetail`: its verbs, and how failures reach the user: one sentence and exit code 2, no traceback."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from collections.abc import Sequence

import click

from dovetail import __version__
from dovetail.cli.interrupt import INTERRUPTED, reason_to_stop
from dovetail.cli.memory import memory_option
from dovetail.cli.output import echo
from dovetail.errors import DovetailError

BAD_INPUT = 2

VERBS = {
    "demo": "Index a sample lake, search it and join its tables.",
    "index": "Index a lake, or bring its index up to date.",
    "search": "Find the tables that join with a table of yours.",
    "join": "Join two tables or more.",
    "union": "Find tables to append to a table of yours, or append them.",
    "map": "Find the values that belong to those of a column.",
    "predicates": "Rank the columns on which files join.",
    "inds": "Find which columns are included in which.",
    "keys": "Find which columns are likely keys and foreign keys, and why.",
    "path": "Find how two tables can be joined over others.",
    "graph": "Show which tables are connected, and write the join graph.",
    "decide": "Decide which columns join and which never do.",
    "serve": "Serve an index: pages, REST and tools for assistants.",
    "mcp": "Offer an index to an AI assistant, as tools.",
    "info": "Show what an index is made of.",
    "tables": "List the tables of an index.",
    "columns": "Profile the columns of a table.",
    "find": "Find a value, or columns by name.",
    "verify": "Check every checksum and every cross-reference.",
    "remove": "Take tables out of an index.",
    "compact": "Merge segments and free the space of removed tables.",
    "clean": "Remove generations that nobody needs any more.",
}
"""Every verb with its short help, as a person meets them. Each is `<verb>_command`, in the file of its name or one of
`_FILES`."""
_FILES = {
    **dict.fromkeys(("tables", "columns", "find", "info"), "browse"),
    **dict.fromkeys(("verify", "remove", "compact", "clean"), "maintain"),
    "mcp": "serve",
}


def load(verb: str) -> click.Command:
    """The command of a verb."""
    command: click.Command = getattr(
        importlib.import_module(f"dovetail.cli.{_FILES.get(verb, verb)}"), f"{verb}_command"
    )
    if memory_option not in command.params:
        command.params.append(memory_option)
    return command


class LazyGroup(click.Group):
    """Imports a verb's file when the verb is used: listing all of them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in VERBS else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="dovetail")
@click.pass_obj
def cli(own_process: bool) -> None:
    """Find and make joins in a data lake.

    Exit codes: 0; 1 where nothing was found or something is wrong with the data; 2 for bad input.

    \b
    Example:
      dovetail index ./lake --to ./idx
    """
    if own_process:
        _keep_pandas_out()
    if sys.stderr.isatty():
        from dovetail._compile import on_first_compilation

        on_first_compilation(lambda: echo("Compiling for this machine: the first run takes longer.", err=True))


class _NoPandas:
    """Pandas cannot be found."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def _keep_pandas_out() -> None:
    """Have Arrow not import pandas at its first array, as it does to know the types of pandas: that takes 0.3 s.

    Arrow tries again where pandas is needed.
    """
    import pyarrow as pa

    blocker = _NoPandas()
    sys.meta_path.insert(0, blocker)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(blocker)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default that of this process, and return its exit code."""
    warnings.showwarning = lambda message, *_: echo(f"Note: {message}", err=True)
    logging.getLogger().addHandler(logging.NullHandler())  # an interrupt makes Spark's libraries log tracebacks
    try:
        return cli.main(arguments, prog_name="dovetail", standalone_mode=False, obj=arguments is None) or 0
    except click.UsageError as error:
        return _show_usage_error(error)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DovetailError as error:
        echo(str(error), err=True)
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        reason, code = reason_to_stop() or ("\nStopped.", INTERRUPTED)
        echo(f"{reason} What was committed stays; run the same command again to go on.", err=True)
        return code
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            echo(f"Cannot use {os.fsdecode(error.filename)}: {error.strerror}.", err=True)
            return BAD_INPUT
        damage = _damage()
        if damage is None:
            raise
        echo(damage, err=True)
        return BAD_INPUT


def _damage() -> str | None:
    """What is wrong with the index that was read: whatever failed since is no wonder then."""
    if "dovetail._storage.pack" not in sys.modules:
        return None
    from dovetail._storage.pack import damage_of_open_packs

    return damage_of_open_packs()


def _show_usage_error(error: click.UsageError) -> int:
    if error.ctx is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        echo(f"{error.format_message().rstrip('.')}. See `{error.ctx.command_path} --help`.", err=True)
    return error.exit_code
