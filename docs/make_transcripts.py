"""Runs the commands in the `console` blocks of the documentation and writes what they print below them.

    python docs/make_transcripts.py [PAGE...]

The commands of a page run in order, in a temporary folder with the sample lake. A test compares what they print now
with what the page says; times, speeds, sizes and the path of the lake may differ.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from dovetail.cli.verbs import run

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorial.md")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ "
WIDTH = "120"
CHANGING = re.compile(r"\b[\d,.]+ (s\b|[KMGT]?B(/s)?\b)|^Lake: .*", re.MULTILINE)


def commands(page: str) -> list[str]:
    """The commands of a page."""
    lines = (line for block in BLOCK.findall(page) for line in block.splitlines())
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def answer(line: str) -> str:
    """What a command prints, run in this process and in the current folder."""
    program, *arguments = shlex.split(line)
    if program != "dovetail":
        raise ValueError(f"{line!r} does not call dovetail")
    page = Terminal()
    with contextlib.redirect_stdout(page), contextlib.redirect_stderr(ErrorStream(page)):
        run(arguments)
    return click.unstyle(page.getvalue())


class Terminal(io.StringIO):
    """Says that it is a terminal, so that tables are aligned."""

    def isatty(self) -> bool:
        return True


class ErrorStream(io.TextIOBase):
    """Writes to the same page, but is not a terminal, so that no progress bars are shown."""

    def __init__(self, page: Terminal) -> None:
        self._page = page

    def write(self, text: str) -> int:
        return self._page.write(text)


def rewritten(page: str) -> str:
    """The page with what its commands print now; other lines of the blocks are replaced."""

    def block(match: re.Match[str]) -> str:
        asked = [line for line in match[1].splitlines() if line.startswith(PROMPT)]
        return "```console\n" + "".join(f"{line}\n{answer(line.removeprefix(PROMPT))}" for line in asked) + "```"

    return BLOCK.sub(block, page)


def lasting(page: str) -> str:
    """The transcripts of a page without what differs from run to run."""
    return "\n".join(CHANGING.sub("~", block) for block in BLOCK.findall(page))


@contextlib.contextmanager
def folder_with_sample_lake(folder: Path) -> Iterator[None]:
    (folder / "sample-lake").symlink_to(ROOT / "sample-lake")
    before = Path.cwd()
    os.chdir(folder)
    columns, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), WIDTH
    try:
        yield
    finally:
        os.chdir(before)
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns


def main(pages: list[str]) -> None:
    # One folder for all pages until the end: Spark's workers are shared, and stay in the folder that they began in.
    with tempfile.TemporaryDirectory() as parent:
        for number, name in enumerate(pages or PAGES):
            folder = Path(parent) / str(number)
            folder.mkdir()
            with folder_with_sample_lake(folder):
                page = rewritten((ROOT / name).read_text())
            (ROOT / name).write_text(page.replace(str(ROOT / "sample-lake"), "/home/you/sample-lake"))


if __name__ == "__main__":
    main(sys.argv[1:])
