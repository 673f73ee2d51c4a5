"""The command line: one file for each verb, all of them thin over the library."""

from __future__ import annotations

from dovetail.cli.main import cli, main

__all__ = ["cli", "main"]
