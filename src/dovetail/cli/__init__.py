"""The command line: one file for each verb, all of them thin over the library."""

from __future__ import annotations

import gc
import os
import sys

from dovetail.cli.interrupt import end_at_interrupt

__all__ = ["main"]

_FEWER_COLLECTIONS = 100_000
"""New objects between two collections of garbage instead of 700: what is imported stays, and looking through it again
and again takes a tenth of a short command."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    end_at_interrupt()  # before the imports, which take longer than many commands
    gc.set_threshold(_FEWER_COLLECTIONS)
    from dovetail.cli.verbs import run

    code = run()
    if "pyspark" not in sys.modules:
        _end(code)
    sys.exit(code)


def _end(code: int) -> None:
    """At once: taking machine code and modules apart, one by one, takes another tenth, and nothing is left to save."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        pass
    os._exit(code)
