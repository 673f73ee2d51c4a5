"""The command line: one file for each verb, all of them thin over the library."""

from __future__ import annotations

import sys

from dovetail.cli.interrupt import end_at_interrupt

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit code."""
    end_at_interrupt()  # before the imports, which take longer than many commands
    from dovetail.cli.verbs import run

    sys.exit(run())
