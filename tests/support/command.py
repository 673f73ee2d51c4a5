"""The command line inside this process: what it prints, and its exit code."""

from __future__ import annotations

import contextlib
import io
import json
import os
from dataclasses import dataclass
from typing import Any
from unittest import mock

import click

from dovetail.cli.verbs import run


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(io.StringIO):
    """Takes what is printed as a terminal does."""

    def isatty(self) -> bool:
        return True


def dovetail(*arguments: object, terminal: bool = False) -> Answer:
    """Run one command; on a terminal tables are aligned, elsewhere separated by tabs."""
    out, err = Terminal() if terminal else io.StringIO(), io.StringIO()
    width = mock.patch.dict(os.environ, COLUMNS="120")
    with width, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Answer(code, click.unstyle(out.getvalue()), err.getvalue())
